"""What watching costs: 500 live sessions, at rest and at work.

python -m benchmarks.watcher
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import made_up
from holdfast.settings.table import BY_NAME
from holdfast.watcher.watch import Watch
from holdfast.window.state import State, save
from holdfast.wire import places

SESSIONS, PROJECTS, OLD = 500, 25, 5_000
SESSION_BYTES = 200_000  # some 60,000 tokens: nothing is due
LOOKS, BUSY = 20, 50
PERIOD_SECONDS = float(BY_NAME["watch_seconds"].default)
Row = tuple[str, str, str]


def rows() -> Iterator[Row]:
    kept = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="holdfast-watch-") as folder:
        os.environ |= {"HOME": folder, "HOLDFAST_HOME": f"{folder}/.holdfast"}
        os.environ.pop("CLAUDE_CONFIG_DIR", None)
        try:
            yield from _measured(Path(folder))
        finally:
            os.environ.clear()
            os.environ.update(kept)


def _measured(home: Path) -> Iterator[Row]:
    live = _sessions(home)
    watch = Watch()
    try:
        first, found = _cpu(watch)
        assert found == len(live), f"{found} of {len(live)} found"
        at_rest, _ = min(_cpu(watch) for _ in range(LOOKS))
        named = f"{SESSIONS} live sessions with hooks, {OLD:,} old ones"
        yield f"at rest, {named}", _share(at_rest), "< 1 % of a core"
        seen = 0
        for n in range(LOOKS // 4):
            _grow(live[n * BUSY : (n + 1) * BUSY])
            busy, changed = _cpu(watch)
            seen += changed
        asked = LOOKS // 4 * BUSY
        yield "changes seen at the next look", f"{seen} of {asked}", "all"
        yield f"at work, {BUSY} of them written to since", _share(busy), ""
        yield "the first look, all of them", f"{first:.2f} s of CPU", ""
    finally:
        watch.close()


def _share(seconds: float) -> str:
    return f"{seconds / PERIOD_SECONDS:.3%} of a core ({seconds * 1000:.1f} ms a look)"


def _cpu(watch: Watch) -> tuple[float, int]:
    """CPU seconds of one look, and how many changes it saw."""
    began = time.process_time()
    found = watch.look(int(time.time() * 1000))
    return time.process_time() - began, len(found)


def _sessions(home: Path) -> list[Path]:
    """One made up, and copies of it; each has a window as hooks leave it."""
    master = home / "master.jsonl"
    made_up.write(master, SESSION_BYTES)
    now_ms = int(time.time() * 1000)
    made = []
    for n in range(SESSIONS + OLD):
        folder = home / ".claude" / "projects" / f"-project-{n % PROJECTS}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"session-{n:05}.jsonl"
        if n >= SESSIONS:
            path.write_bytes(b"{}\n")
            os.utime(path, (1_700_000_000, 1_700_000_000))
            continue
        shutil.copyfile(master, path)
        _window(path, str(home / f"project-{n % PROJECTS}"), now_ms)
        made.append(path)
    return made


def _window(path: Path, project: str, now_ms: int) -> None:
    folder = places.window(path.stem)
    Path(folder).mkdir(parents=True)
    state = State(session_id=path.stem, transcript=str(path), project=project, cwd=project)
    state.at_ms = state.started_ms = now_ms
    state.window_tokens, state.edge_tokens, state.density = 1_000_000, 967_000, 3.5
    save(folder, state)


def _grow(paths: list[Path]) -> None:
    for path in paths:
        made_up.write(path, 1, first_round=999, append=True)


def main(say: Callable[[str], object] = print) -> None:
    for name, figure, wanted in rows():
        say(f"{name:60} {figure:45} {wanted}")


if __name__ == "__main__":
    main()
