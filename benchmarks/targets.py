"""Whether a figure reaches what its row has to reach, where both are numbers of the same kind."""

from __future__ import annotations

import re

NUMBER = re.compile(r"(?<![\w.])-?(?:\d[\d,]*(?:\.\d+)?|\.\d+)")
UNIT = r" ?(?P<unit>x|% of a core|%|ms|s|MB|KB|tokens|lines)?"
LIMIT = re.compile(rf"(?P<sign>[≤≥<>]) ?\+?(?P<number>{NUMBER.pattern}){UNIT}")
RANGE = re.compile(rf"(?P<low>{NUMBER.pattern})(?: to |-)(?P<high>{NUMBER.pattern}){UNIT}")


def reached(figure: str, wanted: str) -> bool | None:
    """The first limit is that of the first number, the next that of the next.

    None where a limit is no number (`flat`, `within noise`) or its unit is not the figure's.
    """
    limits = [one.strip() for one in re.split(r" and |, | / ", wanted) if one.strip()]
    numbers = [value(one) for one in NUMBER.findall(figure)]
    if not limits or len(numbers) < len(limits) or figure.startswith("not measured"):
        return None
    judged = [
        _within(number, limit, figure) for number, limit in zip(numbers, limits, strict=False)
    ]
    return None if None in judged else all(judged)


def value(number: str) -> float:
    return float(number.replace(",", ""))


def _within(number: float, limit: str, figure: str) -> bool | None:
    if limit == "0":
        return number == 0
    found = LIMIT.fullmatch(limit) or RANGE.fullmatch(limit)
    if found is None or (found["unit"] and found["unit"] not in figure):
        return None
    if found.re is RANGE:
        return value(found["low"]) <= number <= value(found["high"])
    most = value(found["number"])
    return number <= most if found["sign"] in "≤<" else number >= most
