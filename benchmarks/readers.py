"""Ten readers at once: pages of sessions and compactions that differ from what one reader is told.

    python -m benchmarks.readers CORPUS_DIR [--seconds 60]

60 real transcripts are made known by their own hook, a server is started, and ten threads ask for
the pages of all sessions and compactions, in random order. What a page has to say is computed by
one process that reads nothing else. The same server saves a checkpoint of every session meanwhile.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.api.live import Live, a_url, as_process

from benchmarks.hooks import HOOK
from benchmarks.readings import transcripts
from holdfast.checkpoint.verify import verify
from holdfast.transcript.entries import Boundary
from holdfast.transcript.reader import read

Row = tuple[str, str, str]
SESSIONS, READERS, PATIENCE_SECONDS, PAGE = 60, 10, 120.0, 100
DATE, TODAY = rb'"timestamp":"[-0-9]{10}T', '"timestamp":"%Y-%m-%dT'  # old ones are cleaned up
ALONE = """
import json, sys
from pathlib import Path
from holdfast.events.summary_report import compaction_report
for line in sys.stdin:
    path, number = json.loads(line)
    print(json.dumps(compaction_report(Path(path), number, sidechain=False)))
"""


def rows(corpus: Path, seconds: float) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="holdfast-readers-") as folder:
        os.environ |= {"HOME": folder, "HOLDFAST_HOME": f"{folder}/.holdfast"}
        known = dict(_install(corpus, Path(folder)))
        with as_process(a_url(Path(folder, "holdfast.db"))) as server:
            pages = _pages(server, known)
            expected = _alone(pages, known)
            asked, differing, damaged = _read_at_once(server, pages, expected, known, seconds)
    yield "sessions / compactions / pages read", f"{len(known)} / {len(pages)} / {asked:,}", ""
    yield "pages that differ from one reader's", f"{differing:,}", "0"
    yield "checkpoints saved meanwhile that are not verified", f"{damaged:,}", "0"


def _install(corpus: Path, home: Path) -> Iterator[tuple[str, str]]:
    """Copy sessions, those with compactions first, and let a hook make each known."""
    found = sorted(transcripts(corpus), key=lambda path: -_compactions(path))[:SESSIONS]
    for number, path in enumerate(found):
        session, project = f"00000000-0000-4000-8000-{number:012d}", home / f"project-{number % 8}"
        project.mkdir(exist_ok=True)
        copy = home / ".claude" / "projects" / project.name / f"{session}.jsonl"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.touch()  # what stood there before the first hook is not taken in
        payload = {
            "hook_event_name": "SessionStart",
            "source": "startup",
            "session_id": session,
            "transcript_path": str(copy),
            "cwd": str(project),
        }
        given = {"CLAUDE_PROJECT_DIR": str(project)}
        subprocess.run(
            HOOK,
            input=json.dumps(payload).encode(),
            env=os.environ | given,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        opened = gzip.open if path.suffix == ".gz" else open
        with opened(path, "rb") as source:
            copy.write_bytes(re.sub(DATE, time.strftime(TODAY).encode(), source.read()))
        yield session, str(copy)


def _compactions(path: Path) -> int:
    return sum(isinstance(one, Boundary) and one.resets_window for one in read(path))


def _pages(server: Live, known: dict[str, str]) -> list[tuple[str, int]]:
    """Every compaction that the server lists, once its list is complete."""
    wanted = sum(_compactions(Path(path)) for path in known.values())
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        found = list(_listed(server))
        if len(found) >= wanted or time.monotonic() > until:
            return found
        time.sleep(1)


def _listed(server: Live) -> Iterator[tuple[str, int]]:
    offset, total = 0, 1
    while offset < total:
        answer = server.get(f"/api/compactions?limit={PAGE}&offset={offset}").json()
        yield from ((one["session_id"], one["number"]) for one in answer["compactions"])
        offset, total = offset + PAGE, answer["total"]


def _alone(pages: list[tuple[str, int]], known: dict[str, str]) -> dict[tuple[str, int], Any]:
    asked = "".join(json.dumps([known[name], number]) + "\n" for name, number in pages)
    answered = subprocess.run(
        [sys.executable, "-c", ALONE], input=asked, capture_output=True, text=True, check=True
    )
    return dict(zip(pages, map(json.loads, answered.stdout.splitlines()), strict=True))


def _read_at_once(
    server: Live,
    pages: list[tuple[str, int]],
    expected: dict[tuple[str, int], Any],
    known: dict[str, str],
    seconds: float,
) -> tuple[int, int, int]:
    until = time.monotonic() + seconds
    saved: list[str] = []
    lock = threading.Lock()

    def ask(seed: int) -> tuple[int, int]:
        chance, asked, differing = random.Random(seed), 0, 0
        while time.monotonic() < until:
            page = chance.choice(pages)
            answer = server.get(f"/api/compactions/{page[0]}/{page[1]}").json()
            wanted = expected[page]
            asked += 1
            differing += any(answer.get(name) != wanted[name] for name in ("items", "brief"))
            session = chance.choice(sorted(known))
            server.get(f"/api/sessions/{session}/state")
            if chance.random() < 0.05:
                made = server.post("/api/checkpoints", {"session_id": session}).json()
                with lock:
                    saved.append(made.get("path", ""))
        return asked, differing

    with ThreadPoolExecutor(READERS) as readers:
        counts = list(readers.map(ask, range(READERS)))
    damaged = sum(not path or not verify(path).ok for path in set(saved))
    return sum(one[0] for one in counts), sum(one[1] for one in counts), damaged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--seconds", type=float, default=60.0)
    chosen = parser.parse_args()
    for name, figure, target in rows(chosen.corpus, chosen.seconds):
        print(f"{name:55} {figure:>24}  {target}")


if __name__ == "__main__":
    main()
