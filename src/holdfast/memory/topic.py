"""One topic of the memory folder: front matter and text. Any author's is read; we write our own.

Ours contain `source: holdfast` and a hash of themselves. A file with another hash was edited by
hand, and belongs to its editor.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import sha256

from holdfast.wire.errors import HoldfastError

TYPES = ("user", "feedback", "project", "reference")
SOURCE = "holdfast"
MOST_NAME, MOST_DESCRIPTION, MOST_BODY = 80, 300, 60_000
POINTER_CHARS = 150  # what the client expects of a line in its index
FENCE = "---"
_HASH = re.compile(r"^hash: [0-9a-f]+\n", re.MULTILINE)


class NotOurTopic(HoldfastError):
    """Somebody else wrote the topic, or has edited it since."""

    exit_code = 3
    hint = "edit the file yourself, or give your topic another name"


class NoSuchTopic(HoldfastError):
    hint = "`holdfast memory list` shows them all"


class Ambiguous(HoldfastError):
    exit_code = 2
    hint = "name the file instead"


class Unfit(HoldfastError):
    """The name, type or text is not valid for a topic."""

    exit_code = 2


class TopicIndexFull(HoldfastError):
    """The index of the folder is full."""

    exit_code = 3
    hint = "retire a topic: Claude Code reads the first 200 lines and 25,000 bytes of MEMORY.md"


class NotWritten(HoldfastError):
    """The folder cannot be written, or somebody else keeps writing it."""

    exit_code = 5
    hint = "nothing was changed; make the folder writable, or try again"


@dataclass(frozen=True, slots=True)
class MemoryTopic:
    name: str
    description: str
    type: str  # one of TYPES; empty if the file has none
    body: str
    file: str  # its name in the folder
    is_ours: bool = False  # we wrote it, and nobody has changed it
    in_index: bool = False
    modified_ms: int = 0
    note: str = ""  # what is odd about it


def render(name: str, description: str, kind: str, body: str) -> str:
    """Return the file content of a topic of ours."""
    quoted = (json.dumps(text, ensure_ascii=False) for text in (name, description))
    head = "name: {}\ndescription: {}\n".format(*quoted) + f"type: {kind}\nsource: {SOURCE}\n"
    text = f"{FENCE}\n{head}{FENCE}\n\n{body.strip()}\n"
    return text.replace(f"source: {SOURCE}\n", f"source: {SOURCE}\nhash: {_digest(text)}\n", 1)


def parse(text: str, file: str) -> MemoryTopic:
    """Parse any file. With broken front matter, everything is the body, and a note says so."""
    values, body, note = _split(text)
    kind = values.get("type", "")
    note = note or ("" if not kind or kind in TYPES else f"unknown type {kind[:20]!r}")
    stem = file.removesuffix(".md")
    return MemoryTopic(
        name=_line(values.get("name", "")) or stem,
        description=_line(values.get("description", "")) or _first_line(body),
        type=kind if kind in TYPES else "",
        body=body,
        file=file,
        is_ours=is_ours(text, values),
        note=note,
    )


def is_ours(text: str, values: dict[str, str]) -> bool:
    without = _HASH.sub("", text, count=1)
    return values.get("source") == SOURCE and values.get("hash") == _digest(without)


def file_name(name: str) -> str:
    """Return the file name for a topic; empty if its name has no letter or digit."""
    words = "".join(mark if mark.isalnum() else " " for mark in name.lower()).split()
    stem = "-".join(words)[:60].rstrip("-").encode()[:180].decode("utf-8", "ignore")
    return f"{stem}.md" if stem else ""


def pointer(topic: MemoryTopic) -> str:
    """Return its line in the index, which is found by the file it names."""
    title = "".join(mark for mark in topic.name if mark not in "[]()")
    line = f"- [{title}]({topic.file}) — {_line(topic.description)}"
    return line if len(line) <= POINTER_CHARS else line[: POINTER_CHARS - 1].rstrip() + "…"


def _split(text: str) -> tuple[dict[str, str], str, str]:
    """Return the values of the front matter, the body, and what is wrong with the former."""
    lines = text.removeprefix("\ufeff").split("\n")
    if lines[0].strip() != FENCE:
        return {}, text, "no front matter"
    ends = [n for n, line in enumerate(lines[:60]) if n and line.strip() == FENCE]
    if not ends:
        return {}, text, "front matter without an end"
    return _values(lines[1 : ends[0]]), "\n".join(lines[ends[0] + 1 :]).strip("\n"), ""


def _values(lines: list[str]) -> dict[str, str]:
    """Read `key: value` lines at any depth: the client puts `type` under `metadata`. The first one
    wins."""
    found: dict[str, str] = {}
    for line in lines:
        key, colon, value = line.strip().partition(":")
        if colon and value.strip():
            found.setdefault(key.strip(), _unquoted(value.strip()))
    return found


def _unquoted(value: str) -> str:
    if value[:1] == '"':
        try:
            return str(json.loads(value))
        except (ValueError, RecursionError):
            return value.strip('"')
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    return value


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _line(text: str) -> str:
    return " ".join(text.split())


def _first_line(body: str) -> str:
    lines = (line.strip().lstrip("#").strip() for line in body.split("\n"))
    return next((line[:MOST_DESCRIPTION] for line in lines if line), "")
