"""Holdfast is upgraded or removed while its hooks run: its folder is replaced, or gone a while."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import holdfast


@contextmanager
def replaced(folder: Path, random: Random) -> Iterator[str]:
    """A copy of the package that is moved away and back again all the time."""
    for name in ("holdfast", "other"):
        source = Path(holdfast.__file__).parent
        shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("static"))
    over = threading.Event()
    thread = threading.Thread(target=_replace, args=(folder, random, over))
    thread.start()
    try:
        yield str(folder / "holdfast")
    finally:
        over.set()
        thread.join()
        shutil.rmtree(folder)


def _replace(folder: Path, random: Random, over: threading.Event) -> None:
    while not over.wait(random.random() * 0.4):
        (folder / "holdfast").rename(folder / "before")
        if random.random() < 0.5:
            over.wait(random.random() * 0.2)  # removed, and then installed again
        (folder / "other").rename(folder / "holdfast")
        (folder / "before").rename(folder / "other")
