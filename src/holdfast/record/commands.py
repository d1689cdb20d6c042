"""Commands exactly as they were typed, what each printed last, and which failed and have not
succeeded since.

The line as typed is the key, and the client's error mark decides. A failed line is closed by its
own success, or by that of the same program with no narrower target. Everything else that ran since
is quoted beside it, not judged.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

import msgspec

from holdfast.record import files, git, shell, turns
from holdfast.record.model import Command, FailedRun, GitAnswer, Place, Record, keep_most_used
from holdfast.redact.find import redact
from holdfast.text.fence import code, flat
from holdfast.text.numbers import counted
from holdfast.text.sentences import clip, clip_start, within

MOST_COMMANDS, MOST_FAILED = 200, 60
PRINTED_CHARS = 300
SHOWN_CHARS, LATER_CHARS = 300, 80  # of a command
LINE_CHARS, ONE_LINE_CHARS = 200, 320  # of what it printed
EDGE_CHARS = 6000  # of an output, at each end, that are searched for message and place
MOST_LINES, LONGEST_LINE = 6, 240
NEAR_LINES = 8  # between a message and its place
TRIED_OPS, MOST_EDITED_SINCE = 10, 2
MOST_WRONG = 40  # lines with an error that are looked at
BELOW_LINES = 2  # that go on with a message
_WRONG = (
    *("error", "exception", "panic", "fail", "cannot", "undefined", "expect", "not found"),
    *("denied", "refused", "fatal", "invalid", "unresolved", "✗", "✖", "❌", "✕"),
)
# `gate.rs:58`, `Tide.cs(12,3)`, `File "gate.py", line 3`, `main.tf line 3`, `gate.py::test_open`
_PLACE = re.compile(r"\.[A-Za-z]\w{0,9}(?:[:(]\d|\"?[:,]? line \d|::\w)|file:\d")
NOT_RUN = ("The user doesn't want to ", "[Request interrupted", "<tool_use_error>", "PreToolUse:")
_EXIT_CODE = "Exit code "  # the client's line before the output of a command that failed
_SILENT = "(Bash completed with no output)"  # the client's words


class Run(msgspec.Struct, frozen=True, gc=False):
    """A line that succeeds only if all of its simple commands do."""

    folder: str
    parts: tuple[tuple[frozenset[str], list[str]], ...]  # settings, then program and arguments

    @property
    def names(self) -> list[str]:
        return [word for word in self.parts[0][1] if word[0] != "-"] if self.parts else []


def begin(record: Record, line: str, place: Place) -> str:
    key = redact(line) if record.redacted else line  # keys saved earlier have no secrets any more
    command = record.commands.setdefault(key, Command(place, record.cwd))
    command.place, command.ok, command.printed, command.cwd = place, None, "", record.cwd
    command.follows_edit = bool(record.recent) and record.recent[-1].tool in files.EDITS
    command.count, command.edits_before = command.count + 1, record.edits
    command.op = record.op
    if len(record.commands) > 2 * MOST_COMMANDS:
        _thin(record)
    return key


def _thin(record: Record) -> None:
    failed = {key for key, _ in failing(record)[:MOST_FAILED]}
    others = [key for key in record.commands if key not in failed]
    keep_most_used(record.commands, others, record.op, MOST_COMMANDS)


def end(record: Record, key: str, text: str, place: Place, *, failed: bool) -> None:
    command = record.commands.get(key)
    if command is None or (failed and text.startswith(NOT_RUN)):
        return
    text = text.partition("\n")[2] if text.startswith(_EXIT_CODE) else text
    text = "" if text == _SILENT else text
    command.ok, command.printed = not failed, _worded_end(text)
    before = command.failed if command.failed and command.failed.closed is None else None
    if failed:
        command.failed = FailedRun(before.first if before else place, place, telling_lines(text))
    _note_later(record, key, command, place)


def _worded_end(text: str) -> str:
    """Return the end of an output, without lines of signs alone (`=====`, `^~~~`)."""
    lines = clip_start(text.rstrip(), 4 * PRINTED_CHARS).splitlines()
    worded = (line for line in lines if any(map(str.isalnum, line)))
    return clip_start("\n".join(worded), PRINTED_CHARS)


def _note_later(record: Record, key: str, command: Command, place: Place) -> None:
    run: Run | None = None
    for other, row in record.commands.items():
        failure = row.failed
        if failure is None or failure.closed is not None or (other == key and not command.ok):
            continue
        run = run or _run(key, command.cwd)
        before = _run(other, row.cwd)
        is_settled = other == key or (_covers(run, before) and _is_seen(key, other, command))
        if is_settled:  # it succeeded, or another one fails in its stead
            failure.closed = place
        elif run.names and run.names == before.names:
            failure.later = key


def _is_seen(key: str, other: str, command: Command) -> bool:
    is_script = "<<" in key or "<<" in other
    return not is_script and (not command.ok or shell.shows_exit_code(key))


def unsettled(record: Record) -> list[tuple[str, FailedRun]]:
    """Return the commands that failed and have not succeeded since, newest first. A command that
    failed without a word, as a search that finds nothing does, tells nothing."""
    failures = [
        (key, command.failed)
        for key, command in record.commands.items()
        if command.failed is not None and command.failed.closed is None and command.failed.lines
    ]
    return sorted(failures, key=lambda pair: -pair[1].place.op)


def failing(record: Record) -> list[tuple[str, FailedRun]]:
    """Return those to show. One that named no place is past after ten steps, a script, which nobody
    runs again, with the next request, and one of git once git has answered the same verb."""
    began = turns.began(record)
    return [
        (key, failed)
        for key, failed in unsettled(record)
        if (failed.place.op >= record.op - TRIED_OPS or _names_place(failed.lines))
        and (failed.place.op > began or "<<" not in key)
        and not any(answer.place.op > failed.place.op for answer in _git_answers(record, key))
    ]


class EndedRun(NamedTuple):
    """The newest run of a command. A check ran again, or first after an edit."""

    line: str
    command: Command
    is_check: bool


def newest_runs(record: Record) -> list[EndedRun]:
    """Return the commands that have ended, newest first. Lines with the same commands before their
    pipes are one. What git said is known elsewhere."""
    newest: dict[str, EndedRun] = {}
    for line, command in sorted(record.commands.items(), key=lambda pair: pair[1].place.op):
        words = [words for _, words in shell.simple_commands(line)]
        if words and command.ok is not None and all(some[0] != "git" for some in words):
            key = " && ".join(" ".join(some) for some in words)
            ran_before = newest.pop(key, None) is not None
            is_check = ran_before or command.count > 1 or command.follows_edit
            newest[key] = EndedRun(line, command, is_check)
    return [*newest.values()][::-1]


def _git_answers(record: Record, line: str) -> list[GitAnswer]:
    return [record.git[verb] for verb in shell.git_verbs(line) if verb in record.git]


def newest_checks(record: Record) -> list[EndedRun]:
    """Return the checks after which nothing was edited, and of the current request the newest ones
    before the last edits. What failed stands elsewhere."""
    failed = {line for line, _ in failing(record)}
    checks = [run for run in newest_runs(record) if run.is_check and run.line not in failed]
    current = [run for run in checks if run.command.edits_before == record.edits]
    began = turns.began(record)
    older = [run for run in checks if run not in current and run.command.op > began]
    return current + older[:MOST_EDITED_SINCE]


def describe(record: Record, line: str, failed: FailedRun, most_lines: int) -> str:
    """Return a failed command as typed, since when it fails, what came after, and its message and
    place: on one line for an earlier request, and if its program printed something since."""
    notes = [f"since turn {turns.turn_number(record, failed.first)}"]
    if edits := describe_edits(record, record.commands[line]):
        notes.append(edits)
    later = record.commands.get(failed.later)
    if later is not None:
        end = end_of_output(later, LATER_CHARS) or "(nothing)"
        printed = f"; {code(failed.later, LATER_CHARS)} printed at step {later.op}: {end}"
    text = f"{code(line, SHOWN_CHARS)} ({', '.join(notes)}{printed if later else ''})"
    lines = failed.lines[:most_lines]
    if failed.place.op > turns.began(record) and not failed.later:
        return "\n".join([text, *(flat(words, LINE_CHARS) for words in lines)])
    return f"{text}: {flat(' / '.join(lines), ONE_LINE_CHARS)}"


def end_of_output(command: Command, most: int) -> str:
    return flat(clip_start(redact(command.printed), most), most)


def describe_edits(record: Record, command: Command) -> str:
    count = record.edits - command.edits_before
    return f"{counted(count, 'edit')} since" if count else ""


@lru_cache(shell.KNOWN_LINES)
def _run(line: str, cwd: str) -> Run:
    parts = ((frozenset(settings), words) for settings, words in shell.simple_commands(line))
    return Run(shell.folder_of(line, cwd), tuple(parts))


def _covers(run: Run, failed: Run) -> bool:
    """Whether one run does all that another does: same folder, settings and programs."""
    return run.folder == failed.folder and all(
        any(ours[0] == theirs[0] and _is_as_wide(ours[1], theirs[1]) for ours in run.parts)
        for theirs in failed.parts
    )


def _is_as_wide(wide: list[str], narrow: list[str]) -> bool:
    """Whether the first command runs whatever the second does. Every word of it stands in the
    second or names a folder above one there; what the second has beyond that only narrows it. A
    bare program (`make`) runs something else than one with a verb (`make test`)."""
    if wide[0] != narrow[0]:
        return False
    ours, theirs = ([word for word in words[1:] if word[0] != "-"] for words in (wide, narrow))
    if not all(any(_holds(word, other) for other in theirs) for word in ours):
        return False
    return bool(ours) or all(within("/.:", word) for word in theirs)


def _holds(wide: str, narrow: str) -> bool:
    base = wide.removesuffix("...").rstrip("/")
    return narrow == wide or narrow.startswith((f"{base}/", f"{base}:", f"{base}["))


def telling_lines(text: str) -> list[str]:
    """Return the lines of an output that carry message and place, the most telling first: those
    that name an error, each with the place nearest to it, what follows a line that ends in a colon,
    and what is indented below. Without any, the end."""
    text = text if len(text) <= 2 * EDGE_CHARS else _ends(text)
    printed = [line for line in text.splitlines() if line.strip()]
    indents = [len(line) - len(line.lstrip()) for line in printed]
    lines = [clip(line.strip(), LONGEST_LINE) for line in printed]
    placed = [at for at, line in enumerate(lines) if _PLACE.search(line)]
    wrong = [at for at, line in enumerate(lines) if _names_error(line)]
    chosen: dict[int, None] = {}
    has_place = set(placed)
    for at in sorted(wrong, key=lambda at: at not in has_place)[:MOST_WRONG]:
        group = {at, *_nearest(at, placed)}
        group |= {row + 1 for row in group if lines[row].endswith(":") and row + 1 < len(lines)}
        group |= {*_indented_below(at, indents)}
        if len(chosen.keys() | group) <= MOST_LINES:
            chosen.update(dict.fromkeys(sorted(group)))
    numbers = chosen or {*placed[-1:], *range(len(lines))[-2:]}
    return list(dict.fromkeys(lines[at] for at in numbers))


def _names_error(line: str) -> bool:
    """Whether a line names an error with more than a heading."""
    return len(line.strip("=-_*# ").split()) > 1 and within(_WRONG, line.lower())


def _names_place(lines: list[str]) -> bool:
    return any(_PLACE.search(line) for line in lines)


def _nearest(at: int, placed: list[int]) -> Iterator[int]:
    """Yield the place nearest to a message; compilers print it after the message."""
    near = [number for number in placed if abs(number - at) <= NEAR_LINES]
    yield from sorted(near, key=lambda number: (abs(number - at), number < at))[:1]


def _indented_below(at: int, indents: list[int]) -> Iterator[int]:
    below = range(at + 1, min(at + 1 + BELOW_LINES, len(indents)))
    return takewhile(lambda number: indents[number] > indents[at], below)


def _ends(text: str) -> str:
    return f"{clip(text, EDGE_CHARS)}\n{clip_start(text, EDGE_CHARS)}"


def note_edit(record: Record, names: Iterable[str]) -> None:
    """Count an edit of one or more files, also in what git answered before it."""
    record.edits += 1
    for name in names:
        turns.note_edit(record, name)
        files.note_edit(record, name, turns.words_before(record))
    git.note_edit(record)


def forget(record: Record, key: str) -> None:
    if (command := record.commands.get(key)) and command.count == 1:
        del record.commands[key]
