"""What was edited and what was run, as a checkpoint quotes it: files with their commits, failures,
what ran after the newest edits, and what git said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from holdfast.checkpoint.room import MORE, PER_ITEM, size
from holdfast.record import commands, git, shell
from holdfast.record.model import (
    Command,
    FailedRun,
    FileUse,
    Place,
    PrintedCommit,
    Record,
    describe_unread,
)
from holdfast.record.turns import began, turn_at, turn_number
from holdfast.text.fence import both_ends, code, flat, plain_name, quoted, single_marks
from holdfast.text.numbers import counted
from holdfast.text.sentences import clip, clip_start

SHORT_CHARS = 200
COMMAND_CHARS = 400  # whole, but for scripts
LATER_CHARS, ANSWER_CHARS = 80, 160
EDITED_SHARE = 0.8  # of the room: for files with words
OUTPUT_CHARS = 600  # of a failed command
MOST_OLDER, MOST_RUNS = 3, 5
MINUTE_CHARS = len("2026-11-19T08:15")
SECOND_CHARS = len("2026-11-19T08:15:30")

Commit = tuple[str, str]  # id and subject


def describe_place(record: Record, place: Place) -> str:
    """Return the turn and the minute of what happened."""
    minute = f", {clip(place.at, MINUTE_CHARS).replace('T', ' ')}" if place.at else ""
    return f"turn {turn_number(record, place)}{minute}"


def edited(record: Record) -> list[tuple[str, FileUse]]:
    """Return every edited file, the newest edit last."""
    known = sorted(record.files.items(), key=lambda pair: pair[1].edited.op)
    return [pair for pair in known if pair[1].is_changed or pair[1].gone]


class Change(msgspec.Struct, frozen=True):
    """A file in no commit, or a commit with its files."""

    op: int
    text: str
    paths: list[str]
    is_commit: bool = False

    @property
    def whole(self) -> str:
        return (
            f"{self.text}: {', '.join(self.paths)}" if self.is_commit and self.paths else self.text
        )


def changed(record: Record, room: int) -> list[str]:
    """Return every edited file, the newest edit first: in a commit with its subject, else with what
    was done to it. Without room, commits stand without their files, and what is left out by
    folder."""
    changes = sorted(_find_changes(record), key=lambda change: -change.op)
    whole = [one.whole for one in changes]
    if size(whole) <= room:
        return whole
    shown: list[str] = []
    left: list[str] = []
    for one in changes:
        forms = [] if left else [one.whole]
        forms += [one.text] * one.is_commit
        fitting = (form for form in forms if size([*shown, form]) <= room * EDITED_SHARE)
        form = next(fitting, "")
        shown += [form] * bool(form)
        left += [] if form == one.whole else one.paths
    return shown + _by_folder(left, room - size(shown))


def _find_changes(record: Record) -> Iterator[Change]:
    loose: list[tuple[str, FileUse]] = []
    held: dict[Commit, list[str]] = {_key(one.id, one.subject): [] for one in record.commits}
    made = [(one, frozenset(one.paths)) for one in record.commits]
    staged = {
        name: _key(one.id, one.subject) for one in record.commits for name in one.paths if name
    }
    for path, used in reversed(edited(record)):
        for name in _above(path):
            staged.pop(name, None)
        if commit := _commit_of(record, path, used, made):
            held.setdefault(commit, []).append(f"{path}{_line_of(used)}")
        else:
            loose.append((path, used))
    for name, commit in staged.items():  # that nobody was seen to edit
        held[commit] += [name] if name[-1] != "/" else []
    places = {one.id: one.place for one in record.commits}
    for (name, subject), paths in held.items():
        place = places.get(name)
        when = f" (turn {turn_number(record, place)})" if place else ""
        text = f"commit {plain_name(name)} {quoted(subject)}{when}"
        yield Change(place.op if place else record.op, text, paths, is_commit=True)
    said = ""
    for path, used in loose:
        told = used.said or _answer(record, used.edited)
        words = told * (told != said)
        yield Change(used.edited.op, _describe_edit(record, path, used, words, bool(held)), [path])
        said = told or said


def _answer(record: Record, place: Place) -> str:
    """Return head and end of the answer of the turn in which an edit was made."""
    turn = turn_at(record, place)
    is_answered = turn and turn.said_op >= place.op and not turn.works_on and not turn.interrupted
    return both_ends(turn.said, ANSWER_CHARS) if turn and is_answered else ""


def _above(path: str) -> list[str]:
    """Return the path and every folder above it."""
    return [path, *(path[:at] for at, mark in enumerate(path) if mark == "/" and at)]


def _by_folder(paths: list[str], room: int) -> list[str]:
    if not paths:
        return []
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        folders.setdefault(folder or ".", []).append(name)
    begins = f"{counted(len(paths), 'more file')} ({MORE}): "
    named = "; ".join(f"{folder}/: {', '.join(names)}" for folder, names in folders.items())
    return [begins + flat(named, max(SHORT_CHARS, room - len(begins) - PER_ITEM))]


def _key(name: str, subject: str) -> Commit:
    return name, flat(subject, SHORT_CHARS)


def _commit_of(
    record: Record, path: str, used: FileUse, made: Sequence[tuple[PrintedCommit, frozenset[str]]]
) -> Commit | None:
    """Return the commit that holds the newest edit of a file: as git's log says, else the first
    that was printed after the edit and took it."""
    if not used.edited.op:
        return None
    edited_at = used.edited.at[:SECOND_CHARS]
    for logged in record.git_log.commits if record.git_log else ():
        if path in logged.files and logged.at[:SECOND_CHARS] >= edited_at:
            return _key(logged.id, logged.subject)
    names = _above(path)
    for one, staged in made:
        is_later = one.place.op >= used.edited.op
        if is_later and (not staged.isdisjoint(names) or _takes_all(one, path, used.edited.op)):
            return _key(one.id, one.subject)
    return None


def _takes_all(made: PrintedCommit, path: str, edited_op: int) -> bool:
    """Whether a commit took all that git looked after, and with it this file: if no commit before
    it that printed nothing may have taken it."""
    wide = [one for one in made.paths if not one or one[-1] == "/"]
    is_inside = any(path.startswith(one) if one else path[:1] not in "/~" for one in wide)
    return is_inside and edited_op > made.since_op


def _line_of(used: FileUse) -> str:
    return f":{used.line}" if used.line and not used.gone else ""


def _describe_edit(record: Record, path: str, used: FileUse, words: str, is_loose: bool) -> str:
    """Return a file with what the model said at its newest edit, or at the end of that turn."""
    told = [quoted(words)] * bool(words)
    told += ["removed since"] * (used.gone and used.is_changed)
    by = "by a subagent" if used.by_agents else "by a command" if used.written else "removed"
    when = [
        "" if used.edits else by,
        f"turn {turn_number(record, used.edited)}",
        f"in all +{used.added} -{used.removed} lines" if used.added or used.removed else "",
        "no commit seen since" * is_loose,
    ]
    begins = f"{path}{_line_of(used)} ({', '.join(filter(None, when))})"
    return f"{begins}{': ' * bool(told)}{', '.join(told)}"


def issues(record: Record) -> Iterator[str]:
    """Yield what could not be read, and the commands that failed and have not succeeded since:
    those of the last turn with their output, earlier ones on one line."""
    if record.lost:
        yield f"{record.lost} entries of the transcript could not be read, and are missing here"
    if record.unread:
        yield describe_unread(record)
    if record.starts_midway:
        yield "the transcript begins midway: earlier words are in another file"
    older = []
    for line, failed in _failing(record):
        if failed.place.op > began(record):
            told = [single_marks(one) for one in failed.lines]
            while len(told) > 1 and sum(map(len, told)) > OUTPUT_CHARS:
                told.pop()
            yield "\n".join([_describe_failure(record, line, failed, COMMAND_CHARS), *told])
        else:
            end = quoted(flat(" ".join(failed.lines), SHORT_CHARS))
            older.append(f"{_describe_failure(record, line, failed, SHORT_CHARS)}: {end}")
    yield from older[:MOST_OLDER]
    if older[MOST_OLDER:]:
        yield f"({len(older) - MOST_OLDER} more failed in earlier turns: {MORE})"


def _failing(record: Record) -> Iterator[tuple[str, FailedRun]]:
    """Yield the failed commands. Of those before the current request, what git printed before a
    newer commit is past; so is a script, which nobody runs again, and what succeeded since in
    another form."""
    began_op = began(record)
    committed_op = record.commits[-1].place.op if record.commits else 0
    for line, failed in commands.failing(record):
        is_older = failed.place.op <= began_op
        is_gits = bool(shell.git_verbs(line)) and failed.place.op <= committed_op
        if not is_gits and not (is_older and ("<<" in line or failed.later_ok)):
            yield line, failed


def _describe_failure(record: Record, line: str, failed: FailedRun, most: int) -> str:
    """Return a failed command as typed, when it failed, and what came after."""
    began, ended = turn_number(record, failed.first), turn_number(record, failed.place)
    turns = f"in turn {ended}" if began == ended else f"from turn {began} to turn {ended}"
    edits = commands.describe_edits(record, record.commands[line])
    told = [f"failed {turns}", *[edits] * bool(edits), "not run again"]
    if failed.later:
        how = "succeeded" if failed.later_ok else "failed"
        told.append(f"{code(failed.later, LATER_CHARS)} {how} at step {failed.later_op}")
    return f"{_command(line, most)} ({', '.join(told)})"


def _command(line: str, most: int) -> str:
    """Return a command as typed, without the content of a script."""
    begins, script, _ = line.partition("<<")
    return f"{code(f'{begins}{script}', most)}{' …' * bool(script)}"


def last_runs(record: Record) -> Iterator[str]:
    """Yield what was run after the newest edits, the newest first: as typed, when, how many edits
    came after, and the end of what it printed. Before the last edit, only the current request
    counts. Lines that differ only behind a pipe are one command. What is quoted elsewhere is left
    out: failures, and what git printed."""
    elsewhere = {line for line, _ in _failing(record)}
    newest: dict[str, tuple[str, Command]] = {}
    for line, one in sorted(record.commands.items(), key=lambda pair: pair[1].place.op):
        key = " && ".join(" ".join(words) for _, words in shell.simple_commands(line))
        is_over = one.ok is not None and line not in elsewhere
        if is_over and key and not key.startswith("git "):
            newest.pop(key, None)
            newest[key] = line, one
    last_edit = max((one.edits_before for _, one in newest.values()), default=0)
    runs = [run for run in newest.values() if run[1].edits_before == last_edit > 0]
    for line, one in runs[: -MOST_RUNS - 1 : -1]:
        edits = commands.describe_edits(record, one)
        if edits and one.place.op <= began(record):
            continue
        end = flat(clip_start(one.printed, SHORT_CHARS), SHORT_CHARS)
        words = f": {quoted(end)}" if end else ""
        when = f"{describe_place(record, one.place)}, {edits or 'no edit since'}"
        when = when if one.ok else f"failed, {when}"
        yield f"{_command(line, COMMAND_CHARS)} ({when}){words}"


def git_state(record: Record) -> Iterator[str]:
    """Yield the branch, and what git printed last for each verb since the newest commit, which
    stands under what changed."""
    if branch := git.describe_branch(record):
        yield branch
    made = record.commits[-1].place if record.commits else Place()
    for verb, answer in sorted(record.git.items(), key=lambda pair: -pair[1].place.op):
        if answer.place.op < made.op or (verb == "commit" and answer.place == made):
            continue
        edits = f"{counted(answer.edits, 'edit')} since" if answer.edits else "no edit since"
        how = "failed, " if answer.failed else ""
        printed = quoted(both_ends(answer.printed, SHORT_CHARS)) if answer.printed else "(nothing)"
        yield f"git {verb} ({how}{describe_place(record, answer.place)}, {edits}): {printed}"
