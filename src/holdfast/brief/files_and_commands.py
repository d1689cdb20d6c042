"""Items from what was used: files, commands and names, by how likely each is to be used again.

Of the names that were written or read, only the few most valuable are listed for each file.
"""

import builtins
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from math import exp, log

from holdfast.brief.complement import HeldBySummary
from holdfast.brief.item import EDITED, BriefItem, times
from holdfast.record.failures import PASSED, UNCLEAR, outcome
from holdfast.record.model import FLOOR, Command, FileUse, Record, heat_at
from holdfast.record.run_output import is_error
from holdfast.record.runs import program_of
from holdfast.record.shell import ELSEWHERE
from holdfast.text.fence import code, flat, plain_name

_MADE_WORDS = (
    "node_modules site-packages dist-packages __pycache__ vendor target build dist venv coverage"
)
_MADE = frozenset(_MADE_WORDS.split())
_MADE_ENDS = (".log", ".lock", ".pdf", ".pyc", ".o", ".map", ".min.js")
_BEFORE = ("../", "./", "@", "a/", "b/")


def is_of_client(path: str) -> bool:
    """Whether the client saved a tool's answer here; nobody will search it again."""
    return "/tool-results/" in path and "/.claude/" in path


def is_aside(path: str) -> bool:
    """Whether a path is outside the project, hidden, installed, or built."""
    return path[:1] in "/.~" or path.endswith(_MADE_ENDS) or not _MADE.isdisjoint(path.split("/"))


def same_files(known: dict[str, FileUse]) -> dict[str, str]:
    """Return for each path the file that it means.

    A command or a diff may name a file relative to another folder. A file that was read or edited
    was given to a tool with its full path, and means itself.
    """
    owners: dict[str, str] = {}
    for path in known:
        for end in _ends(path)[1:]:
            owners[end] = "" if end in owners else path
    return {path: _resolve_path(path, known, owners) for path in known}


def _resolve_path(path: str, known: dict[str, FileUse], owners: dict[str, str]) -> str:
    if known[path].reads or known[path].edits:
        return path
    bare = path
    while bare.startswith(_BEFORE) and bare not in owners:
        bare = next(bare.removeprefix(one) for one in _BEFORE if bare.startswith(one))
        if bare in known:
            return bare
    return owners.get(bare) or path


