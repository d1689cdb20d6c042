"""Items from what was used: files with their folder, and commands exactly as run.

Files have a small part of the brief: lists take room from words, and a third of them is used again.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from holdfast.brief.item import EDITED, BriefItem, times
from holdfast.budget.compartments import BACKGROUND, units
from holdfast.record.commands import newest_runs
from holdfast.record.model import Record, rank
from holdfast.text.fence import code, flat, plain_name

FILES_SHARE, EDITED_PART = 0.08, 0.75  # of the brief; of that, for edited ones
MOST_COMMANDS, MOST_OTHERS, LONGEST_COMMAND = 5, 8, 200
MOST_UNCHECKED, UNCHECKED_WORTH = 30, 0.004
# Items with this share of the heat are used again in half of all cases: files and commands alike,
# in 401 simulated cuts of real sessions as in 47 real compactions.
EVEN_SHARE = 0.08
COMMAND_WORTH, FILE_WORTH = 0.06, 0.06
ASIDE = 0.5  # the worth of a file that is not the project's own text
RUN_ONCE = 4  # so much less likely to be run again
MOST_KINDS, ABOUT_CHARS, LEAST_WORTH = 5, 300, 1e-6  # of tools, and of endings of files
NO_SHARES: Mapping[str, float] = {}
_MARKS = {True: "", False: "failed at ", None: ""}


def chances(heats: Mapping[str, float]) -> dict[str, float]:
    """Return how likely each is to be used again, the likeliest first."""
    total = sum(heats.values()) or 1.0
    found = {key: heat / (heat + EVEN_SHARE * total) for key, heat in heats.items() if heat > 0}
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def files(
    record: Record, limit: int, shares: Mapping[str, float] = NO_SHARES
) -> Iterator[BriefItem]:
    """Yield the files that were read or edited, each under its folder, edited ones first and then
    by how likely each is to be used again: as many as fit into their share of the brief, or into
    the share that the user set. What was only named may be no file (`sys.stdin`)."""
    room = int(limit * max(FILES_SHARE, shares.get(BACKGROUND, 0.0)))
    most = {True: int(room * EDITED_PART), False: room}
    folders: set[str] = set()
    for item in sorted(_files(record), key=lambda file: not file.text.endswith(EDITED)):
        size = units(item.text) + 2
        size += units(item.under) if item.under not in folders else 0
        is_edited = item.text.endswith(EDITED)
        if size > min(room, most[is_edited]):
            continue
        folders.add(item.under)
        room, most[is_edited] = room - size, most[is_edited] - size
        yield item


def _files(record: Record) -> Iterator[BriefItem]:
    heats = {
        path: rank(used, record.op) * (ASIDE if path[0] in "/.~" else 1)
        for path, used in record.files.items()
        if (used.reads or used.is_changed) and not (used.gone or _is_clients(path))
    }
    for order, (path, chance) in enumerate(chances(heats).items()):
        used = record.files[path]
        folder, slash, name = path.rpartition("/")
        yield BriefItem(
            "files",
            plain_name(name) + (EDITED if used.is_changed else ""),
            FILE_WORTH * chance,
            f"used {times(used.count)}, last at step {used.op}",
            under=plain_name(folder + slash),
            key=path,
            order=order,
        )


def _is_clients(path: str) -> bool:
    """Whether the client saved a tool's answer here; such a file is not worth restoring."""
    return "/tool-results/" in path and "/.claude/" in path


def commands(record: Record) -> Iterator[BriefItem]:
    """Yield checks, the likeliest first; then, in what room is left, the newest others."""
    runs = [run for run in newest_runs(record) if len(run.line) <= LONGEST_COMMAND]
    ran = {run.line: run.command for run in runs}
    checks = {run.line for run in runs if run.is_check}
    known = chances({line: rank(ran[line], record.op) for line in checks})
    others = dict.fromkeys((line for line in ran if line not in checks), 0.0)
    listed = [*[*known.items()][:MOST_COMMANDS], *[*others.items()][:MOST_OTHERS]]
    for order, (line, chance) in enumerate(listed):
        one = ran[line]
        text = f"{code(line, LONGEST_COMMAND)} ({_MARKS[one.ok]}step {one.op})"
        reason = f"run {times(one.count)}, last at step {one.op}"
        worth = COMMAND_WORTH * chance / (1 if one.count > 1 else RUN_ONCE) or LEAST_WORTH
        spare = line in others
        yield BriefItem(
            "commands", text, worth, reason, one.place, key=line, order=order, is_spare=spare
        )


def about(record: Record) -> Iterator[BriefItem]:
    """Yield the endings of the files and the tools. It is the last to be taken."""
    names = (
        path.rpartition("/")[2] for path, one in record.files.items() if one.reads or one.edits
    )
    endings = Counter(name.rpartition(".")[2] for name in names if "." in name)
    counts = (f"{name} {count}" for name, count in [*_most(record.tools), *_most(endings)])
    if told := ", ".join(counts):
        yield BriefItem("about", flat(told, ABOUT_CHARS), LEAST_WORTH, "the kind of work")


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: -pair[1])[:MOST_KINDS]


def unchecked(record: Record) -> Iterator[BriefItem]:
    """Yield the check that passed last, and the files that were changed since, newest first."""
    passed = next((run for run in newest_runs(record) if run.command.ok and run.is_check), None)
    since = passed.command.op if passed else -1
    changed = [(path, one) for path, one in record.files.items() if one.is_changed and not one.gone]
    changed = [(path, one) for path, one in changed if one.edited.op > since]
    changed.sort(key=lambda pair: -pair[1].edited.op)
    if changed and passed:
        text = f"passed last: {code(passed.line, LONGEST_COMMAND)} at step {since}; changed since:"
        yield BriefItem("unchecked", text, UNCHECKED_WORTH, "what passed last", order=-1)
    for age, (path, one) in enumerate(changed[:MOST_UNCHECKED]):
        text = f"{plain_name(path)}, edited at step {one.edited.op}"
        worth = UNCHECKED_WORTH / (1 + age / 8)
        yield BriefItem("unchecked", text, worth, "no run has passed since", key=path, order=age)
