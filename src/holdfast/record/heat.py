"""Heat: a count that fades as the work moves on. Bounded tables drop what is coldest."""

from collections.abc import Iterable
from math import exp
from typing import Protocol, TypeVar

FADE_OPS = 40.0  # an item not touched for so many operations has cooled to a third
FLOOR = 0.02  # what a touch is worth for ever


class Hot(Protocol):
    heat: float
    op: int


Item = TypeVar("Item", bound=Hot)


def warm(item: Hot, op: int, by: float) -> None:
    """One more touch at operation `op`."""
    item.heat = by + (item.heat * exp((item.op - op) / FADE_OPS) if item.heat else 0.0)
    item.op = op


def heat_at(item: Hot, op: int, fade_ops: float = FADE_OPS) -> float:
    return item.heat * exp((item.op - op) / fade_ops)


def thin(table: dict[str, Item], op: int, most: int) -> None:
    """Past twice `most`, keep the warmest `most`; which ones depends on nothing but the table."""
    if len(table) > 2 * most:
        keep_warmest(table, table, op, most)


def keep_warmest(table: dict[str, Item], among: Iterable[str], op: int, most: int) -> None:
    """Of these keys the warmest `most` stay in the table."""
    ranked = sorted(among, key=lambda key: heat_at(table[key], op), reverse=True)
    for key in ranked[most:]:
        del table[key]
