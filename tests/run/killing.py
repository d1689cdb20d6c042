"""Kill a conductor where it touches the disk: the next run ends the plan, and no session that gave
its result is repeated. A program, because it forks: `python -m tests.run.killing FOLDER STEP`
tries every STEP-th touch."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.checkpoint.killing import killed_at
from tests.run.theatre import TWO, Theatre


def _one(place: Path, at: int) -> bool:
    home = place / "home"
    home.mkdir(parents=True)
    os.environ |= {"HOME": str(home), "HOLDFAST_HOME": str(home / ".holdfast")}
    theatre = Theatre(place, home)
    theatre.plan.write_text(TWO)
    died = killed_at(at, lambda: theatre.run())
    found = theatre.answer()
    assert found["left"] == [], f"killed at {at}: {found}"
    results = (theatre.fake / "results").read_text().splitlines()
    assert len(results) == 2, f"killed at {at}: {len(results)} sessions gave a result"
    done = [one for one in theatre.records("ended") if one["result"] == "done"]
    assert len(done) == 2, f"killed at {at}: {done}"
    assert len(theatre.records("checkpoint")) == 2, f"killed at {at}"
    theatre.close()
    return died


def main(folder: Path, step: int) -> int:
    at = 1
    while _one(folder / f"{at}", at):
        at += step
    return at


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), int(sys.argv[2])))
