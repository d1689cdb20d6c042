"""How good a brief is, by the evaluator on real transcripts; and how long making one takes.

    python -m benchmarks.briefs CORPUS_DIR EVALUATE_FILE

The evaluator is run as a program and calls `make_brief`; nothing of it is imported. Times are of
whole processes, against a bare interpreter start of the same run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Row = tuple[str, str, str]

ROUNDS = 5
SIZES = {"5 MB": 5 << 20, "100 MB": 100 << 20}
BARE = [sys.executable, "-I", "-S", "-c", "pass"]
STAGES = {
    "importing": "import holdfast.record, holdfast.brief.compose",
    "reading": "from holdfast.transcript.reader import read; [0 for _ in read(path)]",
    "extracting": "from holdfast.record.reader import read_record; read_record(path)",
    "extracting and composing": "from holdfast.record.reader import read_record; "
    "from holdfast.brief.compose import compose; compose(read_record(path))",
}


def make_brief(path: str, budget: int) -> str:
    """What the evaluator calls: the brief that `holdfast brief --max-tokens` prints."""
    from holdfast.record.reader import read_record
    from holdfast.record.secrets import redact_record
    from holdfast.session import window_brief
    from holdfast.window.state import State

    folder = str(Path(path).parent)
    state = State(transcript=path, project=folder, cwd=folder)
    return window_brief.compose_brief(state, "", redact_record(read_record(path)), budget).text


def rows(corpus: Path | None, evaluate: Path | None) -> Iterator[Row]:
    """(measure, figure, what to reach) for each figure."""
    if corpus is not None and evaluate is not None:
        yield from quality(corpus, evaluate)
    yield from speed()


def quality(corpus: Path, evaluate: Path) -> Iterator[Row]:
    """At compactions that really happened; and at cuts through sessions that had none."""
    found, said = _run(corpus, evaluate, "--baseline", "recfreq", "--vs", "recfreq")
    yield "R at 2,000 tokens", f"{_mean(found, 'R'):.3f}", "≥ .80"
    yield "R against recfreq, paired", _against(said), "interval above 0"
    yield "R at 500 tokens", f"{_mean(found, 'R500'):.3f}", "≥ .63"
    yield "client + first brief (withR)", f"{_mean(found, 'withR'):.3f}", "≥ .89"
    small, _ = _run(corpus, evaluate, "--fast", "--budget", "500")
    yield "P of the 500-token brief", f"{_mean(small, 'P'):.3f}", "≥ .36"
    second, _ = _run(corpus, evaluate, "--fast", "--see-summary")
    yield "client + second brief", f"{_mean(second, 'withR'):.3f}", "≥ .91"
    yield from simulated(corpus, evaluate)


def simulated(corpus: Path, evaluate: Path) -> Iterator[Row]:
    """The evaluator cuts sessions without a compaction at 65 % of their tool calls."""
    found, said = _run(corpus, evaluate, "--baseline", "recfreq", "--vs", "recfreq", only="pseudo")
    cuts = f"{len(found)} simulated cuts"
    yield f"R at 2,000 tokens, {cuts}", f"{_mean(found, 'R'):.3f}", ""
    yield "R against recfreq, paired, simulated", _against(said), "interval above 0"
    yield "R at 500 tokens, simulated", f"{_mean(found, 'R500'):.3f}", ""
    small, _ = _run(corpus, evaluate, "--fast", "--budget", "500", only="pseudo")
    yield "P of the 500-token brief, simulated", f"{_mean(small, 'P'):.3f}", ""


def _against(said: str) -> str:
    """The paired difference of R, with its interval, from what the evaluator printed."""
    interval = re.search(r"ours\s+R\s.*?([+-][\d.]+\s+\[[^\]]*\])", said)
    return interval[1] if interval else "?"


def _run(
    corpus: Path, evaluate: Path, *more: str, only: str = "real"
) -> tuple[list[dict[str, Any]], str]:
    """One run of the evaluator on one kind of cuts: our scores, and what it printed."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        kept = Path(folder) / "rows.json"
        ours = f"ours::{Path(__file__).resolve()}:make_brief"
        command = [sys.executable, evaluate, corpus, "--only", only, "--python", ours]
        run = subprocess.run(
            [*map(str, command), "--json", str(kept), *more],
            capture_output=True,
            text=True,
            check=True,
        )
        return [row["sys"]["ours"] for row in json.loads(kept.read_text())], run.stdout


