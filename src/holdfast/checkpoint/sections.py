"""Turn a record into the two forms of a checkpoint: sections for people, a snapshot for
programs. Both are made from the same items, and every item quotes.

All sections share one room. Each gets what it needs, at most its share; what is left goes to those
that need more. What does not fit is counted in a line of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.checkpoint.added import SECTIONS as ADDED_TO
from holdfast.checkpoint.added import AddedLine
from holdfast.record import commands, git, open_items, shell
from holdfast.record.agents import COMMAND
from holdfast.record.decisions import find_decisions
from holdfast.record.files import by_last_use
from holdfast.record.model import (
    FailedRun,
    FileUse,
    Place,
    Record,
    ShownPlan,
    Task,
    Turn,
    describe_unread,
)
from holdfast.record.replies import REFUSED, TERSE_CHARS, is_answer, question_at_end, width
from holdfast.record.turns import describe_stop, turn_number, unsure_texts
from holdfast.text.fence import both_ends, code, flat, quoted, single_marks
from holdfast.text.numbers import counted
from holdfast.text.sentences import clip, clip_last, clip_start
from holdfast.wire.mark import CHARS_PER_TOKEN

TOKENS = 2500  # of the whole file
HEAD_CHARS = 800  # front matter, and characters that are written longer in the file
ROOM_CHARS = int(TOKENS * CHARS_PER_TOKEN) - HEAD_CHARS
ENDLESS = 1 << 30
PER_ITEM, PER_SECTION = 3, 6  # what an item and a heading cost beside their words
ADDED_SHARE = 0.2  # for all lines that the model added
NEWEST_SHARE, EDITED_SHARE = 0.4, 0.8  # of a section: for turns in full, files with words
WORDS_CHARS, ANSWER_CHARS, LEAST_CHARS = 160, 120, 80  # of an older turn
SAID_CHARS, ITEM_CHARS, END_CHARS, SHORT_CHARS = 800, 400, 240, 200
OUTPUT_CHARS, OLDER_LINES = 600, 2  # of a failed command: its output, and lines of an older one
MOST_PLAN_LINES, PLAN_LINE_CHARS = 12, 160
MOST_COMMANDS, MOST_AGENTS = 5, 5
MINUTE_CHARS = len("2026-11-19T08:15")
MOST_CHANGED, MOST_ITEMS = 400, 40  # in the snapshot
MORE = "see `holdfast search`, or the tool `recall`"
PLAN_MODE = "mode: plan mode is on; read and plan only until the user approves the plan"
PLAN_OF_MODEL = "a plan that the model wrote and the user approved"
IN_PROGRESS, GIT, UNSURE = "In Progress", "Git", "Not Certain Who Said This"
_OLD_OURS = ("nothing open", "nothing is left open", "go on with the request")  # before 1.3


def somebodys(section: str, entry: str) -> str:
    """Return the words of an entry that are not ours, for a search through what was said."""
    is_ours = section == GIT or entry == PLAN_MODE or entry.startswith(_OLD_OURS)
    return "" if is_ours else entry


def sections_of(
    record: Record, added: Sequence[AddedLine] = (), room: int = ROOM_CHARS
) -> dict[str, list[str]]:
    """Return what is known under the headings that a reader looks for; empty ones are removed
    later."""
    builders: dict[str, tuple[float, Callable[[int], list[str]]]] = {
        IN_PROGRESS: (0.14, lambda room: first([*_in_progress(record)], room)),
        "What Changed": (0.22, lambda room: _changed(record, room)),
        "Why Changed": (0.4, lambda room: _turns(record, room)),
        "Active Issues": (0.12, lambda room: first([*_issues(record)], room)),
        "Key Decisions": (0.1, lambda room: last([*decisions(record)], room)),
        "Next Steps": (0.22, lambda room: first([*next_steps(record)], room)),
        "Commands": (0.1, lambda room: first([*_commands(record)], room)),
        GIT: (0.06, lambda room: first([text for text, _ in git.quotes(record)], room)),
        UNSURE: (0.03, lambda room: last([one.text for one in unsure_texts(record)], room)),
        "Agents": (0.08, lambda room: first([*_agents(record)], room)),
    }
    shown = last([one.item for one in added], int(room * ADDED_SHARE))
    known = {
        name: [one.item for one in added if ADDED_TO[one.kind] == name and one.item in shown]
        for name in builders
    }
    room -= sum(size(known[name]) + len(name) + PER_SECTION for name in builders)
    needs = {name: size(build(ENDLESS)) for name, (_, build) in builders.items()}
    rooms = share_out(needs, {name: share for name, (share, _) in builders.items()}, room)
    return {name: known[name] + build(rooms[name]) for name, (_, build) in builders.items()}


def share_out(needs: Mapping[str, int], shares: Mapping[str, float], room: int) -> dict[str, int]:
    """Divide the room: nobody gets more than it needs, and what is left goes to the others."""
    given: dict[str, int] = {}
    while waiting := [name for name in needs if name not in given]:
        left, of = room - sum(given.values()), sum(shares[name] for name in waiting)
        rooms = {name: int(left * shares[name] / of) for name in waiting}
        content = {name: needs[name] for name in waiting if needs[name] <= rooms[name]}
        given |= content or rooms
    return given


def size(items: Iterable[str]) -> int:
    """Return how long items are in the file."""
    return sum(len(one) + PER_ITEM + 2 * one.count("\n") for one in items)


def first(items: list[str], room: int) -> list[str]:
    """Return the first items, as many as fit, the beginning of the next one, and a line that counts
    the others."""
    if size(items) <= room:
        return items
    kept: list[str] = []
    room = max(0, room - size([_rest(len(items))]))
    while size([*kept, items[len(kept)]]) <= room:
        kept.append(items[len(kept)])
    left = room - size(kept) - PER_ITEM
    if left > SHORT_CHARS:
        kept.append(f"{clip(items[len(kept)], left - 2 * items[len(kept)].count(chr(10)))} …")
    return [*kept, _rest(len(items) - len(kept))] if len(kept) < len(items) else kept


def last(items: list[str], room: int) -> list[str]:
    """Return the last items, as many as fit, below a line that counts the others."""
    return first(items[::-1], room)[::-1]


def _rest(count: int) -> str:
    return f"({count} more: {MORE})"


def snapshot_of(record: Record, added: Sequence[AddedLine] = ()) -> dict[str, Any]:
    """Return the same as plain values, under the names that existing readers of snapshots
    expect."""
    tasks = open_items.tasks(record)[:MOST_ITEMS]
    by_model = {kind: [one.item for one in added if one.kind == kind] for kind in ADDED_TO}
    return {
        "session_id": record.session_id,
        "context_summary": current_request(record),
        "progress": [*_in_progress(record)],
        "active_tasks": [{"description": task.text, "status": task.status} for task in tasks],
        "modified_files": [path for path, _ in _edited(record)][-MOST_CHANGED:],
        "key_decisions": [*by_model["decided"], *[*decisions(record)][-MOST_ITEMS:]],
        "next_steps": [*by_model["next"], *[*next_steps(record)][:MOST_ITEMS]],
        "added_by_model": [{"kind": one.kind, "turn": one.turn, "text": one.text} for one in added],
        "decided": [
            {
                "decision": flat(one.text, ITEM_CHARS),
                "question": flat(one.question, ITEM_CHARS),
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
                "summary": flat(agent.answer or agent.asked, ITEM_CHARS),
            }
            for name, agent in list(record.agents.items())[-MOST_ITEMS:]
        ],
        "recent_actions": [
            {"tool_name": one.tool, "detail": flat(one.what, ITEM_CHARS)} for one in record.recent
        ],
        "tools_used": dict(record.tools),
    }


def current_request(record: Record) -> str:
    """Return what the session is about now: the last words, with what a short reply answers."""
    asked = [at for at, one in enumerate(record.turns) if one.asked]
    return title(record, asked[-1]) if asked else ""


def title(record: Record, at: int) -> str:
    """Return what a turn asks for, on one line: of very short words ("2", "go on") the question
    that they answer, else the last longer request."""
    turn = record.turns[at]
    words = (f"({PLAN_OF_MODEL}) " if turn.is_plan else "") + " ".join(turn.asked.split())
    if not words or width(words) > TERSE_CHARS:
        return words
    if is_answer(turn.reply_to):
        return f"{_question(record, at)} → {words}"
    earlier = (one.asked for one in reversed(record.turns[:at]) if width(one.asked) > TERSE_CHARS)
    before = flat(next(earlier, ""), SHORT_CHARS)
    return f"{before} → {words}" if before else words


def _question(record: Record, at: int) -> str:
    """Return what a turn answers: a call that the user refused, or the question before it."""
    turn = record.turns[at]
    before = next((one.said for one in reversed(record.turns[:at]) if not one.taken_back), "")
    is_refused = turn.reply_to.startswith(REFUSED)
    return flat(turn.reply_to if is_refused else question_at_end(before), ITEM_CHARS)


def decisions(record: Record) -> Iterator[str]:
    """Yield what the user decided, each with its question and its turn, and what the model labelled
    as a decision."""
    for one in find_decisions(record):
        words = quoted(flat(one.text, ITEM_CHARS))
        to = f"{quoted(flat(one.question, ITEM_CHARS))} → " if one.question else ""
        yield f"turn {one.turn}{'' if one.by == 'user' else ', the model'}: {to}{words}"


def next_steps(record: Record) -> Iterator[str]:
    """Yield the request that is not answered, or the end of the last answer; then the task list and
    the newest plan as they stood."""
    found = open_items.request(record)
    if found:
        at = record.turns.index(found.turn)
        words = quoted(flat(title(record, at), SAID_CHARS))
        yield f"{_when(record, found.turn.place)}, {found.why}: {words}"
    elif record.turns and record.turns[-1].said:
        turn = record.turns[-1]
        words = quoted(_end_of(turn.said))
        yield f"the model's last words, {_when(record, turn.place)}: {words}"
    for one in open_items.questions(record):
        yield f"asked of the user, not answered: {quoted(flat(one.text, ITEM_CHARS))}"
    listed = open_items.tasks(record)
    yield from (_task(record, one) for one in listed)
    done = [one for one in record.tasks.values() if one.status == "completed"]
    places = [max(one.place, one.set_at, key=lambda place: place.op) for one in [*listed, *done]]
    place = max(places, key=lambda place: place.op, default=Place())
    if record.plan:
        yield _plan(record, record.plan, place.op)
    if done:
        when = f"set in turn {turn_number(record, place)}"
        yield f"[x] {len(done)} of {len(places)} tasks completed, {when}"


def _when(record: Record, place: Place) -> str:
    """Return the turn and the minute of what happened."""
    minute = f", {clip(place.at, MINUTE_CHARS).replace('T', ' ')}" if place.at else ""
    return f"turn {turn_number(record, place)}{minute}"


def _end_of(said: str) -> str:
    """Return the end of the model's words, in their lines."""
    lines = [line for line in single_marks(said.strip()).splitlines() if line.strip()]
    words = "\n".join(lines)
    return words if len(words) <= SAID_CHARS else f"… {clip_last(words, SAID_CHARS).lstrip()}"


