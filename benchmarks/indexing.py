"""What it costs to take transcripts into the index of search for the first time, in CPU time.

    python -m benchmarks.indexing CORPUS_DIR [--megabytes N]

Read: a transcript as items, its secrets taken out. Taken in: the same, and written into an index
that was not there. For both the best of three counts.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from holdfast.memory import turns
from holdfast.memory.sqlite_index import Embedded

ROUNDS = 3
MEGABYTES = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--megabytes", type=int, default=MEGABYTES, help="of files, at most")
    given = parser.parse_args()
    files = _chosen(given.corpus, given.megabytes << 20)
    megabytes = sum(file.stat().st_size for file in files) / 1e6
    print(f"{len(files)} transcripts, {megabytes:.0f} MB")
    for name, work in (("read", _read), ("taken in", _taken_in)):
        seconds = min(_seconds(work, files) for _ in range(ROUNDS))
        print(f"{name}: {seconds:.2f} s, {megabytes / seconds:.0f} MB/s")


def _chosen(corpus: Path, most_bytes: int) -> list[Path]:
    found: list[Path] = []
    for file in sorted(corpus.rglob("*.jsonl")):
        most_bytes -= file.stat().st_size
        if most_bytes < 0:
            break
        found.append(file)
    return found


def _seconds(work: Callable[[list[Path]], None], files: list[Path]) -> float:
    began = time.process_time()
    work(files)
    return time.process_time() - began


def _read(files: list[Path]) -> None:
    for file in files:
        turns.read(str(file), "")


def _taken_in(files: list[Path]) -> None:
    folder = tempfile.mkdtemp(prefix="holdfast-indexing-")
    index = Embedded("/p", f"{folder}/p.db")
    for file in files:
        read = turns.read(str(file), "")
        index.take(str(file), "", read.state, read.items, read.span)
    index.close()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