def _mean(scores: list[dict[str, Any]], name: str) -> float:
    faults = [score["fault"] for score in scores if score["fault"]]
    if faults:
        raise RuntimeError(f"{len(faults)} briefs failed: {faults[0]}")
    values = [float(score[name]) for score in scores if score.get(name) is not None]
    return sum(values) / max(1, len(values))


def speed() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        for name, size in SIZES.items():
            path = synthetic(Path(folder) / f"{size}.jsonl", size)
            times = _times(path)
            for stage, seconds in times.items():
                if stage != "bare":
                    ratio = f"{seconds / times['bare']:.1f}x of a bare start"
                    yield f"{stage}, {name}", f"{ratio} ({seconds * 1000:.0f} ms)", ""


def _times(path: Path) -> dict[str, float]:
    """The best of some rounds, the stages taking turns."""
    commands = {"bare": BARE} | {
        stage: [sys.executable, "-c", f"import sys; path = sys.argv[1]; {code}", str(path)]
        for stage, code in STAGES.items()
    }
    # Compiled modules are kept, as an installed tool has them, whatever this shell says.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(path.parent / "compiled")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    best = dict.fromkeys(commands, 1e9)
    for _ in range(ROUNDS):
        for stage, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, env=environment)
            best[stage] = min(best[stage], time.perf_counter() - start)
    return best


def synthetic(path: Path, size: int) -> Path:
    """A transcript of about this many bytes: prompts, edits, runs, reads, compactions."""
    number = 0
    with path.open("wb") as file:
        while file.tell() < size:
            number += 1
            for line in _operation(number):
                file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
    return path


def _operation(number: int) -> Iterator[dict[str, Any]]:
    around = {
        "isSidechain": False,
        "cwd": "/work/project",
        "sessionId": "s-1",
        "version": "2.1.325",
        "promptSource": "typed",
        "gitBranch": "feature/odd-names",
        "uuid": f"u{number}",
    }
    if number % 40 == 1:
        words = f"Make module {number} read files with a byte order mark. Never use eval."
        yield {**around, "type": "user", "message": {"role": "user", "content": words}}
    usage = {"input_tokens": 9, "output_tokens": 50, "cache_read_input_tokens": number % 150_000}
    tool, given, output = _call(number)
    said = f"Now I change parse_header_{number % 50} because the reader skips it."
    call = {"type": "tool_use", "id": f"t{number}", "name": tool, "input": given}
    for block in ({"type": "text", "text": said}, call):
        message = {"id": f"m{number}", "model": "m", "content": [block], "usage": usage}
        yield {**around, "message": message, "type": "assistant"}
    back = [{"tool_use_id": f"t{number}", "type": "tool_result", "content": output}]
    record = {"toolUseResult": {"stdout": output}, "sourceToolAssistantUUID": "u"}
    yield {**around, "type": "user", "message": {"content": back}, **record}
    if number % 400 == 0:
        yield {**around, "type": "system", "subtype": "compact_boundary"}


def _call(number: int) -> tuple[str, dict[str, Any], str]:
    file = f"/work/project/src/package/module_{number % 60}.py"
    text = f"    value_{number % 90} = parse_header(lineNumber, {number})\n"
    if number % 3 == 0:
        return "Edit", {"file_path": file, "old_string": text, "new_string": text * 12}, "updated"
    if number % 3 == 1:
        return "Read", {"file_path": file}, text * 120
    return (
        "Bash",
        {"command": f"pytest -q tests/test_module_{number % 60}.py"},
        text * 60 + "1 passed",
    )


def main(arguments: list[str]) -> None:
    corpus, evaluate = (Path(name) for name in arguments) if arguments else (None, None)
    for name, figure, wanted in rows(corpus, evaluate):
        print(f"{name:38} {figure:36} {wanted}")


if __name__ == "__main__":
    main(sys.argv[1:])
