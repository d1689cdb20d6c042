"""Kill a watcher wherever it touches the disk: the next one finds no half-done work. A program,
because it forks: `python -m tests.watcher.killing FOLDER`."""

import os
import sys
from pathlib import Path

from holdfast.hub.store.store import Store
from holdfast.watcher.watch import Watch
from tests.checkpoint.killing import killed_at
from tests.watcher.machine import FULL, Machine, kept

NAMES = ["s1 watcher"]


def _one(place: Path, at: int) -> bool:
    home = place / "home"
    home.mkdir(parents=True)
    os.environ |= {"HOME": str(home), "HOLDFAST_HOME": str(home / ".holdfast")}
    machine, address = Machine(home, home / "places"), f"sqlite:///{place}/holdfast.db"
    machine.session("s1", FULL)

    def look() -> None:
        Watch(lambda: Store.open(address)).look(machine.after(1))

    Store.open(address).close()
    died = killed_at(at, look)
    assert len(kept()) <= 1
    for _ in range(2):
        Watch(lambda: Store.open(address)).look(machine.after(200))
    assert kept() == NAMES, f"killed at {at}: {kept()}"
    return died


def main(folder: Path) -> int:
    at = 1
    while _one(folder / f"{at}", at):
        at += 1
    return at - 1


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
