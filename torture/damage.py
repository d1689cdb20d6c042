"""Files of ours are damaged at random: hooks go on, damage is found, and the rest is as it was.

The server is stopped meanwhile, and afterwards all files are put back: what was damaged may have
been the only copy (a checkpoint, a message on its way), so what follows could not be compared.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from holdfast.checkpoint import index
from holdfast.checkpoint import verify as index_rebuild
from holdfast.checkpoint.index import CheckpointEntry
from holdfast.checkpoint.verify import verify
from torture import promises
from torture.board import must
from torture.commands import HOOK, Command, cli
from torture.place import Place
from torture.processes import ALONE, Ended, Runner
from torture.script import ScriptedSession

NOT_OURS = frozenset(("settings.toml", "a.py", "lock"))
EVENTS = ("PostToolUse", "UserPromptSubmit", "PreCompact", "SessionStart", "Stop", "SessionEnd")


@contextmanager
def put_back(place: Place) -> Iterator[None]:
    """Everything below `owned` is as before, whatever happens."""
    copy = place.root / "copy"
    shutil.copytree(place.owned, copy, symlinks=True)
    try:
        yield
    finally:
        for entry in place.owned.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        shutil.copytree(copy, place.owned, symlinks=True, dirs_exist_ok=True)
        shutil.rmtree(copy)


def damage(random: Random, path: Path) -> str:
    """Change bytes at a random offset, cut the file short, or put something else there."""
    data = bytearray(path.read_bytes())
    how = random.choice(("bit", "bytes", "cut", "zeros", "doubled", "empty"))
    at = random.randrange(len(data)) if data else 0
    if how == "bit" and data:
        data[at] ^= 1 << random.randrange(8)
    elif how == "bytes":
        data[at : at + 16] = random.randbytes(16)
    elif how == "cut":
        del data[at:]
    elif how == "zeros":
        data[at : at + 64] = bytes(len(data[at : at + 64]))
    elif how == "doubled":
        data[at:at] = data[at : at + 200]
    else:
        data.clear()
    path.write_bytes(bytes(data))
    return how


def one_round(runner: Runner, session: ScriptedSession, random: Random) -> int:
    """Damage one to three files; how many were really changed."""
    place = runner.place
    before = {one.path: one for one in index.load_or_empty()}
    files = sorted(path for path in place.owned.rglob("*") if _is_ours(path))
    victims = random.sample(files, min(len(files), random.randint(1, 3)))
    changed = [path for path in victims if is_changed(random, path)]
    spoiled = frozenset(str(path) for path in changed if path.suffix == ".md")
    _check_files(place, spoiled)
    _run_hooks(runner, session, random)
    if random.random() < 0.2:
        _run_commands(runner, session)
    _check_index(before, spoiled)
    return len(changed)


def _is_ours(path: Path) -> bool:
    return path.is_file() and path.name not in NOT_OURS and ".db" not in path.suffixes[:1]


def is_changed(random: Random, path: Path) -> bool:
    """Damage a file; false if it is as it was."""
    before = path.read_bytes()
    damage(random, path)
    return path.read_bytes() != before


def _check_files(place: Place, spoiled: frozenset[str]) -> None:
    """Damaged checkpoints are found, whatever byte it was; the others still verify."""
    promises.checkpoints(place, set(), spoiled)
    for path in spoiled:
        must(not verify(path).ok, f"{path} is damaged, and verifies")


def _run_hooks(runner: Runner, session: ScriptedSession, random: Random) -> None:
    for event in random.sample(EVENTS, 2):
        firing = session.firing(event)
        ended = runner.run(event, Command(HOOK), firing, fault=ALONE, cwd=session.project)
        promises.hook(event, ended, session.secrets)


def _run_commands(runner: Runner, session: ScriptedSession) -> None:
    for words in (("verify",), ("status", "--json"), ("resume", "--json"), ("rebuild",)):
        ended: Ended = runner.run(words[0], cli(*words), fault=ALONE, cwd=session.project)
        promises.command(words[0], ended, session.secrets)


def _check_index(before: dict[str, CheckpointEntry], spoiled: frozenset[str]) -> None:
    """Whatever happened to the index, it is made again from the files."""
    after = {one.path: one for one in index_rebuild.rebuild().entries}
    for path in before.keys() - spoiled:
        must(after.get(path) == before[path], f"{path} is lost to the index, or changed in it")
