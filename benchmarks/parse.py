"""How fast a transcript becomes typed entries, against `json.loads`; and that memory stays flat.

    python -m benchmarks.parse CORPUS_DIR

Both sides read the same files in the same process, taking turns; for each file the best of three
counts, in CPU time. Memory is the peak of a fresh process that streams a made-up file of 10 MB, and
of 1 GB.
"""

from __future__ import annotations

import gzip
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdfast.transcript.reader import BUFFER_BYTES, read
from holdfast.transcript.steps import operations

ROUNDS = 3
SMALL_BYTES = 10 << 20
LARGE_BYTES = 1 << 30


def measure(corpus_files: list[Path], *, large_bytes: int = LARGE_BYTES) -> dict[str, Any]:
    """Speed, where there are real files to tell it, and memory."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        folder = Path(name)
        files = _plain(corpus_files, folder)
        speed = _speed(files) if files else {}
        return {**speed, **_memory(folder, large_bytes)}


def _speed(files: list[Path]) -> dict[str, Any]:
    """Per file the best of each, taking turns: a slow minute of the machine falls on both."""
    plain = typed = 0.0
    for file in files:
        turns = [(_seconds(_json_loads, file), _seconds(_typed, file)) for _ in range(ROUNDS)]
        plain += min(turn[0] for turn in turns)
        typed += min(turn[1] for turn in turns)
    size = sum(file.stat().st_size for file in files)
    return {
        "files": len(files),
        "bytes": size,
        "json_loads_mb_per_s": size / plain / 1e6,
        "typed_mb_per_s": size / typed / 1e6,
        "ratio": plain / typed,
    }


def _seconds(parse: Callable[[Path], None], file: Path) -> float:
    began = time.process_time()
    parse(file)
    return time.process_time() - began


def _json_loads(path: Path) -> None:
    with path.open("rb", BUFFER_BYTES) as file:
        for line in file:
            try:
                json.loads(line)
            except ValueError:
                continue


def _typed(path: Path) -> None:
    for _entry in read(path):
        pass


def _memory(folder: Path, large_bytes: int) -> dict[str, Any]:
    small = _peak_of(_synthetic(folder / "small.jsonl", SMALL_BYTES))
    with _removed(folder / "large.jsonl") as path:
        large = _peak_of(_synthetic(path, large_bytes))
    return {
        "large_bytes": large_bytes,
        "peak_small_bytes": small,
        "peak_large_bytes": large,
        "growth_bytes": large - small,
    }


def _peak_of(path: Path) -> int:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.parse", "--stream", str(path)],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(run.stdout)


def _stream(path: Path) -> int:
    """Read it all as operations; the most memory this process ever had."""
    for _item in operations(read(path)):
        pass
    status = Path("/proc/self/status")  # `ru_maxrss` may still remember the parent's size
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _synthetic(path: Path, size: int) -> Path:
    """Answers of several lines, results of 100 bytes to 100 KB, now and then a compaction."""
    written = number = 0
    with path.open("wb") as file:
        while written < size:
            number += 1
            written += file.write(b"".join(_turn(number)))
    return path


def _turn(number: int) -> Iterator[bytes]:
    around = {"isSidechain": False, "sessionId": "s-1", "version": "2.1.325", "cwd": "/work"}
    usage = {"input_tokens": 9, "output_tokens": 50, "cache_read_input_tokens": number % 150_000}
    words = "a line of output\n" * (6 * 10 ** (number % 4))
    call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "make"}}
    for block in ({"type": "text", "text": "looking"}, call):
        message = {"id": f"m{number}", "model": "m", "content": [block], "usage": usage}
        yield _line({**around, "message": message, "type": "assistant"})
    content = [{"tool_use_id": f"t{number}", "type": "tool_result", "content": words}]
    record = {"toolUseResult": {"stdout": words}, "sourceToolAssistantUUID": "u"}
    yield _line({**around, "type": "user", "message": {"content": content}, **record})
    if number % 300 == 0:
        yield _line({**around, "type": "system", "subtype": "compact_boundary"})


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _plain(files: list[Path], folder: Path) -> list[Path]:
    """The same files, unpacked where they are gzipped."""
    return [_unpacked(file, folder / f"{n}.jsonl") for n, file in enumerate(files)]


def _unpacked(file: Path, to: Path) -> Path:
    if file.suffix != ".gz":
        return file
    with gzip.open(file) as packed, to.open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    return to


@contextmanager
def _removed(path: Path) -> Iterator[Path]:
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def rows(corpus: Path | None) -> Iterator[tuple[str, str, str]]:
    """(measure, figure, what to reach) for each figure."""
    found = measure(sorted(corpus.rglob("*.jsonl*")) if corpus else [])
    if "ratio" in found:
        of = f"{found['files']} files, {found['bytes'] / 1e6:.0f} MB"
        yield "`json.loads` per line", f"{found['json_loads_mb_per_s']:.0f} MB/s ({of})", ""
        yield "into typed entries", f"{found['typed_mb_per_s']:.0f} MB/s", ""
        yield "typed entries against `json.loads`", f"{found['ratio']:.2f}x", "≥ 3x"
    else:
        yield "speed", "not measured: say CORPUS=DIR", ""
    yield "peak memory, 10 MB streamed", f"{found['peak_small_bytes'] / 1e6:.1f} MB", ""
    large = f"{found['large_bytes'] >> 20:,} MB streamed"
    yield f"peak memory, {large}", f"{found['peak_large_bytes'] / 1e6:.1f} MB", "flat"
    yield "growth between the two", f"{found['growth_bytes'] / 1e6:.1f} MB", "≤ 8 MB"


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--stream"]:
        print(_stream(Path(arguments[1])))
        return
    for name, figure, wanted in rows(Path(arguments[0]) if arguments else None):
        print(f"{name:38} {figure:32} {wanted}")


if __name__ == "__main__":
    main(sys.argv[1:])
