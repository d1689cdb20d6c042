"""What looks like a file or a folder in a text."""

from __future__ import annotations

import re

from holdfast.plan.kinds import READ_CHARS

FILE = re.compile(r"(?<![\w@])@?(?:[\w.~-]+/)*[\w.-]*\w\.[A-Za-z]\w{0,4}\b(?!/)|@[\w./-]+")
_FILE_OR_FOLDER = re.compile(
    rf"{FILE.pattern}|(?<![\w./~*?\[\]-])[\w.~*?\[\]-]+(?:/[\w.*?\[\]-]+)+/?|(?<![\w./~-])[\w.~-]+/"
)
_BARE = re.compile(r"(?<![\w./~-])(?:(?:[\w.-]+/)+[\w-]+|[A-Za-z]\w+)(?![\w/]|\.\w)")
_URL = re.compile(r"\w+://\S+")


def find_paths(text: str) -> list[str]:
    """What looks like a file, a folder or a pattern, each once."""
    said = _URL.sub(" ", text[:READ_CHARS])
    found = (one[0] for one in _FILE_OR_FOLDER.finditer(said))
    return list(dict.fromkeys(name.rstrip(".") for name in found if "." in name or "/" in name))


def find_bare_names(text: str) -> list[str]:
    """Words that may be files without a suffix, each once: `Makefile`, `.ci/run`, `changelog`."""
    return list(dict.fromkeys(_BARE.findall(_URL.sub(" ", text[:READ_CHARS]))))


def find_files(text: str) -> list[str]:
    """What looks like a file, each once."""
    return list(dict.fromkeys(FILE.findall(text[:READ_CHARS])))
