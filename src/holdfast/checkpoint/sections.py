"""Turn a record into the two forms of a checkpoint: sections for people, a snapshot for
programs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from holdfast.checkpoint.git_state import git_state
from holdfast.record import open_items, plan_checks, shell
from holdfast.record.agents import COMMAND
from holdfast.record.decisions import decided
from holdfast.record.failures import (
    EDITED_SINCE,
    NO_RESULT,
    PASSED,
    UNCLEAR,
    edited_since,
    is_one_off,
    outcome,
    resolved,
    verdict_of,
)
from holdfast.record.git_work import NO_BRANCH, conflict_words, open_requests
from holdfast.record.model import (
    Agent,
    Command,
    Commits,
    Failure,
    FileUse,
    GitWork,
    Record,
    Task,
    Turn,
)
from holdfast.record.plans import LATER, LEFT
from holdfast.record.turns import KEPT_CHARS, describe_stop, turn_number

MOST_ITEMS = 40
MOST_WORDS = 400  # of the user: no real session has more
MOST_CHANGED = 400
MOST_CHARS = 600
SHORT_CHARS = 200
REQUEST_CHARS = 400  # of the request: the full text is under User Words
ASKED_CHARS, ANSWERED_CHARS = 75, 45  # of the last turn, if nothing is open: 160 in all
MOST_FAILURES = 12
MOST_COMMANDS = 20
MOST_EDITED = 3  # files, after a failure
MOST_BRANCHES = 4
MOST_CONFLICTS = 5
MOST_AGENTS, MOST_BACKGROUND = 10, 5
MOST_STEPS = 20
MOST_CHECKS, CHECK_CHARS = 6, 120  # by hand, in one line
MOST_USED = 20  # files that were only read
IN_PROGRESS = "In Progress"
_WENT = {UNCLEAR: "result unknown: its output shows a failure", NO_RESULT: "no result yet"}
NOTHING_OPEN = "nothing open"
_HOW = {LEFT: "listed as remaining", LATER: "wanted later by the user"}
PLAN_MODE = "mode: plan mode is on; read and plan only until the user approves the plan"
ASKED = ("request: ", "last asked: ")  # while it is in progress, and after it was answered
_LAST, _STEP = "last said: ", ("step: ", "last step: ")
# With the labels of earlier releases, because their checkpoints are still read.
_LABELS = (
    *ASKED,
    _LAST,
    *_STEP,
    "request, reported done by the model: ",
    "reported done by the model: ",
)
_OURS = frozenset(
    {
        PLAN_MODE,
        f"the request under {IN_PROGRESS}",
        "go on with the request",
        f"go on with the request under {IN_PROGRESS}",
        "nothing is left open: the request was reported done",
        f"nothing known: the model has reported the request under {IN_PROGRESS} done",
    }
)


def somebodys(section: str, entry: str) -> str:
    """Return the words of an entry that are not ours, for a search through what was said."""
    if section == IN_PROGRESS:
        label = next((one for one in _LABELS if entry.startswith(one)), "")
        entry = entry.removeprefix(label)
    return "" if entry in _OURS or entry.startswith(NOTHING_OPEN) else entry


def sections_of(record: Record) -> dict[str, list[str]]:
    """Return what is known under the headings that a reader looks for; empty ones are removed
    later."""
    found = {
        IN_PROGRESS: list(_in_progress(record)),
        "What Changed": list(_all_changed(record)),
        "Why Changed": list(_reasons(record)),
        "Active Issues": [*_lost(record), *_failing(record), *_left_behind(record)],
        "Key Decisions": list(decisions(record)),
        "Next Steps": list(_next_steps(record)),
        "Open Questions": [
            _cut(one.text) for one in (*open_items.questions(record), *open_items.offers(record))
        ],
        "User Words": list(_words(record)),
        "Commands": [*_commands(record)],
        "Errors Resolved": [_resolved(one) for one in resolved(record)[-MOST_FAILURES:]],
        "Files Used": [_used(*pair) for pair in _most_used(record)],
        "References": [_reference(record, text) for text in _pointers(record)[-20:]],
        "Agents": [_agent(one) for one in _agents(record)],
    }
    most = {"User Words": MOST_WORDS, "What Changed": MOST_CHANGED}
    return {name: items[-most.get(name, MOST_ITEMS) :] for name, items in found.items()}


def snapshot_of(record: Record) -> dict[str, Any]:
    """Return the same as plain values, under the names that existing readers of snapshots
    expect."""
    used = [pair for pair in record.files.items() if _is_changed(pair[1])]
    changed = [path for path, _ in _without_twins(used)]
    return {
        "session_id": record.session_id,
        "context_summary": current_request(record),
        "active_tasks": [
            {"description": task.text, "status": task.status}
            for task in (*open_items.tasks(record), *_steps(record))
        ][-MOST_ITEMS:],
        "modified_files": changed[-MOST_CHANGED:],
        "key_decisions": list(decisions(record))[-MOST_ITEMS:],
        "decided": [
            {
                "decision": _cut(one.text),
                "question": _cut(one.question),
                "by": one.by,
                "turn": one.turn,
                "at": one.place.at,
            }
            for one in [*decided(record)][-MOST_ITEMS:]
        ],
        "agent_states": [
            {
                "agent_id": name,
                "agent_type": agent.kind,
                "status": agent.status,
                "summary": _cut(agent.answer or agent.asked),
            }
            for name, agent in list(record.agents.items())[-MOST_ITEMS:]
        ],
        "recent_actions": [
            {"tool_name": call.tool, "detail": _cut(call.what)} for call in record.recent
        ],
        "tools_used": dict(record.tools),
    }


def current_request(record: Record) -> str:
    """Return what the session is about now: the last words, with what a short reply answers."""
    turn = next((one for one in reversed(record.turns) if one.asked), None)
    return _format_request(turn) if turn else ""


def decisions(record: Record) -> Iterator[str]:
    """Yield what the user decided, each with its question and its turn. Announcements of the model
    are left out: they are rarely decisions, see `docs/checkpoints.md`."""
    for one in decided(record):
        if one.by == "user":
            yield f"turn {one.turn}: {_cut(one.question, SHORT_CHARS)} → {_cut(one.text)}"


def _in_progress(record: Record) -> Iterator[str]:
    """Yield the last words, the mode, what the model said last, and calls without a result. A
    request that was answered is not shown as a request, because it is no longer in progress."""
    is_over = open_items.request(record) is None
    if words := current_request(record):
        yield ASKED[is_over] + _cut(words, REQUEST_CHARS) + _where(record)
    if record.planning:
        yield PLAN_MODE
    if record.last_texts:
        yield _LAST + record.last_texts[-1]  # both ends of a long one: see `turns.shortened`
    running = [*record.calls.values()][-3:]
    for call in running or record.recent[-1:]:
        what = f"{call.tool} {_cut(call.what)}"
        yield _STEP[is_over] + what + (" (no result yet)" if running else "")
    for root in record.roots[:1]:
        if state := git_state(root):
            yield "git: " + state
    yield from _git_work(record)


def _git_work(record: Record) -> Iterator[str]:
    """Yield the state that the session's own commands left, for each branch and repository: the
    last commit, whether it was pushed, what was changed since. Others may have done more."""
    work = record.git
    changed = open_items.uncommitted(record)
    halted = conflict_words(work, MOST_CONFLICTS)
    if not (work.commits or halted) and (work.is_partial or not changed) and not work.request:
        return
    away = open_items.is_elsewhere(record)
    branch = work.branch or ("" if away else record.branch)
    told = [f"in {open_items.tree(record)}"] if away and open_items.tree(record) else []
    told += [f"on branch {branch}"] if branch not in ("", "HEAD") else []
    told += [halted] if halted else []
    if work.commits:
        told += [_commits(work)]
    elif changed:
        told += ["no commit was made in this session"]
    if work.request:
        told += [f"pull request {work.request} {'merged' if work.merged else 'created'}"]
    if work.refused:
        told += [f"the last git {work.refused} did not succeed"]
    if work.commits and changed:
        rest = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
        told += [f"changed after that commit: {', '.join(changed[-5:])}{rest}"]
    is_left = work.branch and record.branch not in ("", work.branch)
    if is_left and work.op < record.op and not away:
        told += [f"now on branch {record.branch}"]
    for folder, names in open_items.uncommitted_by_tree(record).items():
        if folder != open_items.tree(record):
            told += [f"not committed in {folder}: {', '.join(names[-5:])}"]
    yield "git, by this session: " + "; ".join(told)
    for name, one in list(work.others.items())[-MOST_BRANCHES:]:
        folder, _, branch = name.partition("\t")
        where = f" in {folder}" if folder != work.folder else ""
        request = f"; pull request {one.request}" if one.request else ""
        merged = " merged" if one.merged else ""
        on = f"on branch {branch}" if branch != NO_BRANCH else "on no branch"
        yield f"git, earlier, {on}{where}: {_commits(one)}{request}{merged}"


def _commits(work: GitWork | Commits) -> str:
    last = f"{work.commit} “{work.subject}”".removesuffix("“”").strip()
    pushed = "pushed" if work.pushed == work.commits else "no git push after it"
    return f"{work.commits} commit{'s'[: work.commits > 1]}, the last {last}, {pushed}"


def _reasons(record: Record) -> Iterator[str]:
    """Yield each turn: what was asked, what was changed, and the result. What the model said last
    is under In Progress."""
    for turn in record.turns:
        if turn.edited or (turn.asked and turn.said):
            number = turn_number(record, turn.place)
            files = ", ".join(turn.edited[:8]) + (" …" if len(turn.edited) > 8 else "")
            words = _cut(" ".join(turn.asked.split()), SHORT_CHARS) or "(went on)"
            yield f"turn {number}: {words}{': ' if files else ''}{files}{_outcome(record, turn)}"


def _outcome(record: Record, turn: Turn) -> str:
    if not turn.said:
        return ""
    if turn is record.turns[-1] and len(turn.said) > SHORT_CHARS:
        return f" → the answer under {IN_PROGRESS}"
    most = MOST_CHARS if turn.edited else SHORT_CHARS
    return f" → {_cut(' '.join(turn.said.split()), most)}"


def _words(record: Record) -> Iterator[str]:
    """Yield all of them in order. Words that were sent again, perhaps after an interruption, appear
    once."""
    spoken = (pair for pair in enumerate(record.turns) if pair[1].asked)
    for words, group in groupby(spoken, key=lambda pair: pair[1].asked):
        some = list(group)
        first, last = (turn_number(record, one.place) for _, one in (some[0], some[-1]))
        at, turn = some[-1]
        to = f" (to: {_cut(turn.reply_to, SHORT_CHARS)})" if turn.reply_to else ""
        which = f"turn {first}" if first == last else f"turns {first}-{last}"
        how = describe_stop(record.turns, at)
        yield f"{which}: {words}{to}" + (f" ({how})" if how else "")


def _format_request(turn: Turn) -> str:
    to = f" (to: {_cut(turn.reply_to, SHORT_CHARS)})" if turn.reply_to else ""
    return _cut(turn.asked) + to


def _where(record: Record) -> str:
    """Return where the rest of long words is."""
    turn = next(one for one in reversed(record.turns) if one.asked)
    if turn.chars <= REQUEST_CHARS:
        return ""
    beyond = f", and in line {turn.line} of the transcript" if turn.chars > KEPT_CHARS else ""
    return f" (whole under User Words{beyond})"


def _next_steps(record: Record) -> Iterator[str]:
    """Yield what is open by evidence; if nothing is, a line that says so, with what was asked and
    answered last. A failure before the model's closing words is an issue, not a step: see Active
    Issues."""
    found = [*_open_request(record), *_open_work(record)]
    if found:
        yield from found
    elif record.turns and record.turns[-1].said:
        words = _cut(" ".join(record.turns[-1].asked.split()), ASKED_CHARS)
        told = _cut(" ".join(record.turns[-1].said.split()), ANSWERED_CHARS)
        state = _state(record)
        if offers := open_items.offers(record):
            state = f"for the user to decide: “{_cut(offers[-1].text, SHORT_CHARS)}”"
        sign = "; " if state.endswith("”") else ": "
        yield f"{state}{sign}last asked “{words}”, answered “{told}”{_not_in_git(record)}"
    known = [one for one in _steps(record) if _is_by_hand(one)]
    by_hand = [one for one in known if one.place == known[-1].place]  # of the newest plan
    if by_hand:
        told = "; ".join(_cut(one.text, CHECK_CHARS) for one in by_hand[-MOST_CHECKS:])
        rest = f" and {len(by_hand) - MOST_CHECKS} more" if len(by_hand) > MOST_CHECKS else ""
        yield f"for a person to check ({_since(record, by_hand[0])}): {told}{rest}"


def _state(record: Record) -> str:
    """Describe a session whose last request was answered. What was edited after it failed may pass
    now."""
    failing = _our_failures(record)
    if not all(edited_since(one) for one in failing):
        return "open: what Active Issues lists"
    if failing:
        return "open: run again what Active Issues lists"
    return "left behind: what Active Issues lists" if any(_left_behind(record)) else NOTHING_OPEN


def _not_in_git(record: Record) -> str:
    """Return what the session changed and did not commit, or committed and did not push."""
    work, told = record.git, ""
    if not work.is_partial and (record.branch or work.commits):
        changed = sum(map(len, open_items.uncommitted_by_tree(record).values()))
        told += f"; not committed: {_count(changed, 'file')}" if changed else ""
    here = work.branch if work.commits and work.pushed != work.commits else ""
    others = [name.partition("\t")[2] for name, one in work.others.items() if _is_local(one)]
    local = [branch for branch in [here, *others] if branch]
    return told + (f"; not pushed: {', '.join(local[:3])}" if local else "")


def _is_local(work: Commits) -> bool:
    return work.pushed != work.commits and not work.merged


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _is_by_hand(step: Task) -> bool:
    return step.is_check and plan_checks.is_by_hand(step.text)


def _open_request(record: Record) -> Iterator[str]:
    if found := open_items.request(record):
        number = turn_number(record, found.turn.place)
        yield f"turn {number}, {found.why}: {_format_request(found.turn)}{_last_answer(found.turn)}"
    for call in [*record.calls.values()][-3:]:
        yield f"no result yet: {call.tool} {_cut(call.what)}"


def _last_answer(turn: Turn) -> str:
    """Return what the user chose last, if that is newer than the words."""
    answers = [one for one in turn.questions if one.answer]
    if not answers:
        return ""
    return f"; then to “{_cut(answers[-1].text, SHORT_CHARS)}”: {_cut(answers[-1].answer)}"


def _open_work(record: Record) -> Iterator[str]:
    for task in open_items.tasks(record)[:MOST_ITEMS]:
        yield f"{_cut(task.text)} ({task.status.replace('_', ' ')}, {_since(record, task)})"
    for task in [one for one in _steps(record) if not _is_by_hand(one)][-MOST_STEPS:]:
        yield f"{_cut(task.text)} ({_HOW.get(task.source, 'planned')}, {_since(record, task)})"
    for one in open_items.questions(record):
        yield f"to be answered: {_cut(one.text)}"
    for name, agent in open_items.running(record):
        is_new = bool(record.turns) and agent.place.op >= record.turns[-1].place.op
        since = f" (started in turn {turn_number(record, agent.place)}, no end seen)"
        what = _cut(open_items.describe_request(record, agent), SHORT_CHARS)
        yield f"still running{'' if is_new else since}: {agent.kind or 'agent'} {name}: {what}"
    at_work = open_items.request(record)
    asked_again = [thing for _, thing in open_requests(record)]
    for turn, things in groupby(open_requests(record), key=lambda pair: pair[0]):
        if at_work is None or at_work.turn is not turn:
            what = ", ".join(thing for _, thing in things)
            asked = f"asked for in turn {turn_number(record, turn.place)}, none seen since: {what}"
            yield f"{asked} (“{_cut(turn.asked, SHORT_CHARS)}”)"
    if halted := conflict_words(record.git, MOST_CONFLICTS):
        yield f"git {halted}"
    if record.git.refused and record.git.refused not in asked_again:
        yield f"git {record.git.refused} did not succeed, and was not repeated"
    last = at_work
    for failure in open_items.failures(record) if last else ():
        is_ours = not (is_one_off(failure) or failure.verdict)
        if last and is_ours and failure.place.op > last.turn.place.op:
            state = "run again" if edited_since(failure) else "failing"
            yield f"{state}: {_open(record, failure)}"


def _steps(record: Record) -> list[Task]:
    """Return steps of plans that the user approved. Of plans in the model's words, only the newest
    list counts, while its turn is being worked on: others are often only an offer."""
    known = open_items.steps(record)
    last = record.turns[-1].place.op if record.turns else 0
    at_work = open_items.request(record) is not None
    prose = [one for one in known if one.source == "prose" and one.place.op >= last and at_work]
    newest = max((one.place.op for one in prose), default=0)
    return [
        one for one in known if one.source != "prose" or (one in prose and one.place.op == newest)
    ]


def _since(record: Record, task: Task) -> str:
    return f"since turn {turn_number(record, task.place)}"


def _by_use(record: Record) -> list[tuple[str, FileUse]]:
    return sorted(record.files.items(), key=lambda pair: pair[1].op)


def _all_changed(record: Record) -> Iterator[str]:
    """Yield every edited file; if there are very many, how many more there are."""
    edited = _without_twins([pair for pair in _by_use(record) if _is_changed(pair[1])])
    if len(edited) > MOST_CHANGED:
        rest = len(edited) - MOST_CHANGED + 1
        yield f"{rest} more files, edited earlier"
        edited = edited[rest:]
    for path, used in edited:
        yield _changed(path, used)


def _without_twins(changed: list[tuple[str, FileUse]]) -> list[tuple[str, FileUse]]:
    """Leave out files of another checkout: a command there names its files like this one, but what
    was edited there was not changed here."""
    away = "\n".join(f"{path}\n" for path, used in changed if path[:1] in "/~" and used.edits)
    return [
        (path, used)
        for path, used in changed
        if used.edits or path[:1] in "/~" or f"/{path}\n" not in away
    ]


def _changed(path: str, used: FileUse) -> str:
    lines = ", ".join(f"{first}-{last}" for first, last in used.ranges[-4:])
    place = f"{path}:{lines}" if lines else path
    away = f"moved to {used.moved_to}" if used.moved_to else "removed"
    since = f", {away} since" if used.gone else ""
    made = "created, " if used.created else ""
    if not used.edits:
        by = "a subagent" if used.by_agents else "a command"
        return f"{place} - {made}" + (away if used.gone else f"changed by {by}")
    return f"{place} - {made}edited {used.edits} time{'' if used.edits == 1 else 's'}{since}"


def _is_changed(used: FileUse) -> bool:
    return used.is_changed or used.gone


def _most_used(record: Record) -> list[tuple[str, FileUse]]:
    """Return files that were read, or named by a command with their folder, and not changed; those
    used most come first. Files that a search listed or somebody mentioned were not used."""
    found = [
        (path, used)
        for path, used in reversed(_by_use(record))
        if not _is_changed(used) and (used.reads or (used.runs and _is_path(path)))
    ]
    folders = tuple(f"{root}/" for root in record.roots)
    known = [pair for pair in found if not any(one.startswith(f"{pair[0]}/") for one in folders)]
    return sorted(known, key=lambda pair: -(2 * pair[1].reads + pair[1].runs))[:MOST_USED]


def _is_path(name: str) -> bool:
    """Whether this is a path. In a script, `sys.stdin` and `sum(c.values` look like files."""
    return "/" in name and not any(mark in name for mark in " ()<>$")


def _used(path: str, used: FileUse) -> str:
    how = [f"read {used.reads}"] if used.reads else []
    return f"{path} - " + ", ".join(how + ([f"in commands {used.runs}"] if used.runs else []))


def _pointers(record: Record) -> list[str]:
    """Return the references. Ids of background work are left out, as they look like commits."""
    return [text for text in record.references if text not in record.agents]


def _lost(record: Record) -> Iterator[str]:
    if record.lost:
        yield f"{record.lost} entries of the transcript could not be read, and are missing here"
    if record.starts_midway:
        yield "the transcript begins midway: earlier words are in another file"


def _failing(record: Record) -> Iterator[str]:
    """Yield failing tests and builds. What was only tried, or is no failure of this work, is under
    Commands."""
    yield from (_open(record, one) for one in _our_failures(record)[:MOST_FAILURES])


def _our_failures(record: Record) -> list[Failure]:
    found = open_items.failures(record)
    return [one for one in found if not is_one_off(one) and not one.verdict]


def _left_behind(record: Record) -> Iterator[str]:
    for path, used in _by_use(record):
        for note in used.left:
            yield f"{path}: {_cut(note)}"


def _open(record: Record, failure: Failure) -> str:
    since = f"since turn {turn_number(record, failure.place)}"
    if edited := edited_since(failure):
        since = f"in turn {turn_number(record, failure.place)}; {EDITED_SINCE}: "
        since += ", ".join(edited[-MOST_EDITED:])
    if failure.passes:
        since += f"; {failure.passes} other tests and builds passed since"
    return _cut(f"{failure.command} ({since}): " + " / ".join(failure.lines))


def _resolved(failure: Failure) -> str:
    by = f" after edits in {', '.join(failure.fix[-3:])}" if failure.fix else ""
    said = failure.lines[0] if failure.lines else "failed"
    shown = f" (shown by {failure.closed_by})" if failure.closed_by != failure.command else ""
    return _cut(f"{failure.command} passes again{shown}{by}; it had said: {said}")


def _commands(record: Record) -> Iterator[str]:
    """Yield the commands run last, and failures that the model called none of this work, with its
    words."""
    verdicts = {one.command: verdict_of(one) for one in record.failures if one.fixed is None}
    states = {one.asked: one.status for one in record.agents.values() if one.kind == COMMAND}
    known = sorted(record.commands.items(), key=lambda pair: pair[1].op)
    for at, (key, one) in enumerate(known, MOST_COMMANDS - len(known)):
        if at >= 0 or verdicts.get(key):
            yield _ran(one, verdicts.get(key, ""), states.get(key, ""), record.edited_op)


def _ran(command: Command, verdict: str, state: str, edited_op: int) -> str:
    """Return how a command went. One that runs in the background and has not reported is shown with
    its state there. A test or build that passed proves nothing about later edits."""
    went = outcome(command)
    if went == PASSED and command.kind and command.op < edited_op:
        went = "passed, before the last edit"
    went = state if state and went == NO_RESULT else _WENT.get(went, went)
    how = "; ".join(filter(None, (went, verdict)))
    return shell.first_line(command.line) + (f" ({how})" if how else "")


def _reference(record: Record, text: str) -> str:
    one = record.references[text]
    return f"{one.kind} {text}" + (f": {_cut(one.note)}" if one.note else "")


def _agents(record: Record) -> list[Agent]:
    """Return subagents, and the last background commands that do more than look."""
    known = list(record.agents.values())
    own = [one for one in known if one.kind != COMMAND][-MOST_AGENTS:]
    ran = [one for one in known if one.kind == COMMAND and shell.core(one.asked)]
    living = [one for _, one in reversed(open_items.running(record)) if one.kind == COMMAND]
    ended = [one for one in ran if one not in living]
    return own + ended[-MOST_BACKGROUND:] + living[-MOST_AGENTS:]


def _agent(one: Agent) -> str:
    """Return what a subagent answered; for a command how it ended, because its output is in the
    transcript."""
    how = "" if one.status == "done" and one.answer and one.kind != COMMAND else f" ({one.status})"
    answer = f" → {one.answer}" if one.answer and one.kind != COMMAND else ""
    return _cut(f"{one.kind}: {shell.first_line(one.asked)}{how}{answer}")


def _cut(text: str, most: int = MOST_CHARS) -> str:
    """Shorten long words visibly; commands stay complete."""
    flat = text.strip()
    return flat if len(flat) <= most else flat[: most - 1] + "…"