def _plan(record: Record, plan: ShownPlan, tasks_set_op: int) -> str:
    """Return the plan; of one that is older than the current request or than the task list, only
    its title."""
    lines = [flat(one, PLAN_LINE_CHARS) for one in plan.text.splitlines() if one.strip()]
    asked_op = max((one.place.op for one in record.turns if one.asked), default=0)
    when = f"the newest plan, as it stood in turn {turn_number(record, plan.place)}"
    rest = len(lines) - MOST_PLAN_LINES
    if plan.place.op < max(asked_op, tasks_set_op):
        return f"{when}: {quoted(lines[0].lstrip('# '))} ({counted(len(lines), 'line')})"
    more = [f"({counted(rest, 'more line')})"] if rest > 0 else []
    return "\n".join([f"{when}:", *lines[:MOST_PLAN_LINES], *more])


def _task(record: Record, task: Task) -> str:
    """Return a task in the state that the tool last set."""
    place = max(task.place, task.set_at, key=lambda one: one.op)
    state = "" if task.status == "pending" else f"{flat(task.status, 40).replace('_', ' ')}, "
    return f"[ ] {flat(task.text, ITEM_CHARS)} ({state}set in turn {turn_number(record, place)})"


def _in_progress(record: Record) -> Iterator[str]:
    """Yield what was going on at the very end: the mode, what the model said last, and calls
    without a result, else the last one. Nothing if the last request was answered."""
    if record.planning:
        yield PLAN_MODE
    if open_items.request(record) is None:
        return
    if record.last_texts:
        yield f"last said: {quoted(_end_of(record.last_texts[-1]))}"
    running = [*record.calls.values()][-3:]
    for call in running or record.recent[-1:]:
        label = "no result yet" if running else "last call"
        yield f"{label}: {call.tool} {code(call.what, SHORT_CHARS)}"


