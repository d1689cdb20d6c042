"""Counts, sizes, costs and names as people read them.

An estimate whose range spans a factor of eight or more has at most two meaningful digits, so
people and models see two. Programs get all of them.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

from holdfast.redact.find import redact
from holdfast.wire.log import inert

DIGITS = 2
SMALL_TOKENS = 2000  # 1 % of the smallest window; a lower end below it is not shown
STEP_CHARS = 60  # how much of a task's title is shown


Progress = Callable[[str, int, int], None]  # activity, done, total


def silent(what: str, done: int, total: int) -> None:
    """A `Progress` that shows nothing."""


def about(tokens: int) -> str:
    """Two digits: `17,386` becomes `17,000`."""
    return f"{rounded(tokens):,}"


def rounded(tokens: int) -> int:
    step: int = max(1, 10 ** (len(str(abs(tokens))) - DIGITS))
    return (tokens + step // 2) // step * step


def span(low: int, high: int) -> str:
    """A range in words. Empty if both ends are equal; a very low lower end is left out."""
    if low == high:
        return ""
    return f"{about(low)} to {about(high)}" if low >= SMALL_TOKENS else f"up to {about(high)}"


def counted(count: int, noun: str) -> str:
    many = "es" if noun.endswith(("s", "x", "ch", "sh")) else "s"
    return f"{count:,} {noun}{'' if count == 1 else many}"


def listed(names: Sequence[str], most: int) -> str:
    """`a, b and 3 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def named(text: str) -> str:
    return inert(redact(text))


def step_of(title: str) -> str:
    return f'a step of "{short(named(title), STEP_CHARS)}"'


def nothing_left(done: int) -> str:
    return f"nothing left to do: {counted(done, 'task')} done"


Tariff = dict[str, tuple[float, ...]]  # a million tokens each: sent, got, read, written
_MILLION = 1_000_000


def parse_tariff(text: str) -> Tariff:
    """Parse `model input output read written; …`; what does not fit is left out."""
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
    return sum(count * cost for count, cost in zip(used, price, strict=True)) / _MILLION
