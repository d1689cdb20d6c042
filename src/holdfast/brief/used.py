"""Items from what was used: files with the names worked on in them, and commands."""

from collections.abc import Iterator
from math import exp, log

from holdfast.brief.complement import Held
from holdfast.brief.fence import clean, code, flat
from holdfast.brief.item import Item
from holdfast.checkpoint.extract.heat import FLOOR, heat_at
from holdfast.checkpoint.facts import Command, Facts, Used

# In a small brief a name must be likely to be of use: of 126 real cuts, the ninth hottest file was
# used again in a quarter, as was the ninth name; the fourth command in a seventh.
TERSE_CHARS = 3600
TERSE_FILES = 9
TERSE_NAMES = 9
TERSE_COMMANDS = 3
MOST_FILES = 120
MOST_NAMES = 400
MOST_SHOWN = 40
MOST_COMMANDS = 24
LONGEST_COMMAND = 240


def files(facts: Facts, held: Held, limit: int) -> Iterator[Item]:
    """Hottest first. Each is split so that its shown name is found nowhere else."""
    now = facts.op
    heats = {
        key: heat_at(one, now) + FLOOR * one.count
        for key, one in facts.files.items()
        if not held.file(key)
    }
    most = TERSE_FILES if limit < TERSE_CHARS else MOST_FILES
    ranked = sorted(heats, key=lambda key: (-heats[key], key))[:most]
    splits = _splits(facts.files)
    terse = limit < TERSE_CHARS
    for rank, key in enumerate(ranked):
        folder, name = splits[key]
        used = facts.files[key]
        worth = 0.045 * exp(-rank / 5) + 0.002 * exp(-rank / 40)
        text = clean(name) + ("*" if terse and used.edits else "" if terse else _how(used))
        reason = f"used {used.count} times, last at operation {used.op}"
        yield Item("files", text, worth, reason, under=clean(folder), key=key, order=rank)


def _how(used: Used) -> str:
    told = []
    if used.edits:
        told.append(f"edited {used.edits}x" if used.edits > 1 else "edited")
    if used.ranges:
        first, last = used.ranges[-1]
        told.append(f"L{first}-{last}")
    if used.left:
        told.append(f"left: {flat(used.left[-1], 60)}")
    return f" ({', '.join(told)})" if told else ""


def _splits(known: dict[str, Used]) -> dict[str, tuple[str, str]]:
    """Each path as a folder and the shortest end no other path shares."""
    shared: dict[str, int] = {}
    for path in known:
        parts = path.split("/")
        for start in range(len(parts)):
            end = "/".join(parts[start:])
            shared[end] = shared.get(end, 0) + 1
    return {path: _split(path, shared) for path in known}


def _split(path: str, shared: dict[str, int]) -> tuple[str, str]:
    parts = path.split("/")
    for start in range(len(parts) - 2, 0, -1):  # one folder stays with the name: it says more
        end = "/".join(parts[start:])
        if shared[end] == 1:
            return "/".join(parts[:start]) + "/", end
    return "", path


def names(facts: Facts, held: Held, limit: int) -> Iterator[Item]:
    """Rare ones before those that are everywhere; each under the file it was written or read in."""
    now = facts.op
    heats = {
        key: (heat_at(one, now) + FLOOR * one.count) * log(1 + max(now, 1) / (1 + one.count))
        for key, one in facts.names.items()
        if not held.name(key)
    }
    most = TERSE_NAMES if limit < TERSE_CHARS else MOST_NAMES
    ranked = sorted(heats, key=lambda key: (-heats[key], key))[:most]
    read_in = {name: file for file, found in facts.shown.items() for name in found}
    for rank, key in enumerate(ranked):
        one = facts.names[key]
        worth = 0.011 * exp(-rank / 8) + 0.0012 * exp(-rank / 100)
        reason = f"written {one.count} times, last at operation {one.op}"
        file = one.file or read_in.get(key, "")
        yield Item("names", key, worth, reason, under=file, order=rank)


def shown(facts: Facts, held: Held) -> Iterator[Item]:
    """Names in the files read last that nobody has written yet: for what room is left."""
    rank = 0
    for file, found in reversed(facts.shown.items()):
        for name in [] if held.file(file) else found[:MOST_SHOWN]:
            if name not in facts.names and not held.name(name):
                worth = 0.0002 * exp(-rank / 60)
                yield Item(
                    "names", name, worth, "in a file read lately", under=file, order=1e3 + rank
                )
                rank += 1


def commands(facts: Facts, limit: int) -> Iterator[Item]:
    now = facts.op
    heats = {key: heat_at(one, now) + FLOOR * one.count for key, one in facts.commands.items()}
    ranked = sorted(heats, key=lambda key: (-heats[key], key))[
        : TERSE_COMMANDS if limit < TERSE_CHARS else MOST_COMMANDS
    ]
    for rank, key in enumerate(ranked):
        one = facts.commands[key]
        worth = 0.049 * exp(-rank / 2.5) + 0.006 * exp(-rank / 8)
        reason = f"run {one.count} times, last at operation {one.op}"
        yield Item("commands", _command(one), worth, reason, one.place, order=rank)


def _command(command: Command) -> str:
    how = {True: "passed" if command.kind else "ok", False: "failed", None: "no result"}[command.ok]
    return f"{code(command.line, LONGEST_COMMAND)} {how}"
