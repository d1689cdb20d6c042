"""What a million tokens cost, as the user's setting `prices` states it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

Tariff = dict[str, tuple[float, ...]]
MILLION = 1_000_000


def parse(text: str) -> Tariff:
    """Parse `model input output read written; …`. What does not fit is left out: a cost without
    its price is not known."""
    tariff: Tariff = {}
    for row in text.split(";"):
        model, *rest = row.split()[:5] or [""]
        with suppress(ValueError):
            numbers = tuple(float(number) for number in rest)
            if model and len(numbers) == 4 and min(numbers) >= 0:
                tariff[model] = numbers
    return tariff


def cost_of(model: str, used: Sequence[int], tariff: Tariff) -> float | None:
    """Return the cost of tokens by the price of the longest name that the model's begins with."""
    names = [name for name in tariff if model.startswith(name)]
    if not names:
        return None
    price = tariff[max(names, key=len)]
    return sum(one * each for one, each in zip(used, price, strict=True)) / MILLION
