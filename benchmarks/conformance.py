"""What a brief keeps of the sessions of PyPI's compaction-conformance-kit.

    python -m benchmarks.conformance

The kit plants twenty facts, rules and preferences among small talk and looks for their exact values
in what is left after one compaction. Its turns become a transcript of plain user and assistant
lines; its budgets are shares of the session's characters.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from typing import Any

from compaction_kit.compacted import CompactedContext
from compaction_kit.corpus import build_random_session
from compaction_kit.runner import run_conformance
from compaction_kit.session import Turn

Row = tuple[str, str, str]
SEEDS = (1, 2, 3)
TO_REACH = {0.2: 0.55, 0.4: 0.85}


class Brief:
    """The brief that `holdfast brief --max-tokens` prints, as the kit calls a compactor."""

    name = "holdfast"

    def compact(
        self, turns: list[Turn], round_num: int = 1, budget_chars: int = 0
    ) -> CompactedContext:
        from benchmarks.briefs import make_brief
        from holdfast.wire.mark import CHARS_PER_TOKEN

        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            for number, turn in enumerate(turns):
                if turn.role in ("user", "assistant"):
                    file.write(json.dumps(_entry(number, turn)) + "\n")
            file.flush()
            text = make_brief(file.name, int(budget_chars / CHARS_PER_TOKEN))
        return CompactedContext(text, self.name, round_num)


def _entry(number: int, turn: Turn) -> dict[str, Any]:
    content = [{"type": "text", "text": turn.text}]
    message = {"role": turn.role, "id": f"m{number}", "model": "m", "content": content}
    around = {"uuid": f"u{number}", "sessionId": "s-1", "cwd": "/project", "isSidechain": False}
    return {**around, "type": turn.role, "message": message}


def rows() -> Iterator[Row]:
    for share, least in TO_REACH.items():
        kept = [held for seed in SEEDS for held in _survived(seed, share)]
        found = f"{sum(kept) / len(kept):.0%} of {len(kept)}"
        yield f"conformance kit, survival at {share:.0%} of the text", found, f"≥ {least:.0%}"


def _survived(seed: int, share: float) -> list[bool]:
    session, planted = build_random_session(seed)
    run = run_conformance(session, Brief(), rounds=1, canaries=planted, budget_fraction=share)
    if not run.rounds[0].within_budget:
        raise RuntimeError(f"the brief of seed {seed} is over its budget")
    return list(run.rounds[0].survived.values())


if __name__ == "__main__":
    for row in rows():
        print(*row, sep="  ")
