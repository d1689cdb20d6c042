"""Which files of a task import each other: Python, JavaScript and TypeScript, read line by line. A
line in a text or a comment may look like an import; it then ties two files that exist, no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from posixpath import dirname, join, normpath

PYTHON = (".py", ".pyi")
SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs")
_ROOTS = ("@/", "~/")  # what bundlers call the top of the sources
_WRITTEN_AS = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".cjs": (".cts",), ".jsx": (".tsx",)}
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w., \t]+)", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|.*)", re.MULTILINE)
_MODULE = re.compile(r"(?:\bfrom|\bimport|\brequire)[ \t]*\(?[ \t]*['\"]([^'\"\n]+)['\"]")
_WORD = re.compile(r"[A-Za-z_]\w*")


def find_imports(sources: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    """(importer, imported), both among the given files."""
    modules = _modules([name for name in sources if name.endswith(PYTHON)])
    tops = _tops(sources)
    for name, source in sources.items():
        text = source.decode("utf-8", "replace")
        if name.endswith(PYTHON):
            targets = {modules.get(wanted, "") for wanted in _python_names(name, text)}
        elif name.endswith(SCRIPTS):
            targets = {_find(name, wanted, tops, sources) for wanted in _MODULE.findall(text)}
        else:
            continue
        yield from ((name, target) for target in sorted(targets - {"", name}))


def _modules(names: list[str]) -> dict[str, str]:
    """Every dotted name that can mean a file: its path, and every end of it with two or more parts.
    `src/shop/cart.py` is `src.shop.cart` and `shop.cart`; only `cart.py` is `cart`."""
    modules: dict[str, str] = {}
    for name in sorted(names):
        parts = list(PurePosixPath(name).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        for start in range(len(parts)):
            if start == 0 or len(parts) - start > 1:
                modules.setdefault(".".join(parts[start:]), name)
    return modules


def _python_names(name: str, text: str) -> Iterator[str]:
    """The dotted names that a file imports, also as neighbours: scripts import those."""
    folder = PurePosixPath(name).parts[:-1]
    for names in _IMPORT.findall(text):
        for name in names.split(","):
            yield from _readings(folder, name.split()[0] if name.split() else "")
    for dots, module, names in _FROM.findall(text):
        above = folder[: len(folder) - len(dots) + 1]
        base = ".".join([*above, module]).strip(".") if dots else module
        words = _WORD.findall(re.sub(r"\bas[ \t]+\w+|#.*", "", names))
        for dotted in (base, *(f"{base}.{word}".strip(".") for word in words)):
            yield from _readings(() if dots else folder, dotted)


def _readings(folder: tuple[str, ...], dotted: str) -> Iterator[str]:
    if dotted:
        yield dotted
        yield ".".join([*folder, dotted])


def _tops(files: Mapping[str, bytes]) -> list[str]:
    """Every folder above a file, outermost first."""
    folders = {file[: at + 1] for file in files for at, mark in enumerate(file) if mark == "/"}
    return ["", *sorted(folders, key=lambda folder: (len(folder), folder))]


def _find(name: str, wanted: str, tops: list[str], files: Mapping[str, bytes]) -> str:
    if wanted.startswith("."):
        return _file(normpath(join(dirname(name), wanted)), files)
    if not wanted.startswith(_ROOTS):
        return ""
    return next((found for top in tops if (found := _file(top + wanted[2:], files))), "")


def _file(path: str, files: Mapping[str, bytes]) -> str:
    """Resolve as bundlers do: the name, with a suffix, as a folder's index; `.js` may be `.ts`."""
    tried = [path, *(path + suffix for suffix in SCRIPTS)]
    tried += [f"{path}/index{suffix}" for suffix in SCRIPTS]
    for written, meant in _WRITTEN_AS.items():
        if path.endswith(written):
            tried += [path.removesuffix(written) + suffix for suffix in meant]
    return next((file for file in tried if file in files), "")
