"""The files that an install changes, each knowing how it looks with our part and without it.

A settings file belongs to the user and holds a few lines of ours (`SettingsPart`); an own file is
ours as a whole (`OwnFile`); `~/.claude.json` or a `.mcp.json` has our MCP server among much else
(`ServerPart`). Claude Code rewrites `~/.claude.json` all the time, so that one has no backup: the
receipt only tells which of the objects around our entry existed before.
"""

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.client.claude_folder import MAX_SETTINGS_BYTES
from holdfast.setup import settings_text, wiring
from holdfast.setup.changes import bytes_of
from holdfast.setup.errors import SettingsBroken, SettingsIsALink
from holdfast.setup.json_text import add, find, is_empty, raw, read, remove
from holdfast.setup.settings_text import settings_in, status_command_in
from holdfast.setup.wiring import is_ours, wrapped_in
from holdfast.wire import places


@dataclass(frozen=True, slots=True)
class BytesBefore:
    known: bool
    data: bytes | None = None


UNKNOWN = BytesBefore(known=False)
ELSEWHERE = (
    "or leave it and install elsewhere: `holdfast install` with another --scope (user, project, "
    "local), or as a plugin"
)


@dataclass(frozen=True, slots=True)
class SettingsPart:
    """A settings.json with our hooks and our status line. `below` are the files it overrides;
    `packages` are the Holdfasts whose lines are ours."""

    path: Path
    packages: frozenset[str]
    below: tuple[Path, ...] = ()
    table: wiring.HookTable = field(default_factory=wiring.hook_table)
    has_status_line: bool = True

    def read(self) -> bytes | None:
        """The bytes. A larger file than our hooks read is refused: to find the place of our lines
        in it takes more than two seconds for each megabyte."""
        if places.size_of(self.path) > MAX_SETTINGS_BYTES:
            words = f"{self.path} has more than {MAX_SETTINGS_BYTES:,} bytes"
            raise SettingsBroken(words, hint="make it smaller first: nothing was changed")
        try:
            return read_json(self.path)
        except SettingsIsALink as error:
            if self.path.is_symlink():
                raise SettingsIsALink(str(error), hint=f"{error.hint}; {ELSEWHERE}") from None
            raise

    def is_joined(self, data: bytes | None, without: bytes | None) -> bool:
        line = self._line(without)
        return settings_text.has_all(text_of(data), self.table, line, self.packages)

    def check(self, data: bytes | None) -> None:
        """Refuse what no hook can be added to."""
        settings = parse_settings(self.path, data)
        try:
            settings_text.check_room(settings)
        except SettingsBroken as error:
            raise SettingsBroken(f"{self.path}: {error}") from None

    def join(self, data: bytes | None) -> bytes:
        self.check(data)
        return settings_text.join(text_of(data), self.table, self._line(data)).encode()

    def leave(self, data: bytes | None, before: BytesBefore) -> bytes | None:
        if data is None:
            return None
        was = text_of(before.data) if before.known else None
        line_below = command_to_wrap({}, self.below, self.packages)
        text = settings_text.leave(text_of(data), was, self.packages, line_below)
        if text == text_of(data):
            return data
        return before.data if text == was else text.encode()

    def _line(self, without: bytes | None) -> dict[str, Any] | None:
        if not self.has_status_line:
            return None
        held = parse_settings(self.path, without)
        theirs = command_to_wrap(held, self.below, self.packages)
        return wiring.status_line(theirs)


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that is completely ours. `varying` are the words in it that differ between machines;
    another Holdfast may have written its own."""

    path: Path
    content: str
    varying: tuple[str, ...] = ()

    def read(self) -> bytes | None:
        """The bytes. A link or a folder in this place belongs to someone else."""
        if self.path.is_symlink() or self.path.is_dir():
            return b""
        return bytes_of(self.path)

    def is_joined(self, data: bytes | None, without: bytes | None) -> bool:
        return data == self.content.encode()

    def is_foreign(self, data: bytes | None) -> bool:
        return data is not None and not self._is_mine(data)

    def join(self, data: bytes | None) -> bytes:
        return self.content.encode() if data is None else data

    def leave(self, data: bytes | None, before: BytesBefore) -> bytes | None:
        return None if data is None or self._is_mine(data) else data

    def _is_mine(self, data: bytes) -> bool:
        """True if only the varying words differ, as after an update of Python."""
        cuts = "|".join(re.escape(word) for word in sorted(self.varying, key=len, reverse=True))
        pieces = re.split(cuts, self.content) if cuts else [self.content]
        pattern = "([^\n]+?)".join(re.escape(piece) for piece in pieces)
        same = re.fullmatch(pattern, data.decode("utf-8", "replace"))
        return same is not None and not any(map(self._is_another, same.groups()))

    def _is_another(self, word: str) -> bool:
        """True for the command of another Holdfast that still exists."""
        return word not in self.varying and wiring.can_start(word)


def read_json(path: Path) -> bytes | None:
    """The bytes of a settings file. Anything but JSON text is refused, and so is a link, or a file
    with several names (hard links): replacing it would disconnect what manages it, or leave the
    other names with the old content."""
    if path.is_symlink():
        target = path.readlink()
        hint = f"whatever manages {target} would lose our lines; make it a regular file first"
        raise SettingsIsALink(f"{path} is a link to {target}", hint)
    if path.exists() and not path.is_file():
        raise SettingsBroken(f"{path} is not a file")
    if path.exists() and (names := path.stat().st_nlink) > 1:
        hint = "the other names would keep the old content; make it a file of its own first: "
        hint += f"cp -p {path} {path}.new && mv {path}.new {path}"
        raise SettingsIsALink(f"{path} is one of {names} names of the same file (hard links)", hint)
    data = bytes_of(path)
    parse_settings(path, data)
    return data


def text_of(data: bytes | None) -> str:
    return settings_text.or_empty((data or b"").decode())


def parse_settings(path: Path, data: bytes | None) -> dict[str, Any]:
    try:
        return settings_text.check(text_of(data))
    except UnicodeDecodeError as error:
        raise SettingsBroken(f"{path}: not UTF-8 at byte {error.start + 1}") from None
    except SettingsBroken as error:
        raise SettingsBroken(f"{path}: {error}") from None


def command_to_wrap(
    without_us: dict[str, Any], below: Sequence[Path], packages: Collection[str]
) -> str | None:
    """What the status line runs without us: this file's command, else that of the files below."""
    for settings in (without_us, *map(settings_in, below)):
        command = status_command_in(settings)
        while is_ours(command, packages):  # never wrap our own command
            command = wrapped_in(command)
        if command is not None:
            return command if _is_an_argument(command) else None
    return None


