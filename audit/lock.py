"""requirements.lock: every package with its hashes, and who asks for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

PINNED = re.compile(r"(?P<name>[\w.-]+)(?:\[(?P<extras>[^]]*)\])?==(?P<version>[^\s\\]+)")
HASH = re.compile(r"--hash=(sha256:[0-9a-f]{64})")
VIA = re.compile(r"^    #(?:   | via )(?P<who>.+)$", re.MULTILINE)
OURS = "holdfast (pyproject.toml)"


class Package(NamedTuple):
    name: str
    version: str
    extras: frozenset[str]
    hashes: tuple[str, ...]
    wanted_by: frozenset[str]


def read(path: Path) -> list[Package]:
    """One entry for each line that pins; a package may have a version for each Python."""
    entries = re.split(r"\n(?=\S)", path.read_text("utf-8"))
    return [_package(one) for one in entries if PINNED.match(one)]


def _package(entry: str) -> Package:
    pinned = PINNED.match(entry)
    assert pinned
    hashes, wanted_by = tuple(HASH.findall(entry)), frozenset(VIA.findall(entry))
    extras = frozenset(filter(None, (pinned["extras"] or "").split(",")))
    return Package(pinned["name"], pinned["version"], extras, hashes, wanted_by)


def at_run_time(packages: list[Package]) -> list[str]:
    """The names of what Holdfast and its extras need, directly or through others."""
    found: set[str] = set()
    while more := {one.name for one in packages if one.wanted_by & {OURS, *found}} - found:
        found |= more
    return sorted(found)
