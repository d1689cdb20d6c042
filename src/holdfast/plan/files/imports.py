"""Which files of a task import each other. Nothing is run.

Python is read by the standard parser, JavaScript and TypeScript by tree-sitter.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs")
_ROOTS = ("@/", "~/")  # what bundlers call the top of the sources
_TYPES_ONLY = (".ts", ".mts", ".cts")  # `<T>value` is a cast there, a tag elsewhere
_WRITTEN_AS = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".cjs": (".cts",), ".jsx": (".tsx",)}
MOST_NODES = 200_000


def find_python_imports(sources: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """(importer, imported), both among the given files."""
    modules = _modules(sources)
    for name, source in sources.items():
        for wanted in _imported_modules(name, source):
            found = modules.get(wanted)
            if found is not None and found != name:
                yield name, found


def _modules(names: Mapping[str, bytes]) -> dict[str, str]:
    """Every dotted name that can mean a file: its path, and every end of it with two or more parts.
    `src/shop/cart.py` is `src.shop.cart` and `shop.cart`; only `cart.py` is `cart`."""
    found: dict[str, str] = {}
    for name in sorted(names):
        parts = list(PurePosixPath(name).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        for start in range(len(parts)):
            if start == 0 or len(parts) - start > 1:
                found.setdefault(".".join(parts[start:]), name)
    return found


def _imported_modules(name: str, source: bytes) -> set[str]:
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
    """The name itself, and as a neighbour: scripts import files beside them."""
    beside = [*PurePosixPath(name).parts[:-1], dotted]
    return {dotted, ".".join(beside)} if dotted else set()


def find_script_imports(sources: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """(importer, imported), both among the given files."""
    for name, source in sources.items():
        for wanted in sorted(_imported_scripts(source, name.endswith(_TYPES_ONLY))):
            found = _find(name, wanted, sources)
            if found and found != name:
                yield name, found


def _find(name: str, wanted: str, files: Mapping[str, bytes]) -> str:
    if wanted.startswith("."):
        return _file(normpath(join(dirname(name), wanted)), files)
    if not wanted.startswith(_ROOTS):
        return ""
    ends = {end: _file(end + wanted[2:], files) for end in ("", *_tops(files))}
    return next((found for found in ends.values() if found), "")


def _tops(files: Mapping[str, bytes]) -> list[str]:
    """Every folder above a file, outermost first."""
    found = {
        file[: at + 1] for file in files for at, mark in enumerate(file) if mark == "/" and at < 200
    }
    return sorted(found, key=lambda top: (len(top), top))


def _file(path: str, files: Mapping[str, bytes]) -> str:
    """Resolve as bundlers do: the name, with a suffix, as a folder's index; `.js` may be `.ts`."""
    tried = [path, *(path + suffix for suffix in SUFFIXES)]
    tried += [f"{path}/index{suffix}" for suffix in SUFFIXES]
    for written, meant in _WRITTEN_AS.items():
        if path.endswith(written):
            tried += [path.removesuffix(written) + suffix for suffix in meant]
    return next((one for one in tried if one in files), "")


@cache
def _parser(types_only: bool) -> Parser:
    import tree_sitter
    import tree_sitter_typescript as grammars

    grammar = grammars.language_typescript() if types_only else grammars.language_tsx()
    return tree_sitter.Parser(tree_sitter.Language(grammar))


def _imported_scripts(source: bytes, types_only: bool) -> set[str]:
    """Every module named in import, export … from, require() and import()."""
    waiting: list[Node] = [_parser(types_only).parse(source).root_node]
    found: set[str] = set()
    seen = 0
    while waiting and seen < MOST_NODES:
        node = waiting.pop()
        seen += 1
        text = _named(node)
        if text is not None and text.text is not None:
            found.add(text.text.decode("utf-8", "replace").strip("'\"`"))
        waiting += node.children
    return found


def _named(node: Node) -> Node | None:
    if node.type in ("import_statement", "export_statement"):
        return node.child_by_field_name("source")
    if node.type != "call_expression":
        return None
    called, given = (node.child_by_field_name(name) for name in ("function", "arguments"))
    if called is None or given is None or called.text not in (b"require", b"import"):
        return None
    first = given.named_children[0] if given.named_children else None
    return first if first is not None and first.type == "string" else None
