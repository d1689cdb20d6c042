"""The words of `holdfast --help`: headings, one sentence for each command, details, examples.

They are here and not with the commands, because the list must not import thirty modules, and so
that they read as one text. `docs/commands.md` is made from them.
"""

from __future__ import annotations

from typing import NamedTuple

EVERY_DAY = "Every day"
SAVING = "Saving and restoring"
PLANNING = "Planning and running"
TEAM = "Agents and team"
SETUP = "Setting up"
PLUMBING = ""  # run by Claude Code, or an older name: works, and is not listed
HEADINGS = (EVERY_DAY, SAVING, PLANNING, TEAM, SETUP)


class Example(NamedTuple):
    line: str
    meaning: str


class HelpTopic(NamedTuple):
    """The help of one command."""

    heading: str
    sentence: str
    details: str = ""
    examples: tuple[Example, ...] = ()
    page: str = ""  # in docs/


TOPICS: dict[str, HelpTopic] = {
    "status": HelpTopic(
        EVERY_DAY,
        "Show how full the window is and how many steps are left.",
        "Without SESSION it shows the session of this folder's project, else the newest one. "
        "SESSION is an id, its first characters, or a transcript file. "
        "Percentages are shares of the compaction limit, the token count at which Claude Code "
        "compacts. The zone says how much is used: green, yellow from 50 %, orange from 75 %, red "
        "from 90 %. The alert says how little is left: warning at 30 %, advisory at 15 %, urgent "
        "at 7 %, critical at 3 %, and one level earlier if the window fills fast; "
        "`holdfast help status` says what happens at each. `holdfast watch` shows every session, "
        "live; `holdfast statusline --preview` what the status line can look like.",
        (
            Example("holdfast status", "this project's session"),
            Example("holdfast status --all", "every session, and the ids of past ones"),
            Example("holdfast status 752b636e", "a session by the start of its id"),
        ),
        "status",
    ),
    "watch": HelpTopic(
        EVERY_DAY,
        "Show every session on this machine, live.",
        "One row for each session and subagent, refreshed every two seconds, until Ctrl-C.",
        (
            Example("holdfast watch", "until Ctrl-C"),
            Example("holdfast watch --once", "one look, then end"),
        ),
        "status",
    ),
    "ui": HelpTopic(
        EVERY_DAY,
        "Open the dashboard: every session, and what each compaction cost.",
        "It opens a link that logs one browser in, once, within five minutes. If no server "
        "of yours runs on this machine, on any port, it starts one, which ends with Ctrl-C.",
        (
            Example("holdfast ui", "in your browser"),
            Example("holdfast ui --no-open", "print the link, open nothing"),
        ),
        "dashboard",
    ),
    "lost": HelpTopic(
        EVERY_DAY,
        "Show how much the last compaction's summary holds.",
        "SESSION is an id, its first characters, or a transcript file; without it, the session of "
        "this folder, else the newest one. "
        "This looks back: it compares Claude Code's summary with the session. `holdfast brief` "
        "looks ahead: it shows what would be restored if Claude Code compacted now. "
        "`holdfast budget` shows how the room of that brief is divided.",
        (
            Example("holdfast lost", "what was not found, least found first"),
            Example("holdfast lost --all", "every item"),
        ),
        "briefs",
    ),
    "pin": HelpTopic(
        EVERY_DAY,
        "Pin a rule: it stands in every brief.",
        "Without RULE it lists what is pinned; --remove takes a pin back. `holdfast budget pin` "
        "can pin for one session, or to another part of the brief.",
        (
            Example("holdfast pin 'Never touch data/raw.'", "in every brief of this project"),
            Example("holdfast pin 'Answer in German.' --user", "in all your projects"),
        ),
        "briefs",
    ),
    "search": HelpTopic(
        EVERY_DAY,
        "Find what was said, decided or saved in earlier sessions.",
        "Each result begins with its id. `holdfast expand ID` prints the full text behind it; "
        "`holdfast search --expand ID` does the same for results only, and for a compressed "
        "topic prints the original turns.",
        (
            Example("holdfast search 'rate limit'", "in this project"),
            Example("holdfast search 'rate limit' --all-projects", "in every project"),
        ),
        "search",
    ),
    "expand": HelpTopic(
        EVERY_DAY,
        "Print the full text behind an id.",
        "ID, or its first characters, names an archived tool output, a tool result that Claude "
        "Code cleared (toolu_…), a search result or a compressed topic. Of a compressed topic it "
        "prints the short form; `holdfast segments show ID` adds its session and sizes, and "
        "`holdfast search --expand ID` prints the original turns.",
        (
            Example("holdfast expand ID", "the first 5,000 characters"),
            Example("holdfast expand ID --find 'FAILED'", "only the lines with these words"),
        ),
        "search",
    ),
    "replay": HelpTopic(
        EVERY_DAY,
        "Show what Holdfast would have done in a past session.",
        "SESSION is an id, its first characters, or a transcript file; without it, the newest "
        "session of this folder, else of all. It needs no installation into Claude Code, and "
        "changes nothing.",
        (
            Example("holdfast replay", "the newest session of this folder"),
            Example("holdfast replay --demo", "the recorded session that comes with Holdfast"),
            Example("holdfast replay 752b636e", "a session by the start of its id"),
            Example("holdfast replay FILE --svg fill.svg", "a transcript, drawn as a picture"),
        ),
        "dashboard",
    ),
    "log": HelpTopic(
        EVERY_DAY,
        "Show what Holdfast did, line by line.",
        "Errors of hooks are only here: a hook that fails never stops Claude Code.",
        (
            Example("holdfast log --follow", "wait for more"),
            Example("holdfast log --level WARN", "warnings and worse"),
        ),
        "troubleshooting",
    ),
    "checkpoint": HelpTopic(
        SAVING,
        "Save a session now.",
        "A checkpoint is a Markdown file in the project, and it is read back before it is "
        "reported. Holdfast also saves by itself, before every compaction and near the limit.",
        (
            Example("holdfast checkpoint", "this project's session"),
            Example("holdfast checkpoint 752b636e", "another one, by the start of its id"),
        ),
        "checkpoints",
    ),
    "resume": HelpTopic(
        SAVING,
        "List checkpoints, or show one to continue from.",
        "WHICH is the id of a checkpoint, its file, `latest` or `previous`. It can also be a "
        "session (its id, the first characters, or its transcript); then its newest checkpoint is "
        "shown. In Claude Code, /holdfast:resume hands a checkpoint to the model.",
        (
            Example("holdfast resume", "the checkpoints of this folder"),
            Example('claude "$(holdfast resume latest --load)"', "continue in a new session"),
        ),
        "checkpoints",
    ),
    "diff": HelpTopic(
        SAVING,
        "Show what changed between two checkpoints.",
        "OLDER and NEWER are ids, files, `previous` or `latest`. Without them, the newest "
        "checkpoint of this session is compared with the one before it.",
        (
            Example("holdfast diff", "the last two"),
            Example("holdfast diff previous latest", "the same, of the project"),
        ),
        "checkpoints",
    ),
    "verify": HelpTopic(
        SAVING,
        "Check that checkpoints are exactly what was saved.",
        "Without FILE, all known checkpoints are checked. Ends with 1 if one was changed.",
        (Example("holdfast verify", "every checkpoint"),),
        "checkpoints",
    ),
    "brief": HelpTopic(
        SAVING,
        "Show what would be restored if Claude Code compacted now.",
        "`holdfast budget` shows how the room of the brief is divided, and changes that. "
        "`holdfast lost` shows what was not found in the last summary.",
        (
            Example("holdfast brief", "as the model would read it"),
            Example("holdfast brief --explain", "each line with its reason and source"),
        ),
        "briefs",
    ),
    "budget": HelpTopic(
        SAVING,
        "Show what fills the brief; pin rules, evict items, set shares.",
        "The brief has five compartments, each with a share of its tokens. `holdfast brief` "
        "shows the text itself, `holdfast lost` what was not found in the last summary.",
        (
            Example("holdfast budget", "the compartments and their items"),
            Example("holdfast budget pin 'Never touch data/raw.'", "in every brief from now on"),
        ),
        "briefs",
    ),
    "memory": HelpTopic(
        SAVING,
        "Show and edit what Claude Code loads into every session.",
        "Topics are files in Claude Code's own memory folder. To keep a rule across "
        "compactions only, pin it: `holdfast pin`.",
        (
            Example("holdfast memory list", "every topic of this project"),
            Example("holdfast memory rules", "instruction files, and which rules are restored"),
        ),
        "search",
    ),
    "segments": HelpTopic(
        SAVING,
        "List older topics that were compressed; show or remove them.",
        "`holdfast segments show ID` prints the short form of a topic with its session and "
        "sizes, `holdfast search --expand ID` the original turns. `holdfast compress` compresses "
        "more.",
        (
            Example("holdfast segments", "of this project"),
            Example("holdfast segments show ID", "one, in its short form"),
        ),
        "search",
    ),
    "compress": HelpTopic(
        SAVING,
        "Compress the older topics of a session.",
        "A hook does this by itself when the window is more than 60 % full. Below that, this "
        "command compresses nothing unless you add --now. The transcript is not changed.",
        (Example("holdfast compress --now", "however full the window is"),),
        "search",
    ),
    "transcripts": HelpTopic(
        SAVING,
        "Keep copies of transcripts, and list them.",
        "Claude Code deletes its own transcripts after some weeks. Copies are compressed and "
        "without secrets. This is off until you turn it on.",
        (
            Example("holdfast transcripts on", "archive sessions when they end"),
            Example("holdfast transcripts", "what is archived of this project"),
        ),
        "search",
    ),
    "plan": HelpTopic(
        PLANNING,
        "Divide a list of tasks into batches that fit the window.",
        "FILE is a list in Markdown, JSON or YAML; `-` reads it from stdin. Nothing is started; "
        "`holdfast run` does that.",
        (Example("holdfast plan plan.md", "batches, with estimates"),),
        "plan",
    ),
    "run": HelpTopic(
        PLANNING,
        "Run a plan with headless Claude. Run it again to resume.",
        "FILE is a plan as for `holdfast plan`. Each batch gets a Claude Code session of its "
        "own. What follows `--` is passed to Claude Code.",
        (
            Example("holdfast run plan.md --dry-run", "what would be started"),
            Example("holdfast run plan.md -- --allowedTools Bash,Edit,Write", "start, or resume"),
        ),
        "plan",
    ),
    "board": HelpTopic(
        TEAM,
        "Read and write messages between agents.",
        "Agents get their messages with their next hook. `--team` sends a message to agents on "
        "other machines, over the team server.",
        (
            Example("holdfast board list", "the newest messages of this project"),
            Example("holdfast board post task.created 'The schema is ready.'", "to all agents"),
        ),
        "team",
    ),
    "serve": HelpTopic(
        TEAM,
        "Start the HTTP server, for this machine or for a team.",
        "It also watches every live session and saves it in time. It listens on this machine "
        "only, unless you give it an address, a certificate and a token.",
        (
            Example("holdfast serve", "on 127.0.0.1:3847"),
            Example("holdfast serve --link", "a login link for the dashboard of a running server"),
            Example("holdfast serve --watch-only", "watch and save, without the server"),
        ),
        "team",
    ),
    "db": HelpTopic(
        TEAM,
        "Check, back up, restore and forward the database.",
        "The database is made and updated by itself. It holds the tree of work, messages and "
        "claims.",
        (
            Example("holdfast db check", "ends with 1 if something is wrong"),
            Example("holdfast db backup FILE", "everything in one file"),
        ),
        "team",
    ),
    "rebuild": HelpTopic(
        TEAM,
        "Rebuild the database and the index of checkpoints.",
        "They are made again from checkpoints and transcripts, for example when the database is "
        "damaged or was removed. Messages and claims are in the "
        "database only, so they are not rebuilt.",
        (Example("holdfast rebuild", "from everything that is known"),),
        "team",
    ),
    "install": HelpTopic(
        SETUP,
        "Connect Holdfast to Claude Code.",
        "Adds hooks, the status line, the MCP server and /holdfast: commands to Claude Code's "
        "settings. It shows every change and asks first.",
        (
            Example("holdfast install", "show the changes, ask, write"),
            Example("holdfast install --dry-run", "only show them"),
        ),
        "install",
    ),
    "uninstall": HelpTopic(
        SETUP,
        "Disconnect Holdfast from Claude Code.",
        "Removes exactly what `install` added. What Holdfast saved stays; the end of the output "
        "says where, and how to remove it.",
        (Example("holdfast uninstall", "show the changes, ask, write"),),
        "install",
    ),
    "doctor": HelpTopic(
        SETUP,
        "Run every installed hook once and report what works.",
        "It plays a compaction through the hooks and starts the MCP server, as Claude Code "
        "would. Ends with 1 if something is wrong, and says how to fix it.",
        (Example("holdfast doctor", "without Claude Code"),),
        "troubleshooting",
    ),
    "settings": HelpTopic(
        SETUP,
        "Show and change settings.",
        "Without a command it shows the value of every setting and the file it came from.",
        (
            Example("holdfast settings get zone_orange", "one setting"),
            Example("holdfast settings set preset conservative", "in your own file"),
            Example("holdfast settings unset preset", "back to the default"),
        ),
        "settings",
    ),
    "completion": HelpTopic(
        SETUP,
        "Print a script that completes commands and ids in your shell.",
        "It completes commands, options, and the ids of sessions, checkpoints and compressed "
        "topics.",
        (
            Example('eval "$(holdfast completion zsh)"', "in ~/.zshrc"),
            Example('eval "$(holdfast completion bash)"', "in ~/.bashrc"),
            Example("holdfast completion fish > ~/.config/fish/completions/holdfast.fish", "once"),
        ),
        "install",
    ),
    "help": HelpTopic(
        SETUP,
        "List commands and pages, or print one.",
        "NAME is a command or a page of the documentation. Where both have the same name, "
        "the options of the command come first, then the page. On a terminal, a long text is "
        "shown with your pager.",
        (
            Example("holdfast help", "every command, then every page"),
            Example("holdfast help tutorial", "a page"),
            Example("holdfast help budget pin", "the same as holdfast budget pin --help"),
        ),
        "commands",
    ),
    "version": HelpTopic(SETUP, "Print the version.", page="install"),
    "mcp": HelpTopic(
        PLUMBING,
        "Serve the tools for the model over stdin and stdout.",
        "Claude Code starts this by itself.",
        page="mcp",
    ),
    "statusline": HelpTopic(
        SETUP,
        "Preview the status line.",
        "With a payload on stdin it prints the status line: Claude Code starts it so by itself.",
        (Example("holdfast statusline --preview", "what each preset looks like"),),
        "status",
    ),
    "roll": HelpTopic(PLUMBING, "An older name of `holdfast compress`.", page="search"),
}

INTRODUCTION = (
    "Holdfast keeps your rules and your open work when Claude Code compacts. It saves them "
    "before a compaction, restores them after it, and shows what the summary lost."
)
FIRST_STEPS = (
    Example("holdfast install", "connect it to Claude Code; asks first"),
    Example("holdfast status", "how full the window is"),
    Example("holdfast lost", "what is not in the last summary"),
    Example("holdfast help", "this list, and the pages of the documentation"),
    Example("holdfast help NAME", "a command with its options, or a page"),
)


def commands_under(heading: str) -> dict[str, str]:
    """List the commands under one heading, each with its sentence."""
    return {name: one.sentence for name, one in TOPICS.items() if one.heading == heading}