def _is_an_argument(command: str) -> bool:
    """False for a NUL or half a surrogate pair, which cannot be passed to a program."""
    try:
        return b"\0" not in command.encode()
    except UnicodeEncodeError:
        return False


@dataclass(frozen=True, slots=True)
class ServerPart:
    """Our entry under `servers`, such as ("mcpServers",). If it is not `wanted`, it is removed.
    `packages` are the Holdfasts whose entry is ours."""

    path: Path
    packages: frozenset[str]
    servers: tuple[str, ...] = ("mcpServers",)
    wanted: bool = True

    def read(self) -> bytes | None:
        return read_json(self.path)

    def is_joined(self, data: bytes | None, without: bytes | None) -> bool:
        entry = self._entry(data)
        return entry == wiring.server_entry() if self.wanted else not self._is_ours(data)

    def is_foreign(self, data: bytes | None) -> bool:
        """Whether another server has our name. It stays, and ours is left out."""
        return self._entry(data) is not None and not self._is_ours(data)

    def join(self, data: bytes | None) -> bytes | None:
        if not self.wanted or self.is_foreign(data):
            return data
        text = text_of(data)
        there = self._depth(text)
        new: Any = wiring.server_entry()
        for key in reversed((*self.servers, wiring.SERVER)[there + 1 :]):
            new = {key: new}
        key = (*self.servers, wiring.SERVER)[there]
        return add(text, self.servers[:there], new, key=key).encode()

    def leave(self, data: bytes | None, before: BytesBefore) -> bytes | None:
        if not self._is_ours(data):
            return data
        was = text_of(before.data) if before.known else None
        text = remove(text_of(data), (*self.servers, wiring.SERVER))
        for depth in range(len(self.servers), -1, -1):
            if not is_empty(text, self.servers[:depth]):
                return text.encode()
            text = settings_text.close(text, self.servers[:depth], was)
        # Left empty: as blank as it was, or no file again.
        blank = before.known and not (before.data or b"").strip()
        return before.data if blank and is_empty(text, ()) else text.encode()

    def remembered(self, without: bytes | None) -> bytes | None:
        """What the receipt stores of the file without us: only the objects around our entry and
        their white space."""
        if not (without or b"").strip():
            return without
        text = text_of(without)
        depth = self._depth(text)
        inner = self.servers[:depth]
        bare = (raw(text, inner) or "{}") if is_empty(text, inner) else "{}"
        for key in reversed(inner):
            bare = f"{{{json.dumps(key)}: {bare}}}"
        return bare.encode()

    def _depth(self, text: str) -> int:
        """How many of the objects around our entry exist."""
        for depth in range(1, len(self.servers) + 1):
            place = find(text, self.servers[:depth])
            if place is None:
                return depth - 1
            if text[place.value_start] != "{":
                named = ".".join(self.servers[:depth])
                raise SettingsBroken(f"{self.path}: `{named}` is not an object")
        return len(self.servers)

    def _entry(self, data: bytes | None) -> Any:
        found: Any = read(text_of(data))
        for key in (*self.servers, wiring.SERVER):
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def _is_ours(self, data: bytes | None) -> bool:
        program = wiring.read_server(self._entry(data))
        return program is not None and program.package in self.packages


InstallPart = SettingsPart | OwnFile | ServerPart
