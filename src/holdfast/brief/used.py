"""Items from what was used: files and commands."""

from collections.abc import Iterator

from holdfast.brief.chance import ranked
from holdfast.brief.complement import Held
from holdfast.brief.fence import clean, code, flat
from holdfast.brief.item import Item
from holdfast.checkpoint.extract.heat import FLOOR, heat_at
from holdfast.checkpoint.facts import Command, Facts, Used

TERSE_CHARS = 3600
FILE_WORTH = 0.06
COMMAND_WORTH = 0.06
MOST_FILES = 120
MOST_COMMANDS = 24
LONGEST_COMMAND = 240
ASIDE = 0.5  # what a file is worth that is not the project's own text
_MADE_WORDS = (
    "node_modules site-packages dist-packages __pycache__ vendor target build dist venv coverage"
)
_MADE = frozenset(_MADE_WORDS.split())
_MADE_ENDS = (".log", ".lock", ".pdf", ".pyc", ".o", ".map", ".min.js")


def file_heats(facts: Facts) -> dict[str, float]:
    """How warm each file is; what is not the project's own text counts for less."""
    now, known = facts.op, facts.files
    return {
        key: (heat_at(one, now) + FLOOR * one.count) * (ASIDE if _is_aside(key) else 1.0)
        for key, one in known.items()
        if not (key[:2] in ("a/", "b/") and key[2:] in known)  # a diff's two names of one file
    }


def files(facts: Facts, held: Held, limit: int) -> Iterator[Item]:
    """Hottest first. Each is split so that its shown name is found nowhere else."""
    heats = {key: heat for key, heat in file_heats(facts).items() if not held.file(key)}
    splits = _splits(facts.files)
    terse = limit < TERSE_CHARS
    for rank, (key, chance) in enumerate(ranked(heats, limit, MOST_FILES)):
        folder, name = splits[key]
        used = facts.files[key]
        text = clean(name) + ("*" if terse and used.edits else "" if terse else _how(used))
        reason = f"used {used.count} times, last at operation {used.op}"
        worth = FILE_WORTH * chance
        yield Item("files", text, worth, reason, under=clean(folder), key=key, order=rank)


def _is_aside(path: str) -> bool:
    """Outside the project or hidden, installed, or built."""
    return path[:1] in "/.~" or path.endswith(_MADE_ENDS) or not _MADE.isdisjoint(path.split("/"))


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


def commands(facts: Facts, limit: int) -> Iterator[Item]:
    now = facts.op
    heats = {key: heat_at(one, now) + FLOOR * one.count for key, one in facts.commands.items()}
    for rank, (key, chance) in enumerate(ranked(heats, limit, MOST_COMMANDS)):
        one = facts.commands[key]
        worth = COMMAND_WORTH * chance
        reason = f"run {one.count} times, last at operation {one.op}"
        yield Item("commands", _command(one), worth, reason, one.place, key=key, order=rank)


def _command(command: Command) -> str:
    how = {True: "passed" if command.kind else "ok", False: "failed", None: "no result"}[command.ok]
    return f"{code(command.line, LONGEST_COMMAND)} {how}"
