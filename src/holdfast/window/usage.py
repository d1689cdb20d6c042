"""The tokens that a session's answers took, by day and model, and the lines that were not read."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from holdfast.transcript.reader import Reader
from holdfast.transcript.steps import Operation, operations

SKIPPED = ("unknown", "torn", "oversized")


class TokenUse(NamedTuple):
    """Tokens as the model's provider counts them: input, output, cache reads and cache writes."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_written: int = 0

    def plus(self, other: TokenUse) -> TokenUse:
        return TokenUse(*(one + more for one, more in zip(self, other, strict=True)))


UseByDay = dict[str, dict[str, TokenUse]]


class SessionUse(NamedTuple):
    """`by_day`: the use of each day of this machine's clock, by model."""

    by_day: UseByDay
    steps: int
    first_ms: int
    last_ms: int
    lines: int
    skipped: int  # lines that could not be read, or whose kind is unknown

    def added_to(self, other: UseByDay) -> UseByDay:
        found = {day: dict(models) for day, models in other.items()}
        for day, models in self.by_day.items():
            for model, used in models.items():
                _add(found, day, model, used)
        return found


def _add(by_day: UseByDay, day: str, model: str, used: TokenUse) -> None:
    models = by_day.setdefault(day, {})
    models[model] = models.get(model, TokenUse()).plus(used)


def read_use(path: Path, *, sidechain: bool = False) -> SessionUse:
    """Count each answer once. Raises Unreadable."""
    reader = Reader(path)
    by_day: UseByDay = {}
    times: list[float] = []
    steps = 0
    for item in operations(reader, sidechain=sidechain):
        if not isinstance(item, Operation):
            continue
        steps += 1
        times += [item.epoch_s] if item.epoch_s else []
        usage = item.usage
        if not usage.total_tokens:
            continue
        day = datetime.fromtimestamp(times[-1]).date().isoformat() if times else ""  # noqa: DTZ006
        cache = usage.cache_read_input or 0, usage.cache_creation_input or 0
        _add(by_day, day, item.model, TokenUse(usage.input or 0, usage.output_tokens, *cache))
    tally = reader.tally.as_dict()
    first_ms, last_ms = (int(1000 * of(times, default=0)) for of in (min, max))
    skipped = sum(tally[name] for name in SKIPPED)
    return SessionUse(by_day, steps, first_ms, last_ms, tally["lines"], skipped)
