"""What was edited and what was run, as a checkpoint quotes it: files with their commits, failures,
what ran after the newest edits, and what git said."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from holdfast.checkpoint.room import MORE, PER_ITEM, size
from holdfast.record import commands, git
from holdfast.record.model import FileUse, Place, Record, describe_unread
from holdfast.record.turns import began, turn_at, turn_number
from holdfast.text.fence import code, flat, plain_name, quoted
from holdfast.text.numbers import counted
from holdfast.text.sentences import clip, sentences

SHORT_CHARS = 200
COMMAND_CHARS = 400  # whole, but for scripts
ANSWER_CHARS = 160
EDITED_SHARE = 0.8  # of the room: for files with words
MOST_LINES = 4  # of what a failed command printed
MOST_OLDER, MOST_RUNS = 3, 5
MINUTE_CHARS = len("2026-11-19T08:15")
SECOND_CHARS = len("2026-11-19T08:15:30")


def describe_place(record: Record, place: Place) -> str:
    minute = f", {clip(place.at, MINUTE_CHARS).replace('T', ' ')}" if place.at else ""
    return f"turn {turn_number(record, place)}{minute}"


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
    was done to it. Without room, commits stand without their files, and what is left out by
    folder."""
    changes = sorted(_find_changes(record), key=lambda one: (-one.op, not one.before_paths))
    whole = [one.whole for one in changes]
    if size(whole) <= room:
        return whole
    shown: list[str] = []
    left: list[str] = []
    for one in changes:
        forms = [] if left else [one.whole]
        forms += [one.text] * bool(one.before_paths)
        fitting = (form for form in forms if size([*shown, form]) <= room * EDITED_SHARE)
        form = next(fitting, "")
        shown += [form] * bool(form)
        left += [] if form == one.whole else one.paths
    return shown + _by_folder(left, room - size(shown))


def _find_changes(record: Record) -> Iterator[Change]:
    """Yield each commit: with the files that git named, or, if it was not asked, with those that
    were last edited before it. Then each file that was edited since."""
    logged = record.git_log.commits if record.git_log else []
    places = {_key(one.id, one.subject): one.place for one in record.commits}
    held: dict[str, list[str]] = {commit: [] for commit in places}
    for path, used in reversed(edited(record)):
        at, op = used.edited.at[:SECOND_CHARS], used.edited.op
        by_log = (_key(one.id, one.subject) for one in logged if path in one.files and at <= one.at)
        later = (
            commit
            for commit, place in places.items()
            if not record.git_log and place.op >= op and path[0] not in "/~"
        )
        if commit := next(by_log, "") or next(later, ""):
            held.setdefault(commit, []).append(path)
        else:
            yield Change(op, _describe_edit(record, path, used), [path])
    for commit, paths in held.items():
        place = places.get(commit)
        if place:
            when = f" (turn {turn_number(record, place)})"
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
    named = "; ".join(f"{folder}/: {', '.join(names)}" for folder, names in folders.items())
    return [begins + flat(named, max(SHORT_CHARS, room - len(begins) - PER_ITEM))]


def _key(name: str, subject: str) -> str:
    return f"commit {plain_name(name)}".strip() + f" {quoted(flat(subject, SHORT_CHARS))}"


def _describe_edit(record: Record, path: str, used: FileUse) -> str:
    words = _find_words(record, path, used)
    told = [quoted(words)] * bool(words) + ["removed since"] * (used.gone and used.is_changed)
    by = "by a subagent" if used.by_agents else "by a command" if used.written else "removed"
    when = [
        "" if used.edits else by,
        f"turn {turn_number(record, used.edited)}",
        f"in all +{used.added} -{used.removed} lines" if used.added or used.removed else "",
    ]
    begins = f"{path} ({', '.join(filter(None, when))})"
    return f"{begins}{': ' * bool(told)}{', '.join(told)}"


def _find_words(record: Record, path: str, used: FileUse) -> str:
    """Return the sentence of the answer that names the file, else the words at the edit."""
    turn, name = turn_at(record, used.edited), path.rpartition("/")[2]
    is_answered = turn and turn.said_op >= used.edited.op and not turn.works_on
    said = sentences(turn.said.replace(" […] ", "\n")) if turn and is_answered else []
    named = (one for one in said if name in one and len(one) > 2 * len(name) and one[-1] != ":")
    return flat(next(named, used.said), ANSWER_CHARS)


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
    older = [text for run, text in failed if run.place.op <= began(record)]
    yield from (text for _, text in failed[: len(failed) - len(older) + MOST_OLDER])
    if older[MOST_OLDER:]:
        yield f"({len(older) - MOST_OLDER} more failed in earlier turns: {MORE})"


def last_runs(record: Record) -> Iterator[str]:
    """Yield the newest run of each check: as typed, when, edits since, the end of its output."""
    for line, one, _ in commands.newest_checks(record)[:MOST_RUNS]:
        edits = commands.describe_edits(record, one) or "no edit since"
        end = commands.end_of_output(one, SHORT_CHARS)
        how = "" if one.ok else "failed, "
        when = f"{how}{describe_place(record, one.place)}, {edits}"
        yield f"{code(line, COMMAND_CHARS)} ({when})" + f": {quoted(end)}" * bool(end)


def git_state(record: Record) -> Iterator[str]:
    """Yield the branch, and what git printed last. The commits stand under what changed."""
    if branch := git.describe_branch(record):
        yield branch
    made = {commit.place for commit in record.commits}
    for answer in git.answers(record):
        if answer.place not in made:
            yield git.describe_answer(
                answer, f"in {describe_place(record, answer.place)}", is_short=True
            )
