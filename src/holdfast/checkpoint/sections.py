"""Turn a record into the two forms of a checkpoint: sections for people, a snapshot for
programs. Both are made from the same items, and every item quotes.

All sections share one room. Each gets what it needs, at most its share; what is left goes to those
that need more. What does not fit is counted in a line of its own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from holdfast.checkpoint.additions import SECTIONS as ADDED_TO
from holdfast.checkpoint.additions import AddedLine
from holdfast.checkpoint.checkpoint_file import GIT
from holdfast.record import commands, git, open_items, turns
from holdfast.record.model import FileUse, Place, Record, describe_unread
from holdfast.record.open_items import find_decisions
from holdfast.text.fence import both_ends, code, flat, plain_name, quoted, single_marks
from holdfast.text.numbers import counted
from holdfast.text.sentences import clip, clip_last, sentences
from holdfast.wire.mark import CHARS_PER_TOKEN

SUBJECT_CHARS = 200
COMMAND_CHARS = 400  # whole, but for scripts
REASON_CHARS = 160
EDITED_SHARE = 0.8  # of the room: for files with words
MOST_LINES = 4  # of what a failed command printed
MOST_OLDER, MOST_RUNS = 3, 5
MINUTE_CHARS = len("2026-11-19T08:15")
SECOND_CHARS = len("2026-11-19T08:15:30")


def describe_place(record: Record, place: Place) -> str:
    minute = f", {clip(place.at, MINUTE_CHARS).replace('T', ' ')}" if place.at else ""
    return f"turn {turns.turn_number(record, place)}{minute}"


def edited(record: Record) -> list[tuple[str, FileUse]]:
    known = sorted(record.files.items(), key=lambda pair: pair[1].edited.op)
    return [pair for pair in known if pair[1].is_changed or pair[1].gone]


class Change(msgspec.Struct, frozen=True):
    op: int
    text: str
    paths: list[str]
    before_paths: str = ""  # of a commit: what stands between it and its files

    @property
    def whole(self) -> str:
        shown = f"{self.before_paths}{', '.join(self.paths)}"
        return self.text + shown if self.before_paths and self.paths else self.text


def changed(record: Record, room: int) -> list[str]:
    """Return every edited file, the newest edit first: in a commit with its subject, else with what
    was done to it. Without room, commits stand without files, and the rest by folder."""
    changes = sorted(_find_changes(record), key=lambda row: (-row.op, not row.before_paths))
    whole = [change.whole for change in changes]
    if size(whole) <= room:
        return whole
    shown: list[str] = []
    left: list[str] = []
    for change in changes:
        forms = [] if left else [change.whole]
        forms += [change.text] * bool(change.before_paths)
        fitting = (form for form in forms if size([*shown, form]) <= room * EDITED_SHARE)
        form = next(fitting, "")
        shown += [form] * bool(form)
        left += [] if form == change.whole else change.paths
    return shown + _by_folder(left, room - size(shown))


def _find_changes(record: Record) -> Iterator[Change]:
    """Yield each commit: with the files that git named, or, if it was not asked, with those that
    were last edited before it. Then each file that was edited since."""
    logged = record.git_log.commits if record.git_log else []
    places = {_key(commit.id, commit.subject): commit.place for commit in record.commits}
    files: dict[str, list[str]] = {commit: [] for commit in places}
    for path, used in reversed(edited(record)):
        at, op = used.edited.at[:SECOND_CHARS], used.edited.op
        by_log = (_key(row.id, row.subject) for row in logged if path in row.files and at <= row.at)
        later = (
            commit
            for commit, place in places.items()
            if not record.git_log and place.op >= op and path[0] not in "/~"
        )
        if commit := next(by_log, "") or next(later, ""):
            files.setdefault(commit, []).append(path)
        else:
            yield Change(op, _describe_edit(record, path, used), [path])
    for commit, paths in files.items():
        place = places.get(commit)
        if place:
            when = f" (turn {turns.turn_number(record, place)})"
            yield Change(place.op, commit + when, paths, ", edited before it: ")
        else:
            yield Change(record.op, commit, paths, ": ")


def _by_folder(paths: list[str], room: int) -> list[str]:
    if not paths:
        return []
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder or ".", []).append(name)
    begins = f"{counted(len(paths), 'more file')} ({MORE}): "
    text = "; ".join(f"{folder}/: {', '.join(names)}" for folder, names in folders.items())
    return [begins + flat(text, max(SUBJECT_CHARS, room - len(begins) - PER_ITEM))]


def _key(name: str, subject: str) -> str:
    return f"commit {plain_name(name)}".strip() + f" {quoted(flat(subject, SUBJECT_CHARS))}"


def _describe_edit(record: Record, path: str, used: FileUse) -> str:
    words = _find_words(record, path, used)
    notes = [quoted(words)] * bool(words) + ["removed since"] * (used.gone and used.is_changed)
    by = "by a subagent" if used.by_agents else "by a command" if used.written else "removed"
    when = [
        "" if used.edits else by,
        f"turn {turns.turn_number(record, used.edited)}",
        f"in all +{used.added} -{used.removed} lines" if used.added or used.removed else "",
    ]
    begins = f"{path} ({', '.join(filter(None, when))})"
    return f"{begins}{': ' * bool(notes)}{', '.join(notes)}"


def _find_words(record: Record, path: str, used: FileUse) -> str:
    """Return the sentence of the answer that names the file, else the words at the edit."""
    turn, name = turns.turn_at(record, used.edited), path.rpartition("/")[2]
    is_answered = turn and turn.said_op >= used.edited.op and not turn.works_on
    said = sentences(turn.said.replace(" […] ", "\n")) if turn and is_answered else []
    reasons = (row for row in said if name in row and len(row) > 2 * len(name) and row[-1] != ":")
    return flat(next(reasons, used.said), REASON_CHARS)


def issues(record: Record) -> Iterator[str]:
    """Yield what could not be read, and the commands that failed and have not succeeded since:
    those of the last turn with their output, earlier ones on one line."""
    if record.lost:
        yield f"{record.lost} entries of the transcript could not be read, and are missing here"
    if record.unread:
        yield describe_unread(record)
    if record.starts_midway:
        yield "the transcript begins midway: earlier words are in another file"
    failed = [
        (run, commands.describe(record, line, run, MOST_LINES))
        for line, run in commands.failing(record)
    ]
    older = [text for run, text in failed if run.place.op <= turns.began(record)]
    yield from (text for _, text in failed[: len(failed) - len(older) + MOST_OLDER])
    if older[MOST_OLDER:]:
        yield f"({len(older) - MOST_OLDER} more failed in earlier turns: {MORE})"


def last_runs(record: Record) -> Iterator[str]:
    """Yield the newest run of each check: as typed, when, edits since, the end of its output."""
    for line, command, _ in commands.newest_checks(record)[:MOST_RUNS]:
        edits = commands.describe_edits(record, command) or "no edit since"
        end = commands.end_of_output(command, SUBJECT_CHARS)
        how = "" if command.ok else "failed, "
        when = f"{how}{describe_place(record, command.place)}, {edits}"
        yield f"{code(line, COMMAND_CHARS)} ({when})" + f": {quoted(end)}" * bool(end)


def git_state(record: Record) -> Iterator[str]:
    """Yield the branch, and what git printed last. The commits stand under what changed."""
    if branch := git.describe_branch(record):
        yield branch
    places = {commit.place for commit in record.commits}
    for answer in git.answers(record):
        if answer.place not in places:
            yield git.describe_answer(
                answer, f"in {describe_place(record, answer.place)}", is_short=True
            )


TOKENS = 2500  # of the whole file
HEAD_CHARS = 900  # front matter, and characters that are written longer in the file
ROOM_CHARS = int(TOKENS * CHARS_PER_TOKEN) - HEAD_CHARS
ENDLESS = 1 << 30
PER_ITEM, PER_SECTION = 3, 6  # what an item and a heading cost beside their words
LEAST_PART = 200  # of an item that is cut
MORE = "see `holdfast search`, or the tool `recall`"


def share_out(needs: Mapping[str, int], shares: Mapping[str, float], room: int) -> dict[str, int]:
    """Divide the room. No part gets more than it needs; what is left goes to the others."""
    amounts: dict[str, int] = {}
    while waiting := [name for name in needs if name not in amounts]:
        left, of = room - sum(amounts.values()), sum(shares[name] for name in waiting)
        rooms = {name: int(left * shares[name] / of) for name in waiting}
        content = {name: needs[name] for name in waiting if needs[name] <= rooms[name]}
        amounts |= content or rooms
    return amounts


def size(items: Iterable[str]) -> int:
    return sum(len(item) + PER_ITEM + 2 * item.count("\n") for item in items)


def first(items: list[str], room: int) -> list[str]:
    """Return the items that fit, the beginning of the next one, and a count of the others."""
    if size(items) <= room:
        return items
    kept: list[str] = []
    room = max(0, room - size([_rest(len(items))]))
    while size([*kept, items[len(kept)]]) <= room:
        kept.append(items[len(kept)])
    left = room - size(kept) - PER_ITEM
    if left > LEAST_PART:
        kept.append(f"{clip(items[len(kept)], left - 2 * items[len(kept)].count(chr(10)))} …")
    return [*kept, _rest(len(items) - len(kept))] if len(kept) < len(items) else kept


def last(items: list[str], room: int) -> list[str]:
    return first(items[::-1], room)[::-1]


def _rest(count: int) -> str:
    return f"({count} more: {MORE})"


ADDED_SHARE = 0.2  # for all lines that the model added
# What the words of a turn get, and the same for its answer: the most that fits for all turns. If
# that is less, each turn is one line, and the newest have an answer.
TURN_CHARS, LINE_CHARS, LEAST_CHARS = (ENDLESS, 1600, 800, 400), (400, 240, 160, 100, 80), 80
WORDS_SHARE, ANSWER_CHARS, LAST_TURN_CHARS = 0.6, 300, 1000  # of the room; of an answer below
SAID_CHARS, LAST_CHARS, ITEM_CHARS, END_CHARS, SHORT_CHARS = 1500, 800, 400, 240, 200
MOST_PLAN_LINES = 12
MOST_AGENTS, ASKED_CHARS = 3, 160
MOST_CHANGED, MOST_ITEMS = 400, 40  # in the snapshot
SHORT_TITLE = 60  # a shorter request stands behind the one before it
PLAN_OF_MODEL = "a plan that the model wrote and the user approved"
IN_PROGRESS, UNSURE = "In Progress", "Not Certain Who Said This"


def sections_of(
    record: Record, added: Sequence[AddedLine] = (), room: int = ROOM_CHARS
) -> dict[str, list[str]]:
    """Return what is known under its headings; empty ones are removed later."""
    builders: dict[str, tuple[float, Callable[[int], list[str]]]] = {
        IN_PROGRESS: (0.14, lambda room: first([*_in_progress(record)], room)),
        "What Changed": (0.22, lambda room: changed(record, room)),
        "Why Changed": (0.4, lambda room: _turns(record, room)),
        "Active Issues": (0.12, lambda room: first([*issues(record)], room)),
        "Key Decisions": (0.1, lambda room: last([*decisions(record)], room)),
        "Next Steps": (0.22, lambda room: first(next_steps(record, room), room)),
        "Commands": (0.1, lambda room: first([*last_runs(record)], room)),
        GIT: (0.08, lambda room: first([*git_state(record)], room)),
        UNSURE: (0.03, lambda room: last([text.text for text in turns.unsure_texts(record)], room)),
        "Agents": (0.08, lambda room: first([*_agents(record)], room)),
    }
    shown = last([line.item for line in added], int(room * ADDED_SHARE))
    known = {
        name: [line.item for line in added if ADDED_TO[line.kind] == name and line.item in shown]
        for name in builders
    }
    room -= sum(size(known[name]) + len(name) + PER_SECTION for name in builders)
    whole = {name: build(ENDLESS) for name, (_, build) in builders.items()}
    needs = {name: size(items) for name, items in whole.items()}
    rooms = share_out(needs, {name: share for name, (share, _) in builders.items()}, room)
    return {
        name: known[name] + (build(rooms[name]) if needs[name] > rooms[name] else whole[name])
        for name, (_, build) in builders.items()
    }


def snapshot_of(record: Record, added: Sequence[AddedLine] = ()) -> dict[str, Any]:
    """Return the same as plain values, under the names that readers know."""
    tasks = open_items.tasks(record)[:MOST_ITEMS]
    by_model = {kind: [line.item for line in added if line.kind == kind] for kind in ADDED_TO}
    return {
        "session_id": record.session_id,
        "context_summary": current_request(record),
        "progress": [*_in_progress(record)],
        "active_tasks": [{"description": task.text, "status": task.status} for task in tasks],
        "modified_files": [path for path, _ in edited(record)][-MOST_CHANGED:],
        "key_decisions": [*by_model["decided"], *[*decisions(record)][-MOST_ITEMS:]],
        "next_steps": [*by_model["next"], *next_steps(record)[:MOST_ITEMS]],
        "added_by_model": [{"kind": row.kind, "turn": row.turn, "text": row.text} for row in added],
        "decided": [
            {
                "decision": flat(decision.text, ITEM_CHARS),
                "question": flat(decision.question, ITEM_CHARS),
                "by": decision.by,
                "turn": decision.turn,
                "at": decision.place.at,
            }
            for decision in [*find_decisions(record)][-MOST_ITEMS:]
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
            {"tool_name": row.tool, "detail": flat(row.what, ITEM_CHARS)} for row in record.recent
        ],
        "tools_used": dict(record.tools),
    }


def current_request(record: Record) -> str:
    positions = [at for at, turn in enumerate(record.turns) if turn.asked]
    return title(record, positions[-1]) if positions else ""


def title(record: Record, at: int) -> str:
    """Return what a turn asks for, on one line: of very short words ("2", "go on") the question
    that they answer, else the last longer request."""
    turn = record.turns[at]
    words = (f"({PLAN_OF_MODEL}) " if turn.is_plan else "") + " ".join(turn.asked.split())
    if not words or turns.width(words) > SHORT_TITLE:
        return words
    if turns.is_answer(turn.reply_to):
        return f"{_question(record, at)} → {words}"
    earlier = (
        row.asked
        for row in reversed(record.turns[:at])
        if turns.width(row.asked) > turns.TERSE_CHARS
    )
    before = flat(next(earlier, ""), SHORT_CHARS)
    return f"{before} → {words}" if before else words


def _question(record: Record, at: int) -> str:
    turn = record.turns[at]
    before = next((turn.said for turn in reversed(record.turns[:at]) if not turn.taken_back), "")
    is_refused = turn.reply_to.startswith(turns.REFUSED)
    return flat(turn.reply_to if is_refused else turns.question_at_end(before), ITEM_CHARS)


def decisions(record: Record) -> Iterator[str]:
    """Yield what the user decided, and what the model labelled as a decision."""
    for decision in find_decisions(record):
        words = _quote(decision.text)
        to = f"{_quote(decision.question)} → " if decision.question else ""
        yield f"turn {decision.turn}{'' if decision.by == 'user' else ', the model'}: {to}{words}"


def next_steps(record: Record, room: int = ENDLESS) -> list[str]:
    """Return the requests that are not answered, or the model's last message, as much of it as the
    others leave room for; then the task list and the newest plan as they stood."""
    why = open_items.why_open(record)
    items = []
    unanswered = _unanswered(record) if why else []
    for at in unanswered:
        turn = record.turns[at]
        how = why if at == unanswered[-1] else "no answer of its own"
        when = describe_place(record, turn.place)
        most = ITEM_CHARS if turn.is_plan else SAID_CHARS
        items.append(f"{when}, {how}: {_words(record, at, most)}")
    items += [
        f"answered by the user since: {_quote(question.text)} → {_quote(question.answer)}"
        for question in (record.turns[-1].questions if record.turns else ())
        if question.answer and question.place.op >= record.last_said_op
    ]
    others = [
        f"asked of the user, not answered: {_quote(question.text)}"
        for question in open_items.questions(record)
    ]
    others += _tasks_and_plan(record)
    if record.turns and open_items.is_over(record, record.turns[-1]):
        turn = record.turns[-1]
        when = describe_place(record, Place(turn.place.offset, record.at, turn.place.op))
        begins = f"the model's last message, {when}: "
        left = room - size([*items, begins, *others])
        items.append(begins + quoted(_ends_of(turn.said, max(ITEM_CHARS, min(SAID_CHARS, left)))))
    return items + others


def _quote(words: str) -> str:
    return quoted(flat(words, ITEM_CHARS))


def _tasks_and_plan(record: Record) -> Iterator[str]:
    yield from (f"[ ] {open_items.describe_task(record, row)}" for row in open_items.tasks(record))
    if tasks := open_items.describe_done(record):
        yield f"[x] {tasks}"
    if record.plan:
        is_open = open_items.why_open(record) or record.plan.place.op >= turns.began(record)
        lines = open_items.plan_lines(record, MOST_PLAN_LINES if is_open else 1)
        yield ("\n" if is_open else " ").join(["the newest plan, as it stood:", *lines])


def _unanswered(record: Record) -> list[int]:
    """Return the last turns with words, back to the newest that the model answered: where its work
    went on behind a turn's words, they are no answer."""
    positions = [at for at, turn in enumerate(record.turns) if turn.asked and not turn.taken_back]
    count = 1
    while count < len(positions) and not (
        (before := record.turns[positions[-count - 1]]).said and not before.works_on
    ):
        count += 1
    return positions[-count:]


