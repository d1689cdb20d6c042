"""One field of a plan at a time: what it must be, or a mistake with its place."""

from __future__ import annotations

import re
from posixpath import normpath

from holdfast.plan.errors import BadPlan
from holdfast.plan.formats.tokens import tokens
from holdfast.plan.formats.tree import Node

MOST_FILES = 2_000  # of one task
LONGEST_ID = 80
MOST_TOKENS = 10**12
_ID = re.compile(r"[\w.:-]+")  # no slash: that is how a part follows its task


def text(node: Node | None, what: str) -> str:
    if node is None or node.value is None:
        return ""
    if isinstance(node.value, bool) or not isinstance(node.value, str | int | float):
        raise BadPlan(f"{what} must be text, this is {node.kind}", node.place, "put it in quotes")
    return str(node.value)


def given_id(node: Node | None) -> str:
    """The task's own id; empty where it was given none."""
    if node is None or node.value is None:
        return ""
    name = text(node, "id").strip()
    if not name or len(name) > LONGEST_ID or not _ID.fullmatch(name):
        words = f"an id has letters, digits and . : _ -, at most {LONGEST_ID}; this is {name!r}"
        raise BadPlan(
            words, node.place, "write it as `cart-2`, or leave it out: the title makes one"
        )
    return name


def items(node: Node, what: str) -> list[Node]:
    if not isinstance(node.value, list):
        raise BadPlan(f"{what} must be a list, this is {node.kind}", node.place, "write [a, b]")
    return node.value


def words_of(node: Node | None, what: str) -> tuple[str, ...]:
    """A list of words, or one alone."""
    if node is None or node.value is None:
        return ()
    items = node.value if isinstance(node.value, list) else [node]
    found = (text(item, f"each of {what}").strip() for item in items)
    return tuple(dict.fromkeys(one for one in found if one))


def ids(node: Node | None) -> tuple[str, ...]:
    return words_of(node, "depends")


def files(node: Node | None) -> tuple[str, ...]:
    found = words_of(node, "files")
    if node is not None and len(found) > MOST_FILES:
        words = f"{len(found):,} files of one task: at most {MOST_FILES:,} are read"
        raise BadPlan(words, node.place, "name a folder or a pattern: `src/**/*.ts`")
    return tuple(dict.fromkeys(map(normpath, found)))  # one file has one name


def groups(node: Node | None) -> tuple[tuple[str, ...], ...]:
    if node is None or node.value is None:
        return ()
    return tuple(files(item) for item in items(node, "groups"))


def count(node: Node | None, what: str) -> int | None:
    if node is None or node.value is None:
        return None
    value = tokens(node.value) if isinstance(node.value, str) else node.value
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MOST_TOKENS:
        raise BadPlan(f"{what} must be a whole number above 0", node.place, "write 12000 or 12k")
    return value


def flag(node: Node | None, what: str) -> bool:
    if node is None or node.value is None:
        return False
    if not isinstance(node.value, bool):
        raise BadPlan(f"{what} must be yes or no, this is {node.kind}", node.place, "write true")
    return node.value
