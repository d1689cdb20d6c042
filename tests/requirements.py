"""Every promised behaviour: its id, what it says in short, and where it came from.

A test that proves one says so: `@pytest.mark.requirement("W1")`. Ids in LATER are not promised
yet; `tests/test_requirements.py` fails when any other id has no test in `make test`: what only
`make nightly` runs does not count.
"""

REQUIREMENTS: dict[str, str] = {
    "W1": "The reading is token-exact (002 REQ-CTX-001)",
    "W2": "It reads only the end of the file (000 layer 1)",
    "W3": "The edge is where the client will really compact (000, beyond)",
    "W4": "Right at once after a compaction (beyond)",
    "W5": "Subagents have windows of their own (agent_id, subagents/agent-.jsonl) (003, beyond)",
    "W6": (
        "Where no usage can be read, the fallbacks, in this order, each marked estimated (000, 003)"
    ),
    "W7": "Velocity (002 REQ-CTX-003)",
    "W8": (
        "Readings are kept (one row per change, bounded), so that a session's fill can be "
        "drawn and replayed (002 REQ-CTX-011)"
    ),
    "W9": (
        "A microcompaction neither resets the reading nor teaches a limit, what it cleared is "
        "shown and recallable, and a learned limit needs two agreeing compactions and can be "
        "forgotten (beyond)"
    ),
    "W10": (
        "The client's windows per model and per agent are honoured, and an estimated reading "
        "is never stated as exact (beyond)"
    ),
    "G1": (
        "Zones green, yellow, orange, red by share of the edge used (defaults 50 / 75 / 90 % (000)"
    ),
    "G2": (
        "Alerts warning, advisory, urgent, critical at 30 / 15 / 7 / 3 % of the edge left "
        "(002 REQ-CTX-002)"
    ),
    "G3": (
        "More than 5 % of the edge consumed per operation (3-sample mean) raises the alert "
        "one step early (002 REQ-CTX-003)"
    ),
    "G4": "The warning level adapts to the last 10 measurements (002 REQ-CTX-004)",
    "G5": "What each zone does (000)",
    "G6": "Monitor (000 layer 2, 003 2.3)",
    "G7": "Stop guard (000 layer 3)",
    "G8": "A guard log with levels and one line per event, rotated, holdfast log --follow (000)",
    "G9": (
        "Every alert is an audit event CONTEXT_PRESSURE (session, agent, level, reading, "
        "velocity, forecast, what was done), append-only; decisions taken under pressure can be "
        "listed for review (002 governance)"
    ),
    "G10": (
        "Context health (zone, alert, velocity, forecast, last checkpoint) for an "
        "orchestrator to route by (002 REQ-CTX-011)"
    ),
    "C1": "A checkpoint is one object with two faces (001, 003)",
    "C2": "It is made from the transcript without a model (001, 003 1.1)",
    "C3": "Plus what the store knows (001 phase 1)",
    "C4": "Triggers (all)",
    "C5": "Written whole or not at all (003 1.3)",
    "C6": (
        "holdfast verify [FILE]: file, front matter, required sections, content hash, index "
        "entry (003 1.3)"
    ),
    "C7": (
        "A global index (JSON as in 003, version field) that is rebuilt from the files by one "
        "command (003)"
    ),
    "C8": "Lineage (003 2.5)",
    "C9": "Idempotent (CLIENT)",
    "C10": "Retention (001, 003)",
    "C11": "PreCompact (whole process (003 NFR)",
    "C12": (
        "If extraction fails, a smaller checkpoint is still written, saying what is missing (003)"
    ),
    "C13": "Seed 002's 'won't allow compression until verified' in its safe form (002 REQ-CTX-005)",
    "C14": (
        "What a checkpoint says is true: every edited file is in What Changed, Next Steps holds "
        "what is open by evidence or says that nothing is, decisions come with their question "
        "and their turn (003)"
    ),
    "B1": "PreCompact's stdout steers the client's summary (CLIENT (a), 004)",
    "B2": "SessionStart(compact) returns a brief in the same session (000, 001)",
    "B3": "Four roles (001)",
    "B4": (
        "The budget is spent by need, not by order, over the whole session and not only since "
        "the last compaction (a rule said ten compactions ago still holds) (001 token "
        "optimization)"
    ),
    "B5": "Quality is measured on real transcripts (corpus/) (beyond)",
    "B6": (
        "The client's own summary (PostCompact's compact_summary, which comes after "
        "SessionStart) is compared with the checkpoint (beyond)"
    ),
    "B7": (
        "SessionStart(startup/resume) offers the newest checkpoint of this project under 24 h "
        "old, briefly (003 1.2, 1.5)"
    ),
    "B8": "Restored text is reference, not instruction (beyond)",
    "B9": (
        "Restore (whole process) completes within 12x the bare interpreter start of the same "
        "run (5 MB transcript, 10,000 rows) (001)"
    ),
    "B10": "holdfast brief prints what would be injected now, and why each line is there (beyond)",
    "B11": (
        "All that the user typed in the session stands in the brief after a compaction, in order, "
        "in any wording and language, under one shared limit of characters (beyond)"
    ),
    "B12": (
        "A session is a list of turns: what was asked, what came of it, files changed, commands "
        "and their results, questions and answers, subagents (beyond)"
    ),
    "B13": (
        "What is open stays open until evidence closes it; each item shows since when it is "
        "open, and what closed it is recorded (beyond)"
    ),
    "B14": (
        "What is not read of a transcript is counted by kind and told; a missing, null or odd "
        "field never costs the content beside it (beyond)"
    ),
    "B15": "The first prompt after a compaction tells the user what was restored (beyond)",
    "B16": "Every alert and the brief name their window, so no old figure is read as news (beyond)",
    "R1": "The conversation is cut into segments by topic without a model (004)",
    "R2": "Cold = not mentioned for 20+ turns, task completed, 5+ messages (004)",
    "R3": "Queued segments are compressed at once, without asking the model (004)",
    "R4": (
        "Formats of 004 for queue, warm and cold files, under HOLDFAST_HOME (004's own places "
        "are read, not written) (004)"
    ),
    "R5": (
        "What is warm is named to the summariser as safe to drop (B1), and to the model as "
        "recallable (004 intent, CLIENT)"
    ),
    "R6": "Search over warm by default, cold when asked, with the same recall as memory (004)",
    "R7": "Opt-in (004 intent, beyond)",
    "R8": "HOLDFAST_DISABLE=1 turns every hook into a no-op (004)",
    "R9": (
        "For users who turn it on, transcripts outlive the client's clean-up, compressed, secrets "
        "out, within a size limit; search, expand and resume read them (beyond)"
    ),
    "M1": "Hot (002 REQ-CTX-007)",
    "M2": "Deep (002 REQ-CTX-008)",
    "M3": "Files survive infrastructure (002)",
    "M4": (
        "CLAUDE.md cascade (managed, user, project, local, rules, imports) is read as the "
        "client reads it (002 REQ-CTX-006)"
    ),
    "M5": (
        "Warm search answers in under 50 ms at 100,000 items (p50, benchmark) and under 200 "
        "ms at 1,000,000 items over 10 or more projects (004)"
    ),
    "M6": (
        "Results carry where they came from, and lead back to the exact turns of the "
        "transcript while it exists (beyond)"
    ),
    "K1": "Five compartments (002 REQ-CTX-009)",
    "K2": "It is what composes the brief (002)",
    "K3": (
        "MCP tool context_budget with those operations, beside the forecast of when the "
        "window runs out (002)"
    ),
    "A1": (
        "The tree project → request → task (wave) → subtask, sessions, agents, actions, agent "
        "contexts (with skills_to_restore, tools_used) (001)"
    ),
    "A2": "Messages between agents (000, 001)",
    "A3": "The board (003 2.4)",
    "A4": "Several sessions and subagents on one project at once (003)",
    "A5": (
        "The watcher looks at every live session each 30 s, takes a checkpoint at 60 % "
        "itself, and staggers them so that agents do not all stop at once (003 phase 2)"
    ),
    "A6": "Waves (001)",
    "P1": (
        "estimate a task's tokens (003's model as the prior), corrected by what similar tasks "
        "really used on this machine (003 3.1)"
    ),
    "P2": "split a task that does not fit (003 3.2)",
    "P3": (
        "batch tasks into context-sized batches, dependencies respected, a checkpoint node "
        "between batches (003 3.3)"
    ),
    "P4": (
        "Room left comes from the real reading (get_available_context of 003), with the "
        "conductor's rules of 002: spend at most 60 % of the window per batch (002, 003)"
    ),
    "P5": (
        "holdfast run PLAN: drives headless Claude batch by batch, checkpoint between, "
        "resumable after a crash (003 conductor)"
    ),
    "S1": (
        "SQLite by default, PostgreSQL (+ pgvector) for teams, one code path, migrations, the "
        "same contract tests on both (001)"
    ),
    "S2": (
        "HTTP API on 127.0.0.1:3847 with the routes of 000 and 001 (health, projects, "
        "by-path, sessions, requests, tasks, subtasks, actions, messages (000, 001)"
    ),
    "S3": (
        "Live updates (server-sent events or WebSocket) for the dashboard and for agents (beyond)"
    ),
    "S4": "With a team server configured, hooks spool locally first and forward (000, beyond)",
    "S5": "Cleanup (000)",
    "U1": (
        "holdfast install wires hooks, MCP server, skills and status line into Claude Code "
        "(002, 003 1.4)"
    ),
    "U2": (
        "holdfast doctor fires every installed hook end to end and says, for each, what "
        "reached the client (beyond)"
    ),
    "U3": (
        "holdfast status (one screen, --json), holdfast watch (live), log, checkpoint, "
        "resume, brief, lost, search, memory, budget, plan, verify, rebuild (all)"
    ),
    "U4": "A status line (beyond)",
    "U5": "A dashboard (beyond)",
    "U6": "MCP server (002)",
    "U7": "Skills /holdfast:checkpoint, :resume, :status, :search, :compress, :plan (003, 004)",
    "U8": "holdfast replay TRANSCRIPT: what Holdfast would have done in any past session (beyond)",
    "U9": (
        "SessionEnd writes a breadcrumb to an Obsidian daily note when a vault is configured "
        "(within the client's 1.5 s) (002 REQ-CTX-012)"
    ),
    "U10": "Session resumption from saved state (002 REQ-CTX-010)",
    "U11": (
        "One line installs it as a plugin that is portable and works before its environment is "
        "complete (beyond)"
    ),
    "U12": "A second agent, Codex: fill, checkpoint, brief, search and dashboard (beyond)",
    "X1": "A hook never breaks a session",
    "X2": "The per-call hook adds no wait",
    "X3": "No model call, no network, no telemetry, unless the user configures it",
    "X4": (
        "Secrets are redacted before anything is stored or injected (what the lean hook "
        "leaves behind holds ids, names, sizes and times only"
    ),
    "X5": (
        "The API: loopback only by default, bearer token, Host check, no cross-origin access, "
        "bounded bodies, rate limits"
    ),
    "X6": (
        "kill -9 at any instant, full disk, corrupt database, torn JSONL, clock jumps, two "
        "versions side by side"
    ),
    "X7": "A transcript is hostile input",
}

# One place for what is still to come, by the work that brings it.
LATER: dict[str, tuple[str, ...]] = {
    "watch": ("U5",),
}
