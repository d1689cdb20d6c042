"""The files we take a share in, each knowing how it looks with us and without us.

A settings file is someone else's and holds a few lines of ours; an own file is ours whole.
Another part is another class with the same verbs, such as an MCP server's entry (`server_part`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from holdfast.setup import settings_text, status_line, wiring
from holdfast.setup.changes import bytes_of
from holdfast.setup.errors import SettingsBroken, SettingsIsALink


class Part(Protocol):
    """`before` is the bytes from before us, or UNKNOWN where no receipt tells."""

    @property
    def path(self) -> Path: ...
    def read(self) -> bytes | None: ...
    def is_joined(self, data: bytes | None, without: bytes | None) -> bool: ...
    def join(self, data: bytes | None) -> bytes | None: ...
    def leave(self, data: bytes | None, before: Before) -> bytes | None: ...
    def remembered(
        self, without: bytes | None, wanted: bytes | None
    ) -> tuple[bytes | None, bytes | None]:
        """What the receipt keeps: the file without us, and as we left it."""


@dataclass(frozen=True, slots=True)
class Before:
    known: bool
    data: bytes | None = None


UNKNOWN = Before(known=False)


@dataclass(frozen=True, slots=True)
class SettingsPart:
    """A settings.json: our hooks and our status line in it; `below` are those it overrides.
    `packages` are the Holdfasts whose lines are ours."""

    path: Path
    packages: frozenset[str]
    below: tuple[Path, ...] = ()
    table: wiring.HookTable = field(default_factory=wiring.hook_table)

    def read(self) -> bytes | None:
        """The bytes, or a refusal in words: a link, a folder, not text, not JSON."""
        data = plain_bytes(self.path)
        checked(self.path, data)
        return data

    def is_joined(self, data: bytes | None, without: bytes | None) -> bool:
        line = self._line(without)
        return settings_text.has_all(text_of(data), self.table, line, self.packages)

    def join(self, data: bytes | None) -> bytes:
        settings = checked(self.path, data)
        try:
            settings_text.check_room(settings)
        except SettingsBroken as slip:
            raise SettingsBroken(f"{self.path}: {slip}") from None
        return settings_text.join(text_of(data), self.table, self._line(data)).encode()

    def leave(self, data: bytes | None, before: Before) -> bytes | None:
        if data is None:
            return None
        was = text_of(before.data) if before.known else None
        line_below = status_line.command_to_wrap({}, self.below, self.packages)
        text = settings_text.leave(text_of(data), was, self.packages, line_below)
        if text == text_of(data):
            return data
        return before.data if text == was else text.encode()

    def remembered(
        self, without: bytes | None, wanted: bytes | None
    ) -> tuple[bytes | None, bytes | None]:
        return without, wanted

    def _line(self, without: bytes | None) -> dict[str, Any]:
        held = checked(self.path, without)
        theirs = status_line.command_to_wrap(held, self.below, self.packages)
        return wiring.status_line(theirs)


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that is ours whole. `varying` are the words in it that differ between machines. In a
    `shared` place another Holdfast may have put its own."""

    path: Path
    content: str
    varying: tuple[str, ...] = ()
    shared: bool = False

    def read(self) -> bytes | None:
        """A link or a folder in our place is someone else's, and so is never what we wrote."""
        if self.path.is_symlink() or self.path.is_dir():
            return b""
        return bytes_of(self.path)

    def is_joined(self, data: bytes | None, without: bytes | None) -> bool:
        return data == self.content.encode()

    def is_foreign(self, data: bytes | None) -> bool:
        return data is not None and not self._is_mine(data)

    def join(self, data: bytes | None) -> bytes:
        return self.content.encode() if data is None else data

    def leave(self, data: bytes | None, before: Before) -> bytes | None:
        return None if data is None or self._is_mine(data) else data

    def remembered(
        self, without: bytes | None, wanted: bytes | None
    ) -> tuple[bytes | None, bytes | None]:
        return without, wanted

    def _is_mine(self, data: bytes) -> bool:
        """True when only the varying words differ: an older python wrote it."""
        cuts = "|".join(re.escape(word) for word in sorted(self.varying, key=len, reverse=True))
        pieces = re.split(cuts, self.content) if cuts else [self.content]
        pattern = "([^\n]+?)".join(re.escape(piece) for piece in pieces)
        same = re.fullmatch(pattern, data.decode("utf-8", "replace"))
        return same is not None and not (self.shared and any(map(self._is_another, same.groups())))

    def _is_another(self, word: str) -> bool:
        """True for the command of another Holdfast that is still there."""
        return word not in self.varying and wiring.can_start(word)


def plain_bytes(path: Path) -> bytes | None:
    """What the file holds; a link is refused: replacing it would cut it from its manager."""
    if path.is_symlink():
        target = path.readlink()
        raise SettingsIsALink(
            f"{path} is a link to {target}",
            hint=f"whatever manages {target} would lose our lines; make it a plain file first",
        )
    if path.exists() and not path.is_file():
        raise SettingsBroken(f"{path} is not a file")
    return bytes_of(path)


def text_of(data: bytes | None) -> str:
    return settings_text.or_empty((data or b"").decode())


def checked(path: Path, data: bytes | None) -> dict[str, Any]:
    try:
        return settings_text.check(text_of(data))
    except UnicodeDecodeError as slip:
        raise SettingsBroken(f"{path}: not UTF-8 at byte {slip.start + 1}") from None
    except SettingsBroken as slip:
        raise SettingsBroken(f"{path}: {slip}") from None
