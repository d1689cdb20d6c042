"""What the marks of a test file say, read from its text: nothing is imported for it."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple


class MarkedTest(NamedTuple):
    """A test function: the promises it proves, and whether only `make nightly` runs it."""

    promises: frozenset[str]
    is_nightly: bool


def is_wholly_marked(path: Path, marks: Iterable[str]) -> bool:
    """Whether the `pytestmark` line of a test file has one of the marks."""
    if not path.match("test_*.py"):
        return False
    line = rf"^pytestmark = .*\bpytest\.mark\.({'|'.join(marks)})\b"
    return bool(re.search(line, path.read_text(encoding="utf-8"), re.M))


def marked_tests(path: Path) -> Iterator[MarkedTest]:
    """The tests of a file. One of which only some parameters are nightly is not nightly."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    of_file = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield _read([*of_file, *node.decorator_list])


def _read(marks: list[ast.expr]) -> MarkedTest:
    whole = [part for mark in marks for part in getattr(mark, "elts", [mark])]
    words = [ast.unparse(mark) for mark in whole]
    promises = {
        str(argument.value)
        for mark in whole
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.requirement"
        for argument in mark.args
        if isinstance(argument, ast.Constant)
    }
    return MarkedTest(frozenset(promises), "pytest.mark.nightly" in words)
