"""Which Python files of a task import each other, by the standard parser; nothing is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath


def pairs(sources: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """(importer, imported), both among the given files."""
    modules = _modules(sources)
    for name, source in sources.items():
        for wanted in _wanted(name, source):
            found = modules.get(wanted)
            if found is not None and found != name:
                yield name, found


def _modules(names: Mapping[str, bytes]) -> dict[str, str]:
    """Every dotted name a file can be imported by: its path, and every end of it of two or more
    parts. `src/shop/cart.py` is `src.shop.cart` and `shop.cart`; only `cart.py` is `cart`."""
    found: dict[str, str] = {}
    for name in sorted(names):
        parts = list(PurePosixPath(name).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        for start in range(len(parts)):
            if start == 0 or len(parts) - start > 1:
                found.setdefault(".".join(parts[start:]), name)
    return found


def _wanted(name: str, source: bytes) -> set[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of their code: an odd escape, say
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found |= _readings(name, alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = _base(name, node.level, node.module or "")
            for alias in node.names:
                found |= _readings(name, f"{base}.{alias.name}".strip(".")) | _readings(name, base)
    return found


def _base(name: str, level: int, module: str) -> str:
    if not level:
        return module
    folder = PurePosixPath(name).parts[:-1]
    kept = folder[: len(folder) - (level - 1)]
    return ".".join([*kept, *filter(None, (module,))])


def _readings(name: str, dotted: str) -> set[str]:
    """The name itself, and as a neighbour: scripts import what lies beside them."""
    beside = [*PurePosixPath(name).parts[:-1], dotted]
    return {dotted, ".".join(beside)} if dotted else set()
