"""Kill a roll at every point where it touches the disk, and look at what the next one finds.

Run as a program, because it forks: `python -m tests.segment.killing FOLDER`. Any broken promise is
an AssertionError and exit 1.
"""

import os
import sys
from functools import partial
from pathlib import Path

from holdfast.segment import library, tiers
from tests.checkpoint.killing import FAR, killed_at
from tests.segment.library_builders import NOW_MS
from tests.segment.topics import COLOUR, MAIL, TABLE, a_session


def _roll(transcript: Path) -> None:
    tiers.roll(
        str(transcript), session_id="s-1", project="/p", used_ratio=0.9, now_ms=NOW_MS, force=True
    )


def look(home: Path, transcript: Path) -> None:
    """Nothing half written, nothing lost, and the next roll ends where the first would have."""
    for one in [*library.warm(), *library.cold()]:
        assert one.topic in (TABLE, MAIL)
        assert one.compressed_content
    _roll(transcript)
    topics = [one.topic for one in [*library.cold(), *library.warm()]]
    assert topics == [TABLE, MAIL], topics
    known = library.load_queue("s-1")
    assert known.pending == []
    assert [one.topic for one in known.compressed] == [TABLE, MAIL]
    assert all(Path(one.storage_location).is_file() for one in known.compressed)
    left = [path.name for path in home.rglob("*") if "draft" in path.name or "damaged" in path.name]
    assert not left, left


def main(folder: Path) -> int:
    transcript = a_session(TABLE, MAIL, COLOUR, steps=16).works(12).written(folder)
    for at in range(1, FAR):
        home = folder / f"{at}"
        os.environ["HOLDFAST_HOME"] = str(home)
        died = killed_at(at, partial(_roll, transcript))
        look(home, transcript)
        if not died:
            return at - 1
    return FAR


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
