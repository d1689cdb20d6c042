"""What archiving transcripts costs: at the end of a session, in the background, and when read.

    python -m benchmarks.transcripts [--corpus DIR]

The user meets the first and the last; between them a process of lower priority works alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks import made_up
from benchmarks.hooks import HOOK
from benchmarks.readings import transcripts as real_transcripts
from holdfast.archive import transcripts
from holdfast.archive.save_transcripts import save_all
from holdfast.client import sample_payloads
from holdfast.events.background import LATE_SECONDS
from holdfast.record.reader import read_record

Row = tuple[str, str, str]
ROOM = 1 << 40
LARGE_BYTES, SMALL_BYTES = 20 << 20, 1 << 20
ROUNDS = 15


def rows(corpus: Path | None = None) -> Iterator[Row]:
    with _machine() as projects:
        made_up.write(projects / "small.jsonl", SMALL_BYTES)
        ratio = _end(projects / "small.jsonl")
        yield "the hook at SessionEnd, archiving on against off", f"{ratio:.2f}x", "≤ 1.2x"
    with _machine() as projects:
        large = projects / "large.jsonl"
        written = made_up.write(large, LARGE_BYTES)
        size = large.stat().st_size
        whole = _seconds(lambda: save_all(ROOM))
        yield "archiving 20 MB, in the background", f"{size / 1e6 / whole:.1f} MB/s", ""
        copy = Path(transcripts.copy_of(str(large)))
        yield "its size in the archive", f"{copy.stat().st_size / size:.0%} of the client's", ""
        made_up.write(large, 100_000, first_round=written, append=True)
        more = _seconds(lambda: save_all(ROOM))
        yield "the same after another 100 KB", f"{more / whole:.0%} of the time", "≤ 10%"
        from_copy = _seconds(lambda: read_record(copy))
        own = _seconds(lambda: read_record(large))
        yield "the record of a session, from the copy", f"{from_copy / own:.1f}x", ""
    if corpus is not None:
        yield from _real(corpus)


def _real(corpus: Path) -> Iterator[Row]:
    with _machine() as projects:
        files = real_transcripts(corpus)
        for number, file in enumerate(files):
            data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
            (projects / f"{number}.jsonl").write_bytes(data)
        size = sum(path.stat().st_size for path in projects.iterdir())
        seconds = _seconds(lambda: save_all(ROOM))
        found = transcripts.sessions()
        packed = sum(one.bytes for one in found)
        told = f"{len(found)} real sessions, {size / 1e6:,.0f} MB"
        yield f"archiving {told}", f"{size / 1e6 / seconds:.1f} MB/s", ""
        yield "their size in the archive", f"{packed / size:.0%} of the client's", ""
        left_out = sum(one.about.left_out for one in found if one.about)
        yield "lines that could not be taken", f"{left_out}", "0"


def _end(path: Path) -> float:
    """Wall time of the hook: a client waits for it. What it starts nobody waits for, and it looks
    at these folders for a moment longer."""
    spent: dict[str, list[float]] = {"on": [], "off": []}
    sent = sample_payloads.make_payload(
        "SessionEnd", session_id="s", transcript=str(path), cwd="/p"
    )
    data = json.dumps(sent | {"reason": "other"}).encode()
    for _ in range(ROUNDS):
        for word, times in spent.items():
            environ = {**os.environ, "HOLDFAST_ARCHIVE_TRANSCRIPTS": word}
            began = time.perf_counter()
            subprocess.run(HOOK, input=data, capture_output=True, check=True, env=environ)
            times.append(time.perf_counter() - began)
    time.sleep(LATE_SECONDS + 2)
    return median(spent["on"]) / median(spent["off"])


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


@contextmanager
def _machine() -> Iterator[Path]:
    """A folder of the client's for one project, and a HOLDFAST_HOME, both of this run alone."""
    before = dict(os.environ)
    folder = tempfile.TemporaryDirectory(prefix="holdfast-bench-", ignore_cleanup_errors=True)
    with folder as name:
        os.environ |= {"HOLDFAST_HOME": f"{name}/home", "CLAUDE_CONFIG_DIR": f"{name}/claude"}
        projects = Path(name, "claude", "projects", "-p")
        projects.mkdir(parents=True)
        try:
            yield projects
        finally:
            os.environ.clear()
            os.environ.update(before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a folder of .jsonl or .jsonl.gz transcripts")
    for row in rows(parser.parse_args().corpus):
        print(" | ".join(row), flush=True)


if __name__ == "__main__":
    main()