def _turns(record: Record, room: int) -> list[str]:
    """Return the turns in order: the newest in full, older ones on one line each, and the number
    of those before."""
    known = [(at, one) for at, one in enumerate(record.turns) if one.asked or one.edited]
    full = [_turn(record, at, one, ENDLESS) for at, one in known]
    short = [_turn(record, at, one, WORDS_CHARS) for at, one in known]
    spent, rest, count = 0, size(short), 0
    for long, brief in zip(reversed(full), reversed(short), strict=True):
        spent, rest = spent + size([long]), rest - size([brief])
        if spent > room * NEWEST_SHARE and spent + rest > room:
            break
        count += 1
    if not count and known:
        full[-1], count = _turn(record, *known[-1], int(room * NEWEST_SHARE)), 1
    left, kept = short[: len(known) - count], full[len(known) - count :]
    over = size([*left, *kept]) - room + (size([MORE]) + LEAST_CHARS) * bool(left)
    for number, (at, turn) in enumerate(known[: len(left)] if over > 0 else ()):
        least = _turn(record, at, turn, LEAST_CHARS)
        over -= size([left[number]]) - size([least])
        left[number] = least
        if over <= 0:
            break
    earlier = record.turns_dropped
    while left and over > 0:
        over, earlier = over - size([left.pop(0)]), earlier + 1
    return [*[f"({counted(earlier, 'earlier turn')}: {MORE})"] * bool(earlier), *left, *kept]


