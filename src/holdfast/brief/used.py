"""Items from what was used: files and commands."""

from collections.abc import Iterator

from holdfast.brief.chance import ranked
from holdfast.brief.complement import Held
from holdfast.brief.fence import clean, code, flat
from holdfast.brief.item import EDITED, Item, times
from holdfast.brief.paths import is_aside, is_of_client, same_files, splits
from holdfast.checkpoint.extract.heat import FLOOR, heat_at
from holdfast.checkpoint.facts import Command, Facts, Used

TERSE_CHARS = 3600
FILE_WORTH = 0.06
COMMAND_WORTH = 0.06
MOST_FILES = 120
MOST_COMMANDS = 24
LONGEST_COMMAND = 240
ASIDE = 0.5  # what a file is worth that is not the project's own text


def file_heats(facts: Facts) -> dict[str, float]:
    """How warm each file is, by whatever name; what is not the project's own text, less so."""
    heats: dict[str, float] = {}
    for path, known in same_files(facts.files).items():
        one = facts.files[path]
        if is_of_client(known) or one.gone:
            continue
        heat = (heat_at(one, facts.op) + FLOOR * one.count) * (ASIDE if is_aside(known) else 1.0)
        heats[known] = heats.get(known, 0.0) + heat
    return heats


def files(facts: Facts, held: Held, limit: int) -> Iterator[Item]:
    """Hottest first. Each is split so that its shown name is found nowhere else."""
    warm = file_heats(facts)
    heats = {key: heat for key, heat in warm.items() if not held.file(key)}
    shortest = splits(facts.files)
    terse = limit < TERSE_CHARS
    for rank, (key, chance) in enumerate(ranked(heats, limit, MOST_FILES)):
        folder, name = shortest[key]
        used = facts.files[key]
        text = clean(name) + (EDITED if terse and used.edits else "" if terse else _how(used))
        reason = f"used {times(used.count)}, last at operation {used.op}"
        worth = FILE_WORTH * chance
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


def commands(facts: Facts, limit: int) -> Iterator[Item]:
    now = facts.op
    heats = {key: heat_at(one, now) + FLOOR * one.count for key, one in facts.commands.items()}
    for rank, (key, chance) in enumerate(ranked(heats, limit, MOST_COMMANDS)):
        one = facts.commands[key]
        worth = COMMAND_WORTH * chance
        reason = f"run {times(one.count)}, last at operation {one.op}"
        yield Item("commands", _command(one), worth, reason, one.place, key=key, order=rank)


def _command(command: Command) -> str:
    how = {True: "ok", False: "failed", None: "no result"}[command.ok]
    return f"{code(command.line, LONGEST_COMMAND)} {how}"
