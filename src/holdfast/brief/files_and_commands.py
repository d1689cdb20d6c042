"""Items from what was used: files and commands."""

from collections.abc import Iterator

from holdfast.brief.complement import Held
from holdfast.brief.item import EDITED, Item, times
from holdfast.brief.paths import is_aside, is_of_client, same_files, splits
from holdfast.brief.reuse_chance import ranked
from holdfast.record.failures import is_error
from holdfast.record.files import ELSEWHERE
from holdfast.record.heat import FLOOR, heat_at
from holdfast.record.model import Command, Record, Used
from holdfast.text.fence import clean, code, flat

TERSE_CHARS = 3600
FILE_WORTH = 0.06
COMMAND_WORTH = 0.06
ERROR_WORTH = 0.06
MOST_FILES = 120
MOST_COMMANDS = 24
LONGEST_COMMAND = 140
MOST_ERRORS = 6
MOST_RANGED = 6  # files with the lines last edited
RAN = 0.5  # what a file is worth that commands named and nobody opened
ASIDE = 0.5  # what a file is worth that is not the project's own text


def file_heats(record: Record) -> dict[str, float]:
    """How warm each file is, by whatever name; what is not the project's own text, less so."""
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


def files(record: Record, held: Held, limit: int) -> Iterator[Item]:
    """Hottest first. Each is split so that its shown name is found nowhere else."""
    warm = file_heats(record)
    heats = {key: heat for key, heat in warm.items() if not held.file(key)}
    shortest = splits(record.files)
    worked_in = {shortest[key][0] for key in heats if record.files[key].edits}
    terse = limit < TERSE_CHARS
    for rank, (key, chance) in enumerate(ranked(heats, limit, MOST_FILES)):
        folder, name = shortest[key]
        used = record.files[key]
        if folder not in worked_in:  # enough of the path to find it by
            folder = folder[folder.rfind("/", 0, -1) + 1 :]
        told = EDITED if terse and used.edits else "" if terse else _how(used, rank < MOST_RANGED)
        text = clean(name) + told
        reason = f"used {times(used.count)}, last at step {used.op}"
        worth = FILE_WORTH * chance
        yield Item("files", text, worth, reason, under=clean(folder), key=key, order=rank)


def _how(used: Used, with_lines: bool) -> str:
    told = []
    if used.edits:
        told.append(f"edited {used.edits}x" if used.edits > 1 else "edited")
    if used.ranges and with_lines:
        first, last = used.ranges[-1]
        told.append(f"L{first}-{last}")
    if used.left:
        told.append(f"left: {flat(used.left[-1], 60)}")
    return f" ({', '.join(told)})" if told else ""


def commands(record: Record, held: Held, limit: int) -> Iterator[Item]:
    now = record.op
    heats = {
        key: heat_at(one, now) + FLOOR * one.count
        for key, one in record.commands.items()
        if not held.command(key)
    }
    for rank, (key, chance) in enumerate(ranked(heats, limit, MOST_COMMANDS)):
        one = record.commands[key]
        worth = COMMAND_WORTH * chance
        reason = f"run {times(one.count)}, last at step {one.op}"
        text = _command(key, one, record.edited_op)
        yield Item("commands", text, worth, reason, one.place, key=key, order=rank)


def _command(key: str, command: Command, edited_op: int) -> str:
    """What it does, without the pipes behind it; of a program on its input, the head of that. A
    test or build that passed proves nothing about what was edited since."""
    unclear = "result unclear" if command.said else "no result"
    passed = "ok, before the last edit" if command.kind and command.op < edited_op else "ok"
    how = {True: passed, False: "failed", None: unclear}[command.ok]
    line = command.line if "<<" in command.line else key
    return f"{code(line, LONGEST_COMMAND)} {how}"


def errors(record: Record) -> Iterator[Item]:
    """Lines with an error that commands printed, though they passed: they tend to come back."""
    known = [
        one for one in record.commands.items() if one[1].ok is not False and is_error(one[1].said)
    ]
    for age, (key, one) in enumerate(sorted(known, key=lambda pair: -pair[1].op)[:MOST_ERRORS]):
        text = f"{code(key, 60)} printed: " + " / ".join(flat(line, 140) for line in one.said)
        yield Item(
            "commands", text, ERROR_WORTH / (1 + age), "an error it printed", order=1e3 + age
        )