def _ends_of(said: str, most: int) -> str:
    words = "\n".join(line for line in single_marks(said.strip()).splitlines() if line.strip())
    most = most - 2 * words[:most].count("\n")
    if len(words) <= most:
        return words
    return f"{clip(words, most // 3)} …\n… {clip_last(words, most * 2 // 3).lstrip()}"


def _in_progress(record: Record) -> Iterator[str]:
    """Yield what was going on at the very end: what the model said last, and calls without a
    result, else the last one. Nothing if the last request was answered."""
    if not open_items.why_open(record) or open_items.is_over(record, record.turns[-1]):
        return
    if record.last_texts and record.last_said_op > turns.began(record):
        yield f"last said: {quoted(both_ends(record.last_texts[-1], LAST_CHARS))}"
    running = [*record.calls.values()][-3:]
    for call in running or record.recent[-1:]:
        label = "no result yet" if running else "last call"
        yield f"{label}: {open_items.describe_call(call, ITEM_CHARS)}"


def _turns(record: Record, room: int) -> list[str]:
    """Return the turns in order, each with its answer, both with the most characters that fit for
    all. In a long session the newest turns have an answer, and the older ones are one line each.
    Where even these do not fit, the oldest are counted, but for the first one."""
    positions = [at for at, turn in enumerate(record.turns) if turn.asked or turn.edited]
    for most in TURN_CHARS:
        whole = [_turn(record, at, most) + _answer(record, at, most) for at in positions]
        if size(whole) <= room:
            return whole
    for most in LINE_CHARS:
        lines = {at: _turn(record, at, most) for at in positions}
        if size(lines.values()) <= room * WORDS_SHARE:
            break
    over, left = size([*lines.values(), " " * LEAST_CHARS]) - room, 0
    while over > 0 and left < len(positions) - 2:
        left += 1
        over -= size([lines[positions[left]]])
    for at in reversed(positions[left + 1 :]):
        answer = _answer(record, at, ANSWER_CHARS)
        if size([*lines.values(), answer]) > room:
            break
        lines[at] += answer
    left_out = [_left_out(record, positions[1 : left + 1])] if left else []
    return [lines[positions[0]], *left_out, *(lines[at] for at in positions[left + 1 :])]


