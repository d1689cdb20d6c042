"""Turn a record into the two forms of a checkpoint: sections for people, a snapshot for
programs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from holdfast.checkpoint.next_steps import (
    MOST_CHARS,
    MOST_ITEMS,
    NOTHING_OPEN,
    PLAN_OF_MODEL,
    SHORT_CHARS,
    cut,
    describe_failure,
    format_request,
    next_steps,
)
from holdfast.record import commands, git, open_items, shell
from holdfast.record.agents import COMMAND
from holdfast.record.decisions import find_decisions
from holdfast.record.files import by_last_use
from holdfast.record.model import (
    Agent,
    FailedRun,
    FileUse,
    Record,
    Turn,
    describe_unread,
)
from holdfast.record.names import is_reference
from holdfast.record.turns import KEPT_CHARS, describe_stop, turn_number, unsure_texts
from holdfast.text.fence import quoted
from holdfast.text.numbers import counted

MOST_WORDS = 400  # of the user: no real session has more
MOST_CHANGED = 400
REQUEST_CHARS = 400  # of the request: the full text is under User Words
MOST_FAILURES = 12
MOST_COMMANDS = 20
MOST_AGENTS, MOST_BACKGROUND = 10, 5
MOST_USED = 20  # files that were only read
IN_PROGRESS = "In Progress"
GIT = "Git"  # quoted from the transcript, where a search finds it
_MARKS = {True: "", False: " (failed)", None: " (no result yet)"}
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
    is_ours = section == GIT or entry in _OURS or entry.startswith(NOTHING_OPEN)
    return "" if is_ours else entry


def sections_of(record: Record) -> dict[str, list[str]]:
    """Return what is known under the headings that a reader looks for; empty ones are removed
    later."""
    sections = {
        IN_PROGRESS: list(_in_progress(record)),
        GIT: [text for text, _ in git.quotes(record)],
        "What Changed": list(_all_changed(record)),
        "Why Changed": list(_reasons(record)),
        "Active Issues": [*_lost(record), *_failing(record)],
        "Key Decisions": list(decisions(record)),
        "Next Steps": list(next_steps(record)),
        "Open Questions": [cut(one.text) for one in open_items.questions(record)],
        "User Words": list(_words(record)),
        "Not Certain Who Said This": [one.text for one in unsure_texts(record)],
        "Commands": [*_commands(record)],
        "Errors Resolved": [_resolved(*one) for one in commands.settled(record)[-MOST_FAILURES:]],
        "Files Used": [_used(*pair) for pair in _most_used(record)],
        "References": _references(record)[-20:],
        "Agents": [_agent(one) for one in _agents(record)],
    }
    most = {"User Words": MOST_WORDS, "What Changed": MOST_CHANGED}
    return {name: items[-most.get(name, MOST_ITEMS) :] for name, items in sections.items()}


def snapshot_of(record: Record) -> dict[str, Any]:
    """Return the same as plain values, under the names that existing readers of snapshots
    expect."""
    used = [pair for pair in record.files.items() if _is_changed(pair[1])]
    changed = [path for path, _ in _without_twins(used)]
    return {
        "session_id": record.session_id,
        "context_summary": current_request(record),
        "active_tasks": [
            {"description": task.text, "status": task.status} for task in open_items.tasks(record)
        ][-MOST_ITEMS:],
        "modified_files": changed[-MOST_CHANGED:],
        "key_decisions": list(decisions(record))[-MOST_ITEMS:],
        "decided": [
            {
                "decision": cut(one.text),
                "question": cut(one.question),
                "by": one.by,
                "turn": one.turn,
                "at": one.place.at,
            }
            for one in [*find_decisions(record)][-MOST_ITEMS:]
        ],
        "agent_states": [
            {
                "agent_id": name,
                "agent_type": agent.kind,
                "status": agent.status,
                "summary": cut(agent.answer or agent.asked),
            }
            for name, agent in list(record.agents.items())[-MOST_ITEMS:]
        ],
        "recent_actions": [
            {"tool_name": call.tool, "detail": cut(call.what)} for call in record.recent
        ],
        "tools_used": dict(record.tools),
    }


def current_request(record: Record) -> str:
    """Return what the session is about now: the last words, with what a short reply answers."""
    turn = next((one for one in reversed(record.turns) if one.asked), None)
    return format_request(turn) if turn else ""


def decisions(record: Record) -> Iterator[str]:
    """Yield what the user decided, each with its question and its turn, and what the model labelled
    as a decision."""
    for one in find_decisions(record):
        if one.by == "user":
            yield f"turn {one.turn}: {cut(one.question, SHORT_CHARS)} → {cut(one.text)}"
        else:
            yield f"turn {one.turn}, the model: {cut(one.text)}"


def _in_progress(record: Record) -> Iterator[str]:
    """Yield the last words, the mode, what the model said last, and calls without a result. A
    request that was answered is not shown as a request, because it is no longer in progress."""
    is_over = open_items.request(record) is None
    if words := current_request(record):
        yield ASKED[is_over] + cut(words, REQUEST_CHARS) + _where(record)
    if record.planning:
        yield PLAN_MODE
    if record.last_texts:
        yield _LAST + record.last_texts[-1]  # both ends of a long one: see `turns.shorten`
    running = [*record.calls.values()][-3:]
    for call in running or record.recent[-1:]:
        what = f"{call.tool} {cut(call.what)}"
        yield _STEP[is_over] + what + (" (no result yet)" if running else "")


def _reasons(record: Record) -> Iterator[str]:
    """Yield each turn: what was asked, what was changed, and the result. What the model said last
    is under In Progress."""
    for turn in record.turns:
        if turn.edited or (turn.asked and turn.said):
            number = turn_number(record, turn.place)
            files = ", ".join(turn.edited[:8]) + (" …" if len(turn.edited) > 8 else "")
            words = cut(" ".join(turn.asked.split()), SHORT_CHARS) or "(went on)"
            yield f"turn {number}: {words}{': ' if files else ''}{files}{_outcome(record, turn)}"


def _outcome(record: Record, turn: Turn) -> str:
    if not turn.said:
        return ""
    if turn is record.turns[-1] and len(turn.said) > SHORT_CHARS:
        return f" → the answer under {IN_PROGRESS}"
    most = MOST_CHARS if turn.edited else SHORT_CHARS
    return f" → {cut(' '.join(turn.said.split()), most)}"


def _words(record: Record) -> Iterator[str]:
    """Yield all of them in order. Words that were sent again, perhaps after an interruption, appear
    once."""
    spoken = (pair for pair in enumerate(record.turns) if pair[1].asked)
    for words, group in groupby(spoken, key=lambda pair: pair[1].asked):
        some = list(group)
        first, last = (turn_number(record, one.place) for _, one in (some[0], some[-1]))
        at, turn = some[-1]
        to = f" (to: {cut(turn.reply_to, SHORT_CHARS)})" if turn.reply_to else ""
        which = f"turn {first}" if first == last else f"turns {first}-{last}"
        which += f" ({PLAN_OF_MODEL})" if turn.is_plan else ""
        how = describe_stop(record.turns, at)
        yield f"{which}: {words}{to}" + (f" ({how})" if how else "")


def _where(record: Record) -> str:
    """Return where the rest of long words is."""
    turn = next(one for one in reversed(record.turns) if one.asked)
    if turn.chars <= REQUEST_CHARS:
        return ""
    beyond = f", and in line {turn.line} of the transcript" if turn.chars > KEPT_CHARS else ""
    return f" (whole under User Words{beyond})"


def _all_changed(record: Record) -> Iterator[str]:
    """Yield every edited file; if there are very many, how many more there are."""
    edited = _without_twins([pair for pair in by_last_use(record) if _is_changed(pair[1])])
    if len(edited) > MOST_CHANGED:
        rest = len(edited) - MOST_CHANGED + 1
        yield f"{rest} more files, edited earlier"
        edited = edited[rest:]
    subjects = git.subjects(record)
    for path, used in edited:
        held = f", in the commit {quoted(subjects[path])}" if path in subjects else ""
        yield _changed(path, used) + held


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
    since = ", removed since" if used.gone else ""
    if not used.edits:
        by = "a subagent" if used.by_agents else "a command"
        return f"{place} - " + ("removed" if used.gone else f"changed by {by}")
    return f"{place} - edited {counted(used.edits, 'time')}{since}"


def _is_changed(used: FileUse) -> bool:
    return used.is_changed or used.gone


def _most_used(record: Record) -> list[tuple[str, FileUse]]:
    """Return files that were read, or named by a command with their folder, and not changed; those
    used most come first. Files that a search listed or somebody mentioned were not used."""
    used_files = [
        (path, used)
        for path, used in reversed(by_last_use(record))
        if not _is_changed(used) and (used.reads or (used.runs and _is_path(path)))
    ]
    folders = tuple(f"{root}/" for root in record.roots)
    known = [
        pair for pair in used_files if not any(one.startswith(f"{pair[0]}/") for one in folders)
    ]
    return sorted(known, key=lambda pair: -(2 * pair[1].reads + pair[1].runs))[:MOST_USED]


def _is_path(name: str) -> bool:
    """Whether this is a path. In a script, `sys.stdin` and `sum(c.values` look like files."""
    return "/" in name and not any(mark in name for mark in " ()<>$")


def _used(path: str, used: FileUse) -> str:
    how = [f"read {used.reads}"] if used.reads else []
    return f"{path} - " + ", ".join(how + ([f"in commands {used.runs}"] if used.runs else []))


def _references(record: Record) -> list[str]:
    return [name for name in record.names if is_reference(name)]


def _lost(record: Record) -> Iterator[str]:
    if record.lost:
        yield f"{record.lost} entries of the transcript could not be read, and are missing here"
    if record.unread:
        yield describe_unread(record)
    if record.starts_midway:
        yield "the transcript begins midway: earlier words are in another file"


def _failing(record: Record) -> Iterator[str]:
    """Yield what failed and has not succeeded since, as in a brief."""
    for line, failed in commands.failing(record)[:MOST_FAILURES]:
        yield describe_failure(record, line, failed)


def _resolved(line: str, failed: FailedRun) -> str:
    at = f"succeeded at step {failed.closed.op}" if failed.closed else ""
    by = f" as {failed.closed_by}" if failed.closed_by != line else ""
    return cut(f"{line} {at}{by}; it had said: {' / '.join(failed.lines[:2])}")


def _commands(record: Record) -> Iterator[str]:
    """Yield the commands run last."""
    states = {one.asked: one.status for one in record.agents.values() if one.kind == COMMAND}
    known = sorted(record.commands.items(), key=lambda pair: pair[1].op)
    for line, one in known[-MOST_COMMANDS:]:
        state = states.get(line) if one.ok is None else None
        yield shell.first_line(line) + (f" ({state})" if state else _MARKS[one.ok])


def _agents(record: Record) -> list[Agent]:
    """Return subagents, and the last background commands that do more than look."""
    known = list(record.agents.values())
    own = [one for one in known if one.kind != COMMAND][-MOST_AGENTS:]
    ran = [one for one in known if one.kind == COMMAND]
    living = [one for _, one in reversed(open_items.running(record)) if one.kind == COMMAND]
    ended = [one for one in ran if one not in living]
    return own + ended[-MOST_BACKGROUND:] + living[-MOST_AGENTS:]


def _agent(one: Agent) -> str:
    """Return what a subagent answered; for a command how it ended, because its output is in the
    transcript."""
    how = "" if one.status == "done" and one.answer and one.kind != COMMAND else f" ({one.status})"
    answer = f" → {one.answer}" if one.answer and one.kind != COMMAND else ""
    return cut(f"{one.kind}: {shell.first_line(one.asked)}{how}{answer}")
