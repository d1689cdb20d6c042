"""Items from what was used: commands exactly as run, files with their folder, and names.

Files and names share a small part of the brief: lists of names take room from words, and few of
them are used again.
"""

import builtins
from collections import Counter
from collections.abc import Iterator, Mapping
from math import log

from holdfast.brief.item import EDITED, BriefItem, times
from holdfast.budget.compartments import AMBIENT, BACKGROUND, units
from holdfast.record.model import FLOOR, FileUse, Record, heat_at
from holdfast.record.turns import began
from holdfast.text.fence import code, flat, plain_name

TERSE_CHARS = 3600
LISTED_SHARE, EDITED_SHARE, NAMES_SHARE = 0.08, 0.06, 0.01  # of the brief
MOST_COMMANDS, LONGEST_COMMAND = 8, 200
MOST_NAMES = 200
# Items with this share of the heat are used again in half of all cases: files and commands alike,
# in 401 simulated cuts of real sessions as in 47 real compactions.
EVEN_SHARE = 0.08
COMMAND_WORTH, FILE_WORTH, NAME_WORTH = 0.06, 0.06, 0.03
ASIDE = 0.5  # the worth of a file that is not the project's own text
_MADE_WORDS = (
    "node_modules site-packages dist-packages __pycache__ vendor target build dist venv coverage"
)
_MADE = frozenset(_MADE_WORDS.split())
_LANGUAGE = frozenset(dir(builtins))
RUN_ONCE = 4  # so much less likely to be run again
MOST_KINDS, ABOUT_CHARS, LEAST_WORTH = 5, 300, 1e-6  # of tools, and of endings of files
NO_SHARES: Mapping[str, float] = {}
_MARKS = {True: "", False: "failed at ", None: ""}


def chances(heats: Mapping[str, float]) -> dict[str, float]:
    """Return how likely each is to be used again, the likeliest first."""
    total = sum(heats.values()) or 1.0
    found = {key: heat / (heat + EVEN_SHARE * total) for key, heat in heats.items() if heat > 0}
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def files_and_names(
    record: Record, limit: int, shares: Mapping[str, float] = NO_SHARES
) -> Iterator[BriefItem]:
    """Yield the edited files, then other files and names by how likely each is to be used again,
    as many as fit into their share of the brief, or into the shares that the user set."""
    edited, others = list[BriefItem](), list[BriefItem]()
    for item in _files(record):
        (edited if item.text.endswith(EDITED) else others).append(item)
    share = shares.get(BACKGROUND, 0.0) + shares.get(AMBIENT, 0.0)
    room = int(limit * max(LISTED_SHARE, share))
    folders: set[str] = set()
    names = _fitting(list(_names(record)), int(limit * max(NAMES_SHARE, shares.get(AMBIENT, 0.0))))
    rest = sorted([*others, *names], key=lambda one: -one.worth)
    for item in (*_fitting(edited, int(limit * EDITED_SHARE)), *rest):
        new = units(item.under) if item.under not in folders else 0
        folders.add(item.under)
        room -= units(item.text) + new + 2
        if room < 0:
            return
        yield item


def _fitting(items: list[BriefItem], room: int) -> Iterator[BriefItem]:
    for item in items:
        room -= units(item.text) + 2
        if room < 0:
            return
        yield item


def _files(record: Record) -> Iterator[BriefItem]:
    """Yield the files that were read or edited, the likeliest first, each under its folder. What
    was only named may be no file (`sys.stdin`), or one that nobody looks into."""
    heats = {
        path: _file_heat(record, path, used)
        for path, used in record.files.items()
        if (used.reads or used.is_changed) and not (used.gone or _is_clients(path))
    }
    for rank, (path, chance) in enumerate(chances(heats).items()):
        used = record.files[path]
        folder, slash, name = path.rpartition("/")
        yield BriefItem(
            "files",
            plain_name(name) + (EDITED if used.is_changed else ""),
            FILE_WORTH * chance,
            f"used {times(used.count)}, last at step {used.op}",
            under=plain_name(folder + slash),
            key=path,
            order=rank,
        )


def _file_heat(record: Record, path: str, used: FileUse) -> float:
    heat = heat_at(used, record.op) + FLOOR * used.count
    is_aside = path[:1] in "/.~" or not _MADE.isdisjoint(path.split("/"))
    return heat * (ASIDE if is_aside else 1.0)


def _is_clients(path: str) -> bool:
    """Whether the client saved a tool's answer here; nobody will search it again."""
    return "/tool-results/" in path and "/.claude/" in path


def _names(record: Record) -> Iterator[BriefItem]:
    """Yield identifiers and references (commits, requests, addresses), rare ones before those
    that occur everywhere."""
    now = record.op
    heats = {
        key: (heat_at(one, now) + FLOOR * one.count) * log(1 + max(now, 1) / (1 + one.count))
        for key, one in record.names.items()
        if key not in _LANGUAGE and not key.startswith("__") and key not in record.agents
    }
    for rank, (key, chance) in enumerate([*chances(heats).items()][:MOST_NAMES]):
        one = record.names[key]
        reason = f"named {times(one.count)}, last at step {one.op}"
        yield BriefItem("names", plain_name(key), NAME_WORTH * chance, reason, order=rank)


def commands(record: Record) -> Iterator[BriefItem]:
    """Yield commands as they were typed, the likeliest to be used again first: those of the current
    request, and earlier ones that ran more than once. Those that differ only behind a pipe are one:
    the newest."""
    warmth, newest, counts = dict[str, float](), dict[str, str](), Counter[str]()
    for key, one in record.commands.items():
        before_pipe = key.partition("|")[0].strip()
        line = newest.get(before_pipe, key)
        newest[before_pipe] = line if record.commands[line].op > one.op else key
        heat = heat_at(one, record.op) + FLOOR * one.count
        warmth[before_pipe] = warmth.get(before_pipe, 0.0) + heat
        counts[before_pipe] += one.count
    heats = {
        newest[key]: heat
        for key, heat in warmth.items()
        if counts[key] > 1 or record.commands[newest[key]].op > began(record)
    }
    for rank, (line, chance) in enumerate([*chances(heats).items()][:MOST_COMMANDS]):
        one = record.commands[line]
        reason = f"run {times(one.count)}, last at step {one.op}"
        text = f"{code(line, LONGEST_COMMAND)} ({_MARKS[one.ok]}step {one.op})"
        worth = COMMAND_WORTH * chance / (1 if one.count > 1 else RUN_ONCE)
        yield BriefItem("commands", text, worth, reason, one.place, key=line, order=rank)


def about(record: Record) -> Iterator[BriefItem]:
    """Yield the kind of work: the endings of the files, and the tools. It is the last to be
    taken."""
    endings = Counter(path.rpartition(".")[2] for path in record.files if "." in path)
    counts = (f"{name} {count}" for name, count in [*_most(record.tools), *_most(endings)])
    if told := ", ".join(counts):
        yield BriefItem("about", flat(told, ABOUT_CHARS), LEAST_WORTH, "the kind of work")


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: -pair[1])[:MOST_KINDS]