def _left_out(record: Record, places: Sequence[int]) -> str:
    numbers = [turns.turn_number(record, record.turns[at].place) for at in places]
    which = f"turns {numbers[0]} to {numbers[-1]} are" if numbers[1:] else f"turn {numbers[0]} is"
    return f"({which} not shown: {MORE})"


def _turn(record: Record, at: int, most: int) -> str:
    """Return a turn; words of the last one that are not answered stand under Next Steps."""
    turn, how = record.turns[at], turns.describe_stop(record.turns, at)
    if turn is record.turns[-1] and not open_items.why_open(record):
        most = max(most, LAST_TURN_CHARS)
    begins = f"turn {turns.turn_number(record, turn.place)}{f' ({how})' if how else ''}: "
    most = min(most, ITEM_CHARS) if turn.is_plan else most
    return begins + (_words(record, at, most) if turn.asked else "(went on)")


def _answer(record: Record, at: int, most: int) -> str:
    """Return so much of what answered a turn. The answer of the last turn stands elsewhere."""
    turn = record.turns[at]
    if not turn.said or turn is record.turns[-1] or turn.works_on:
        return ""
    answer = single_marks(turn.said)
    return f"\n→ {quoted(answer if len(answer) <= most else both_ends(answer, most))}"


def _words(record: Record, at: int, most: int) -> str:
    turn = record.turns[at]
    words = single_marks(turn.asked.strip())
    if len(words) > most:  # a plan ends in the client's words
        words = clip(words, most) if turn.is_plan else both_ends(words, most)
    is_terse = turn.reply_to and turns.width(turn.asked) <= turns.TERSE_CHARS and most > LEAST_CHARS
    to = _question(record, at) if is_terse or turns.is_answer(turn.reply_to) else ""
    by = f"({PLAN_OF_MODEL}) " * turn.is_plan
    return f"{by}{quoted(words)}" + f" (to {quoted(to)})" * bool(to)


def _agents(record: Record) -> Iterator[str]:
    """Yield what runs, then what subagents answered, the newest first."""
    for name, agent in open_items.running(record):
        yield open_items.describe_running(record, name, agent, ASKED_CHARS)
    for _, task, report in islice(open_items.ended(record), MOST_AGENTS):
        yield task + f" → {quoted(both_ends(report, END_CHARS))}" * bool(report)
