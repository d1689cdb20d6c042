"""A plan from its file: which kind it is, and whether it is text at all."""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.plan.errors import BadPlan, NoPlan, Place
from holdfast.plan.files.expand_patterns import Begun, spread
from holdfast.plan.formats import json_tree, markdown_tree, schema, yaml_tree
from holdfast.plan.formats.cycles import check
from holdfast.plan.task import Plan
from holdfast.wire import places

MOST_BYTES = 8 << 20
KINDS = {
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".md": "markdown",
    ".markdown": "markdown",
}
_PARSERS = {"json": json_tree.parse, "yaml": yaml_tree.parse, "markdown": markdown_tree.parse}
_BOX = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\][ \t]", re.MULTILINE)
_BULLET = re.compile(r"^(?:[*+]|\d{1,9}[.)])[ \t]+\S", re.MULTILINE)  # `- a` is YAML as well


def load(path: Path, root: Path | None = None, begun: Begun | None = None) -> Plan:
    """The plan, its ids and dependencies proven; what is wrong names the file and the line.

    `root`: where its files lie, so that folders stand for what is in them; or for what was in
    them when a run had `begun`.
    """
    try:
        return read(_text(path), KINDS.get(path.suffix.lower(), ""), root, begun)
    except BadPlan as slip:
        raise slip.named(str(path)) from None


def taken(data: bytes, root: Path | None = None) -> Plan:
    """As `load`, of what came on stdin."""
    try:
        return read(_decoded(_bounded(data)), "", root)
    except BadPlan as slip:
        raise slip.named("stdin") from None


def read(text: str, kind: str = "", root: Path | None = None, begun: Begun | None = None) -> Plan:
    if not text.strip():
        raise NoPlan("the plan is empty")
    found = schema.plan(_PARSERS[kind or _kind(text)](text))
    check(found.tasks)
    return found if root is None else spread(found, root, begun)


def _kind(text: str) -> str:
    if text.lstrip()[:1] in ("{", "["):
        return "json"
    return "markdown" if _BOX.search(text) or _BULLET.search(text) else "yaml"


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise NoPlan("no such file" if not path.exists() else "not a plain file")
        data = places.read_small(str(path), MOST_BYTES + 1)
    except (OSError, ValueError):
        raise NoPlan("cannot be read") from None
    if not data and path.stat().st_size:
        raise NoPlan("cannot be read: check its permissions")
    return _decoded(_bounded(data))


def _bounded(data: bytes) -> bytes:
    if len(data) > MOST_BYTES:
        raise BadPlan(f"larger than {MOST_BYTES >> 20} MB", hint="make two plans of it")
    return data


def _decoded(data: bytes) -> str:
    if b"\0" in data:
        at = _place(data, data.index(b"\0"))
        raise BadPlan("a NUL byte: this is no text", at, "save the plan as UTF-8 text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as slip:
        raise BadPlan(
            "not UTF-8", _place(data, slip.start), "save the plan as UTF-8 text"
        ) from None


def _place(data: bytes, at: int) -> Place:
    return Place(data.count(b"\n", 0, at) + 1)