def _turn(record: Record, at: int, turn: Turn, most: int) -> str:
    """Return a turn with so much of the words, and with its answer: on one line if that is little,
    and with so little as `LEAST_CHARS` without it."""
    how = describe_stop(record.turns, at)
    begins = f"turn {turn_number(record, turn.place)}{f' ({how})' if how else ''}: "
    asked = single_marks(turn.asked.strip()) if most > WORDS_CHARS else flat(turn.asked, ENDLESS)
    most = min(most, SAID_CHARS) if turn.is_plan else most
    asked = asked if len(asked) <= most else both_ends(asked, most)
    by = f"({PLAN_OF_MODEL}) " * turn.is_plan
    to = _question(record, at) if is_answer(turn.reply_to) else ""
    words = f"{by}{quoted(asked)}" + f" (to {quoted(to)})" * bool(to) if asked else "(went on)"
    is_now = turn is record.turns[-1] and open_items.request(record) is not None
    if not turn.said or is_now or most <= LEAST_CHARS:
        return begins + words
    if most <= WORDS_CHARS:
        return f"{begins}{words} → {quoted(flat(turn.said, ANSWER_CHARS))}"
    answer = single_marks(turn.said)
    room = min(ITEM_CHARS, max(ANSWER_CHARS, most - len(words)))
    if len(answer) > room:  # the end of the last answer stands in the next steps
        answer = flat(answer, room) if turn is record.turns[-1] else both_ends(answer, room)
    return f"{begins}{words}\n→ {quoted(answer)}"


def _changed(record: Record, room: int) -> list[str]:
    """Return every edited file with what was done to it, the newest first. If there is no room for
    that, the oldest are grouped by folder."""
    items, said = [], ""
    files, subjects = _edited(record)[::-1], git.subjects(record)
    for path, used in files:
        words = _words_at_edit(path, used, subjects)
        done = [words] * (bool(words) and words != said) + [code(used.change, SHORT_CHARS)] * bool(
            used.change
        )
        said = words or said
        where = f":{used.line}" if used.line else ""
        items.append(f"{path}{where} - {', '.join(done) or words or _how_changed(used)}")
        items[-1] += "; removed since" * (used.gone and used.is_changed)
    if size(items) <= room:
        return items
    count = 0
    while size(items[: count + 1]) <= room * EDITED_SHARE:
        count += 1
    return items[:count] + _by_folder(
        [path for path, _ in files[count:]], room - size(items[:count])
    )


