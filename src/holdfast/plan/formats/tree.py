"""What a file says before it means anything: values that know where they stand."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.plan.errors import BadPlan, Place

DEEPEST = 12  # a plan needs five

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Node:
    """A scalar, a list of nodes, or a mapping of names to nodes."""

    value: Scalar | list[Node] | dict[str, Node]
    place: Place

    @property
    def kind(self) -> str:
        """As the person who wrote it would call it."""
        for types, name in _KINDS:
            if isinstance(self.value, types):
                return name
        return "nothing"


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "yes or no"),
    (str, "text"),
    ((int, float), "a number"),
    (list, "a list"),
    (dict, "a mapping"),
)


def check_depth(depth: int, place: Place) -> None:
    if depth > DEEPEST:
        raise BadPlan(
            f"nested more than {DEEPEST} deep", place, "a plan needs tasks and subtasks, no more"
        )
