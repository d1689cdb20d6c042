"""How much longer a session waits with our hooks: the real client, 100 tool rounds each way.

What a session can feel of a hook is the client's own time, from an answer to its next request. It
is taken twice: with a model that takes its time, as all do, so that an asynchronous hook is over
before the next round; and with one that answers at once, so that hook and client compete. The runs
take turns, so that a slow minute of the machine falls on all; only the ratios are news.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from tests.trial.namespace import NamespaceImpossible
from tests.trial.run import run_trial
from tests.trial.script import Acts, ReceivedRequest, ScriptedAnswer, Step, bash, usage_of

from holdfast.setup.wiring import hook_table

ROUNDS = 25
TURNS = 4
_CACHE = Path(__file__).resolve().parents[1] / ".cache" / "client"


class _Timed:
    """Many quick rounds far below the first mark, and when each answer left."""

    def __init__(self) -> None:
        rounds = [
            ScriptedAnswer("", (bash("true"),), usage_of(20_000 + 300 * n)) for n in range(ROUNDS)
        ]
        self._acts = Acts(rounds)
        self.answered_seconds: list[float] = []

    def __call__(self, request: ReceivedRequest) -> Step:
        self.answered_seconds.append(time.monotonic())
        return self._acts(request)


def measure(binary: Path) -> dict[str, float]:
    """Median milliseconds of a round without and with our hooks, and the ratio, for both models."""
    figures: dict[str, float] = {"rounds": ROUNDS * TURNS}
    for model, patient in (("thinking", True), ("instant", False)):
        without: list[float] = []
        with_hooks: list[float] = []
        for _ in range(TURNS):
            without += _rounds_ms(binary, {}, patient)
            with_hooks += _rounds_ms(binary, {"hooks": hook_table()}, patient)
        figures[f"{model}_without_ms"] = round(median(without), 1)
        figures[f"{model}_with_ms"] = round(median(with_hooks), 1)
        figures[f"{model}_ratio"] = round(median(with_hooks) / median(without), 3)
    return figures


def rows(binary: Path | None = None) -> Iterator[tuple[str, str, str]]:
    """The figures for the table, or the reason why there are none."""
    binary = binary or newest_client()
    if binary is None:
        yield "wait added", "not measured: the real client is not here (make client)", ""
        return
    try:
        figures = measure(binary)
    except NamespaceImpossible as reason:
        yield "wait added", f"not measured: no network namespace here: {reason}", ""
        return
    for model in ("thinking", "instant"):
        ratio, before, after = (figures[f"{model}_{x}"] for x in ("ratio", "without_ms", "with_ms"))
        figure = f"{ratio:.2f}x ({before:.0f} ms without, {after:.0f} ms with our hooks)"
        rounds = f"a round with a model that is {model}, {figures['rounds']:.0f} each way"
        yield rounds, figure, "within noise"


def _rounds_ms(binary: Path, settings: Mapping[str, Any], patient: bool) -> list[float]:
    script = _Timed()
    with tempfile.TemporaryDirectory(prefix="holdfast-wait-") as folder:
        home, project = Path(folder, "home"), Path(folder, "project")
        project.mkdir()
        trial = run_trial(binary, project, home, script, settings=settings, patient=patient)
    asked = [request.at_seconds for request in trial.asked("main")]
    if trial.exit_code != 0 or len(asked) != ROUNDS + 1:
        raise RuntimeError(f"the run went wrong: exit {trial.exit_code}, {trial.stderr[:200]}")
    return [
        (to - since) * 1000 for since, to in zip(script.answered_seconds, asked[1:], strict=False)
    ]


def newest_client() -> Path | None:
    """The newest client that `make client` has fetched."""
    found = _CACHE.glob("*/node_modules/@anthropic-ai/claude-code-*/claude")
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


if __name__ == "__main__":
    for row in rows():
        print(*row, sep=" | ")
