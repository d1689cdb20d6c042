"""How true the reading and how timely the alerts are, on a folder of real transcripts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.settings import load as settings_load
from holdfast.transcript.blocks import decoded
from holdfast.transcript.entries import Boundary, Result
from holdfast.transcript.reader import read
from holdfast.transcript.steps import Operation, operations
from holdfast.window import history
from holdfast.window.replay import Replay, Replayer
from holdfast.wire import tail
from holdfast.wire.mark import CHARS_PER_TOKEN


@dataclass
class Errors:
    """Relative errors of predicted against stated tokens."""

    ours: list[float] = field(default_factory=list)
    nothing_added: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)


def transcripts(corpus: Path) -> list[Path]:
    return sorted([*corpus.rglob("*.jsonl"), *corpus.rglob("*.jsonl.gz")])


def measure(corpus: Path) -> dict[str, Any]:
    """Every session once: predictions, compactions, alerts."""
    errors, replays = Errors(), []
    for path in transcripts(corpus):
        items = list(operations(read(path)))
        _predict(items, errors)
        replays.append(Replayer(settings_load.load(environ={})).feed(items))
    return {
        "sessions": len(replays),
        "turns": len(errors.ours),
        "reading": _spread(errors.ours),
        "reading, characters / 3.5": _spread(errors.plain),
        "last usage, nothing added": _spread(errors.nothing_added),
        "pre_tokens": _spread(list(_pre_token_errors(replays))),
        **_alerts(replays),
    }


def _predict(items: list[Any], errors: Errors) -> None:
    """Each answer's input, from what a hook could see before: the last usage and the payloads."""
    past: list[Operation] = []
    saved = 0  # by microcompactions since the last answer
    for item in items:
        if isinstance(item, Boundary):
            saved += item.saved_tokens
            past = [] if item.resets_window else past
        if not isinstance(item, Operation):
            continue
        stated = item.usage.input_side_tokens
        if past and stated:
            last = past[-1]
            density = history.fit_density(past) or CHARS_PER_TOKEN
            payload = payload_chars(last, density)
            ours = history.total_tokens(last, density) + payload / density - saved
            plain = last.usage.total_tokens + payload / 3.5
            errors.ours.append(abs(ours - stated) / stated)
            errors.plain.append(abs(plain - stated) / stated)
            errors.nothing_added.append(abs(last.usage.total_tokens - stated) / stated)
        past, saved = [*past[-history.FITTED_OPERATIONS :], item], 0


def payload_chars(operation: Operation, density: float) -> float:
    """What PostToolUse and UserPromptSubmit hand over: `tool_response`, an error, a prompt."""
    chars = 0.0
    for part in operation.after:
        if isinstance(part, Result):
            response = decoded(part.tool_use_result)
            seen = tail.count_response_chars(response, density)
            chars += tail.FRAME_CHARS + (seen or len(part.text))
    return chars + sum(len(prompt.text) for prompt in operation.prompts)


def _pre_token_errors(replays: list[Replay]) -> Iterator[float]:
    for replay in replays:
        for hit in replay.compactions:
            if hit.error_ratio is not None:
                yield hit.error_ratio


def _alerts(replays: list[Replay]) -> dict[str, Any]:
    hits = [hit for replay in replays for hit in replay.compactions if hit.trigger != "manual"]
    calm = [replay for replay in replays if not replay.compactions]
    return {
        "automatic compactions": len(hits),
        "advisory 3 operations ahead": _share(
            hit.ops_ahead.get("advisory", 0) >= 3 for hit in hits
        ),
        "urgent 1 operation ahead": _share(hit.ops_ahead.get("urgent", 0) >= 1 for hit in hits),
        "sessions without a compaction": len(calm),
        "of them heard anything": _share(
            any(one.is_delivered for one in replay.raised) for replay in calm
        ),
    }


def _share(facts: Iterator[bool]) -> float:
    found = list(facts)
    return sum(found) / len(found) if found else 0.0


def _spread(errors: list[float]) -> dict[str, float]:
    ordered = sorted(errors)
    if not ordered:
        return {}
    return {
        "count": len(ordered),
        "median": ordered[len(ordered) // 2],
        "p90": ordered[int(len(ordered) * 0.9)],
        "p99": ordered[int(len(ordered) * 0.99)],
    }


if __name__ == "__main__":
    import json
    import sys

    print(json.dumps(measure(Path(sys.argv[1])), indent=1))
