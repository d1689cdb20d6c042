"""The fields of a plan: values that know their place, what each must be, and the ids of tasks.

Given ids stay; ids that we make avoid them. A number of tokens may be written `12000`, `12,000`,
`12k`, `1.5m` or `~12k tokens`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from posixpath import normpath

from holdfast.plan.task import BadPlan, PlanPosition
from holdfast.redact import redact

DEEPEST = 12  # a plan needs five

Scalar = str | int | float | bool | None
_NUMBER = re.compile(r"(\d{1,12})(?:\.(\d{1,6}))?\s*([km]?)")
FACTORS = {"": 1, "k": 1_000, "m": 1_000_000}
MOST_FILES = 2_000  # of one task
LONGEST_ID = 80
MOST_TOKENS = 10**12
_ID = re.compile(r"[\w.:-]+")  # no slash: that is how a part follows its task
LONGEST_TITLE = 1_000
_NO_WORD = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class Node:
    """A scalar, a list of nodes, or a mapping of names to nodes."""

    value: Scalar | list[Node] | dict[str, Node]
    place: PlanPosition

    @property
    def kind(self) -> str:
        """The kind of value in the words of the person who wrote it."""
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


def check_depth(depth: int, place: PlanPosition) -> None:
    if depth > DEEPEST:
        raise BadPlan(
            f"nested more than {DEEPEST} deep", place, "a plan needs tasks and subtasks, no more"
        )


def parse_tokens(given: str) -> int | None:
    """Parse a number of tokens; None if it is not one."""
    plain = (
        given.lower()
        .lstrip("~≈ ")
        .removeprefix("about")
        .removesuffix("tokens")
        .strip()
        .replace(",", "")
        .replace("_", "")
    )
    found = _NUMBER.fullmatch(plain)
    if found is None:
        return None
    whole, part, factor = int(found[1]), found[2] or "", FACTORS[found[3]]
    return whole * factor + (int(part) * factor // 10 ** len(part) if part else 0)


def read_text(node: Node | None, what: str) -> str:
    if node is None or node.value is None:
        return ""
    if isinstance(node.value, bool) or not isinstance(node.value, str | int | float):
        raise BadPlan(f"{what} must be text, this is {node.kind}", node.place, "put it in quotes")
    return str(node.value)


def read_id(node: Node | None) -> str:
    """The task's id; empty if the plan gives none."""
    if node is None or node.value is None:
        return ""
    name = read_text(node, "id").strip()
    if not name or len(name) > LONGEST_ID or not _ID.fullmatch(name):
        words = f"an id has letters, digits and . : _ -, at most {LONGEST_ID}; this is {name!r}"
        raise BadPlan(
            words, node.place, "write it as `cart-2`, or leave it out: the title makes one"
        )
    return name


def read_items(node: Node, what: str) -> list[Node]:
    if not isinstance(node.value, list):
        raise BadPlan(f"{what} must be a list, this is {node.kind}", node.place, "write [a, b]")
    return node.value


def read_words(node: Node | None, what: str) -> tuple[str, ...]:
    """A list of words, or a single one."""
    if node is None or node.value is None:
        return ()
    items = node.value if isinstance(node.value, list) else [node]
    found = (read_text(item, f"each of {what}").strip() for item in items)
    return tuple(dict.fromkeys(one for one in found if one))


def read_ids(node: Node | None) -> tuple[str, ...]:
    return read_words(node, "depends")


def read_files(node: Node | None) -> tuple[str, ...]:
    found = read_words(node, "files")
    if node is not None and len(found) > MOST_FILES:
        words = f"{len(found):,} files of one task: at most {MOST_FILES:,} are read"
        raise BadPlan(words, node.place, "name a folder or a pattern: `src/**/*.ts`")
    return tuple(dict.fromkeys(map(normpath, found)))  # one file has one name


def read_groups(node: Node | None) -> tuple[tuple[str, ...], ...]:
    if node is None or node.value is None:
        return ()
    return tuple(read_files(item) for item in read_items(node, "groups"))


def read_count(node: Node | None, what: str, least: int = 1) -> int | None:
    if node is None or node.value is None:
        return None
    value = parse_tokens(node.value) if isinstance(node.value, str) else node.value
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST_TOKENS:
        write = "write 12000 or 12k" if least else "write 0, 1, 2 …"
        raise BadPlan(f"{what} must be a whole number, at least {least}", node.place, write)
    return value


def read_flag(node: Node | None, what: str) -> bool:
    if node is None or node.value is None:
        return False
    if not isinstance(node.value, bool):
        raise BadPlan(f"{what} must be yes or no, this is {node.kind}", node.place, "write true")
    return node.value


def slug(title: str) -> str:
    """Make an id from a title: `Add login!` is `add-login`."""
    return _NO_WORD.sub("-", title.lower()).strip("-")[:LONGEST_ID]


class TaskIds:
    def __init__(self, items: Sequence[Node]) -> None:
        self.taken: dict[str, PlanPosition] = {}
        self._numbered: Counter[str] = Counter()  # a plan may say one title 20,000 times
        for item in items:
            self._take_given(item)

    def _take_given(self, item: Node) -> None:
        node = item.value.get("id") if isinstance(item.value, dict) else None
        name = read_id(node)
        if node is None or not name:
            return
        if name in self.taken:
            first = self.taken[name]
            words = f"two tasks have the id {name!r}; the first is at {first}"
            raise BadPlan(words, node.place, "give one of them another id, or none")
        self.taken[name] = node.place

    def made(self, title: str) -> str:
        """An id from the title; a second task with that title gets a number. Ids are stored and
        shown, so secrets in a title are left out."""
        name = stem = slug(redact(title[:LONGEST_TITLE])) or "task"
        while name in self.taken:
            self._numbered[stem] += 1
            name = f"{stem}-{self._numbered[stem] + 1}"
        self.taken[name] = PlanPosition()
        return name