def splits(paths: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Split each path into a folder and the shortest end that no other path has."""
    paths = list(paths)
    shared: dict[str, int] = {}
    for path in paths:
        for end in _ends(path):
            shared[end] = shared.get(end, 0) + 1
    return {path: _split(path, shared) for path in paths}


def _split(path: str, shared: dict[str, int]) -> tuple[str, str]:
    parts = path.split("/")
    for start in range(len(parts) - 1, 0, -1):
        end = "/".join(parts[start:])
        if shared[end] == 1:
            return "/".join(parts[:start]) + "/", end
    return "", path


def _ends(path: str) -> list[str]:
    """Return the path and its rest after each slash. Joining parts would take twice as long."""
    found, at = [path], path.find("/")
    while at >= 0:
        found.append(path[at + 1 :])
        at = path.find("/", at + 1)
    return found


# Items with this share of the heat are used again in half of all cases: files and commands alike,
# in 401 simulated cuts of real sessions as in 47 real compactions.
EVEN_SHARE = 0.08
# The smaller a brief, the likelier its items: an eighth at 500 tokens; past 5,000 characters, any.
LEAST_CHANCE = 0.2
ROOMY_CHARS = 5000


def chances(heats: Mapping[str, float]) -> dict[str, float]:
    total = sum(heats.values()) or 1.0
    return {key: heat / (heat + EVEN_SHARE * total) for key, heat in heats.items() if heat > 0}


def rank_by_chance(
    heats: Mapping[str, float], limit: int, most: int
) -> Iterator[tuple[str, float]]:
    """Yield the likeliest first, each with its chance: zero if a brief of this size is too small
    for it."""
    least = LEAST_CHANCE * max(0.0, 1 - limit / ROOMY_CHARS)
    found = chances(heats)
    for key in sorted(found, key=lambda key: (-found[key], key))[:most]:
        yield key, found[key] if found[key] >= least else 0.0


TERSE_CHARS = 3600
FILE_WORTH = 0.06
COMMAND_WORTH = 0.06
ERROR_WORTH = 0.06
MOST_FILES = 120
MOST_COMMANDS = 24
LONGEST_COMMAND = 140
MOST_ERRORS = 6
GOOD = (PASSED, "")  # how a command went that is worth running again
MOST_RANGED = 6  # files shown with the lines edited last
RAN = 0.5  # the worth of a file that only commands named
ASIDE = 0.5  # the worth of a file that is not the project's own text


def file_heats(record: Record) -> dict[str, float]:
    """Return the heat of each file under one name; it is lower for files that are not the project's
    own text."""
    heats: dict[str, float] = {}
    for path, known in same_files(record.files).items():
        one = record.files[path]
        if is_of_client(known) or one.gone or known.startswith(ELSEWHERE):
            continue
        heat = heat_at(one, record.op) + FLOOR * one.count
        heat *= ASIDE if is_aside(known) else 1.0
        heat *= RAN if one.runs and not (one.reads or one.edits) else 1.0
        heats[known] = heats.get(known, 0.0) + heat
    return heats


def files(record: Record, held: HeldBySummary, limit: int) -> Iterator[BriefItem]:
    """Yield the hottest first. Each path is split so that the shown name is unique."""
    warm = file_heats(record)
    heats = {key: heat for key, heat in warm.items() if not held.file(key)}
    shortest = splits(record.files)
    worked_in = {shortest[key][0] for key in heats if record.files[key].edits}
    terse = limit < TERSE_CHARS
    for rank, (key, chance) in enumerate(rank_by_chance(heats, limit, MOST_FILES)):
        folder, name = shortest[key]
        used = record.files[key]
        if folder not in worked_in:  # enough of the path to find the file
            folder = folder[folder.rfind("/", 0, -1) + 1 :]
        told = EDITED if terse and used.edits else "" if terse else _how(used, rank < MOST_RANGED)
        text = plain_name(name) + told
        reason = f"used {times(used.count)}, last at step {used.op}"
        worth = FILE_WORTH * chance
        yield BriefItem("files", text, worth, reason, under=plain_name(folder), key=key, order=rank)


def _how(used: FileUse, with_lines: bool) -> str:
    told = []
    if used.edits:
        told.append(f"edited {used.edits}x" if used.edits > 1 else "edited")
    if used.ranges and with_lines:
        first, last = used.ranges[-1]
        told.append(f"L{first}-{last}")
    if used.left:
        told.append(f"left: {flat(used.left[-1], 60)}")
    return f" ({', '.join(told)})" if told else ""


def commands(record: Record, held: HeldBySummary, limit: int) -> Iterator[BriefItem]:
    now = record.op
    heats = {
        key: heat_at(one, now) + FLOOR * one.count
        for key, one in record.commands.items()
        if not held.command(key)
    }
    for rank, (key, chance) in enumerate(rank_by_chance(heats, limit, MOST_COMMANDS)):
        yield _command_item(record, key, COMMAND_WORTH * chance, rank)


def last_forms(record: Record, held: HeldBySummary) -> Iterator[BriefItem]:
    """Yield the newest good run of each program, newest first, unless the model has one of that
    program. How a thing is built or deployed is needed again long after it was done once; by heat
    alone, one program with many targets takes all the room."""
    newest: dict[str, str] = {}
    known = {""}
    for key, one in sorted(record.commands.items(), key=lambda pair: pair[1].op):
        program = program_of(key)
        if held.command(key):
            known.add(program)
        elif outcome(one) in GOOD:
            newest.pop(program, None)
            newest[program] = key
    missing = [key for program, key in newest.items() if program not in known]
    for rank, key in enumerate(reversed(missing)):
        yield _command_item(record, key, COMMAND_WORTH, rank)


def _command_item(record: Record, key: str, worth: float, rank: int) -> BriefItem:
    one = record.commands[key]
    reason = f"run {times(one.count)}, last at step {one.op}"
    text = _command(key, one, record.edited_op)
    return BriefItem("commands", text, worth, reason, one.place, key=key, order=rank)


def _command(key: str, command: Command, edited_op: int) -> str:
    """Return what a command does, without its pipes; for a program that reads its input, the head
    of that. A test or build that passed proves nothing about later edits."""
    is_stale = bool(command.kind) and command.op < edited_op
    went = {PASSED: "ok, before the last edit" if is_stale else "ok", UNCLEAR: "result unclear"}
    how = went.get(outcome(command), outcome(command))
    line = command.line if "<<" in command.line else key
    return f"{code(line, LONGEST_COMMAND)} {how}".rstrip()


def errors(record: Record) -> Iterator[BriefItem]:
    """Yield lines with an error that commands printed although they passed, or before they passed:
    such errors tend to return."""
    mended = {one.command for one in record.failures if one.fixed}
    known = [
        one for one in record.commands.items() if one[1].ok is not False and is_error(one[1].said)
    ]
    for age, (key, one) in enumerate(sorted(known, key=lambda pair: -pair[1].op)[:MOST_ERRORS]):
        when = "printed before it passed" if key in mended else "printed"
        text = f"{code(key, 60)} {when}: " + " / ".join(flat(line, 140) for line in one.said)
        yield BriefItem(
            "commands", text, ERROR_WORTH / (1 + age), "an error it printed", order=1e3 + age
        )


NAME_WORTH = 0.03
SHOWN_WORTH = 0.0002
MOST_NAMES = 400
# Too many names help nobody: each file has few, and more if it is likely to be used again.
FEW, MORE = 8, 20
BEYOND = 0.3  # the worth of the next few
# Names of a language or a test framework.
_COMMON_WORDS = (
    "TestCase setUp tearDown setUpClass tearDownClass beforeEach afterEach beforeAll afterAll "
    "toBe toEqual toContain toThrow toHaveLength toBeDefined toHaveBeenCalled toHaveBeenCalledWith "
    "mockReturnValue mockResolvedValue"
)
_COMMON = frozenset((*_COMMON_WORDS.split(), *dir(builtins)))


def names(record: Record, held: HeldBySummary, limit: int) -> Iterator[BriefItem]:
    """Yield names under their files: written ones and, if there is room, those that were only
    read."""
    likely = chances(file_heats(record))
    inside: Counter[str] = Counter()
    read = _read(record, held) if limit >= TERSE_CHARS else ()
    for item in chain(_written(record, held, limit), read):
        inside[item.under] += 1
        few = FEW + MORE * likely.get(item.under, 0.0)
        if inside[item.under] > few:
            item.worth *= BEYOND if inside[item.under] <= min(few + FEW, FEW + MORE) else 0.0
        yield item


def _written(record: Record, held: HeldBySummary, limit: int) -> Iterator[BriefItem]:
    """Yield rare names before those that occur everywhere, each under the file it was written or
    read in."""
    now = record.op
    heats = {
        key: (heat_at(one, now) + FLOOR * one.count) * log(1 + max(now, 1) / (1 + one.count))
        for key, one in record.names.items()
        if key != _stem(one.file)
        and not held.name(key)
        and not is_everywhere(key)
        and not _is_gone(record, one.file)
    }
    read_in = {name: file for file, found in record.shown.items() for name in found}
    for rank, (key, chance) in enumerate(rank_by_chance(heats, limit, MOST_NAMES)):
        one = record.names[key]
        reason = f"written {times(one.count)}, last at step {one.op}"
        file = one.file or read_in.get(key, "")
        yield BriefItem("names", key, NAME_WORTH * chance, reason, under=file, order=rank)


def is_everywhere(word: str) -> bool:
    """Whether a name belongs to a language or framework, not to this work."""
    if word in _COMMON or word.startswith("__"):
        return True
    return word.startswith("assert") and word[6:7].isupper()


def _is_gone(record: Record, file: str) -> bool:
    known = record.files.get(file)
    return known is not None and known.gone


def _stem(path: str) -> str:
    return path.rpartition("/")[2].partition(".")[0]


def _read(record: Record, held: HeldBySummary) -> Iterator[BriefItem]:
    """Yield names in the files read last that nobody has written yet."""
    rank = 0
    for file, found in reversed(record.shown.items()):
        for name in [] if held.text(file) or _is_gone(record, file) else found:
            if name not in record.names and not held.name(name) and not is_everywhere(name):
                worth = SHOWN_WORTH * exp(-rank / 60)
                yield BriefItem(
                    "names", name, worth, "in a file read lately", under=file, order=1e3 + rank
                )
                rank += 1