def _by_folder(paths: list[str], room: int) -> list[str]:
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder or ".", []).append(name)
    begins = f"{counted(len(paths), 'file')} edited earlier ({MORE}): "
    named = "; ".join(f"{folder}/: {', '.join(names)}" for folder, names in folders.items())
    return [begins + flat(named, max(SHORT_CHARS, room - len(begins) - PER_ITEM))]


def _words_at_edit(path: str, used: FileUse, subjects: Mapping[str, str]) -> str:
    """Return the subject of the commit that holds a file, else what was said at its last edit."""
    if path in subjects:
        return f"in the commit {quoted(subjects[path])}"
    by = "by a subagent: " * (used.by_agents > 0 and not used.edits)
    return f"{by}{quoted(used.said[-1])}" if used.said else ""


def _how_changed(used: FileUse) -> str:
    if used.edits:
        return f"edited {counted(used.edits, 'time')}"
    if used.gone and not used.is_changed:
        return "removed"
    return f"changed by {'a subagent' if used.by_agents else 'a command'}"


def _edited(record: Record) -> list[tuple[str, FileUse]]:
    """Return every edited file, the newest last. Files of another checkout are left out: a command
    there names its files like this one, but what was edited there was not changed here."""
    changed = [pair for pair in by_last_use(record) if pair[1].is_changed or pair[1].gone]
    away = "\n".join(f"{path}\n" for path, used in changed if path[:1] in "/~" and used.edits)
    return [
        (path, used)
        for path, used in changed
        if used.edits or path[:1] in "/~" or f"/{path}\n" not in away
    ]


def _issues(record: Record) -> Iterator[str]:
    """Yield what could not be read, and the commands that failed and have not succeeded since."""
    if record.lost:
        yield f"{record.lost} entries of the transcript could not be read, and are missing here"
    if record.unread:
        yield describe_unread(record)
    if record.starts_midway:
        yield "the transcript begins midway: earlier words are in another file"
    began = record.turns[-1].place.op if record.turns else 0
    by_output: dict[str, list[tuple[str, FailedRun]]] = {}
    for line, failed in commands.failing(record):
        by_output.setdefault("\n".join(failed.lines), []).append((line, failed))
    for (line, failed), *others in by_output.values():
        told = [single_marks(one) for one in failed.lines]
        told = told if failed.place.op > began else told[:OLDER_LINES]
        while len(told) > 1 and sum(map(len, told)) > OUTPUT_CHARS:
            told.pop()
        same = f"(the same of {counted(len(others), 'earlier command')})"
        yield "\n".join([commands.describe(record, line, failed), *told, *[same] * bool(others)])


def _commands(record: Record) -> Iterator[str]:
    """Yield the commands that followed an edit or were run more than once, as they were typed, each
    with the end of what it printed last."""
    marks = {True: "", False: "failed, ", None: "no result yet, "}
    for line, one in commands.last_runs(record)[:MOST_COMMANDS]:
        edits = commands.describe_edits(record, one) or "no edit since"
        end = flat(clip_start(one.printed, SHORT_CHARS), SHORT_CHARS)
        words = f": {quoted(end)}" if end else ""
        when = f"{marks[one.ok]}{_when(record, one.place)}, {edits}"
        yield f"{code(line, SHORT_CHARS)} ({when}){words}"


def _agents(record: Record) -> Iterator[str]:
    """Yield what runs without an end in the transcript, then what subagents answered, the newest
    first."""
    for name, one in open_items.running(record):
        since = f"started in turn {turn_number(record, one.place)}, no end seen"
        yield f"{one.kind or 'agent'} {name} ({since}): {flat(shell.first_line(one.asked), 160)}"
    ended = [one for one in record.agents.values() if one.status != "running"]
    for one in [one for one in reversed(ended) if one.kind != COMMAND][:MOST_AGENTS]:
        answer = (
            f" → {quoted(both_ends(one.report or one.answer, END_CHARS))}" if one.answer else ""
        )
        how = f" ({one.status})" if one.status != "done" else ""
        yield f"{one.kind or 'agent'}{how}: {flat(one.asked, 120)}{answer}"
