"""What we did to which files, saved in HOLDFAST_HOME/installs, so that an uninstall is exact.

There is one receipt per place of install, named by the hash of its path. The bytes that a file held
before lie beside it as a `.bak`, named by their own hash.

A line is ours if it starts this package or one that our receipts name: another virtual environment
or another user may have installed a Holdfast of its own in the same file.
"""

import hashlib
import json
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from holdfast.setup import wiring
from holdfast.setup.changes import InstallChange, bytes_of, left_drafts

VERSION = 1


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file as we left it, and its backup, which is empty if there was no file."""

    path: str
    left_sha256: str
    backup: str = ""
    before: bytes | None = None  # read from the backup; not part of the receipt


@dataclass(frozen=True, slots=True)
class Receipt:
    scope: str
    anchor: str  # the settings file, or the plugin's folder
    project: str  # empty in user scope
    folders: tuple[str, ...]
    files: tuple[FileRecord, ...]
    packages: tuple[str, ...] = ()  # whose lines are in these files; empty in receipts of 0.1.0

    def record_of(self, path: Path) -> FileRecord | None:
        return next((record for record in self.files if record.path == str(path)), None)


def sha256(data: bytes | None) -> str:
    return hashlib.sha256(data).hexdigest() if data is not None else ""


def folder_in(home: Path) -> Path:
    return home / "installs"


def path_for(home: Path, anchor: Path) -> Path:
    return folder_in(home) / f"{_key(anchor)}.json"


def left_behind(home: Path) -> list[Path]:
    """What a killed install left behind: drafts, or a folder without a receipt."""
    folder = folder_in(home)
    drafts = left_drafts(folder)
    empty = folder.is_dir() and set(folder.iterdir()) <= set(drafts)
    return [*drafts, folder] if empty else drafts


def record(anchor: Path, path: Path, before: bytes | None, left: bytes | None) -> FileRecord:
    backup = f"{_key(anchor)}.{sha256(before)[:16]}.bak" if before is not None else ""
    return FileRecord(str(path), sha256(left), backup, before)


def load(home: Path, anchor: Path) -> Receipt | None:
    """The receipt with its backups; None if there is none that can be trusted."""
    return _read(path_for(home, anchor))


def load_all(home: Path) -> Iterator[Receipt]:
    yield from filter(None, map(_read, sorted(folder_in(home).glob("*.json"))))


def keep(home: Path, receipt: Receipt) -> list[InstallChange]:
    """Save a receipt. Backups are written first, so that it names none that does not exist."""
    folder = folder_in(home)
    wanted = {file.backup: file.before for file in receipt.files if file.backup}
    backups = [_private(folder / name, data) for name, data in wanted.items()]
    return [*backups, _private(path_for(home, Path(receipt.anchor)), _dump(receipt))]


def drop(home: Path, anchor: Path, *, but: Collection[Path] = ()) -> list[InstallChange]:
    """Remove the receipt, then the backups it named; `but` keeps the records of these files."""
    path = path_for(home, anchor)
    old = _read(path)
    files = [file for file in old.files if Path(file.path) in but] if old else []
    named = {file.backup for file in files}
    backups = sorted(path.parent.glob(f"{_key(anchor)}.*.bak"))
    gone = [_private(backup, None) for backup in backups if backup.name not in named]
    if old is not None and files:
        return [_private(path, _dump(replace(old, files=tuple(files)))), *gone]
    return [_private(path, None), *gone] if path.exists() else gone


def _private(path: Path, after: bytes | None) -> InstallChange:
    return InstallChange(path, bytes_of(path), after, private=True)


def _key(anchor: Path) -> str:
    return hashlib.sha256(str(anchor).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _dump(receipt: Receipt) -> bytes:
    plain = asdict(receipt)
    for file in plain["files"]:
        del file["before"]
    return json.dumps({"version": VERSION, **plain}, indent=2).encode() + b"\n"


def _read(path: Path) -> Receipt | None:
    try:
        plain = json.loads(bytes_of(path) or b"")
        if plain.pop("version") != VERSION:
            return None
        plain.pop("wrapped", None)  # written until the status line carried it itself
        files = tuple(_with_backup(FileRecord(**file), path.parent) for file in plain["files"])
        plain |= {name: tuple(plain.get(name, ())) for name in ("folders", "packages")}
        return Receipt(**{**plain, "files": files})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _with_backup(file: FileRecord, folder: Path) -> FileRecord:
    if not file.backup:
        return file
    before = bytes_of(folder / Path(file.backup).name)
    if sha256(before)[:16] not in file.backup:
        raise ValueError(f"{file.backup} is damaged")
    return replace(file, before=before)


def our_packages(home: Path) -> frozenset[str]:
    """The folders of this package and of those that this HOLDFAST_HOME was installed from."""
    named = (_named_by(receipt) for receipt in load_all(home))
    return frozenset((wiring.this_program().package,)).union(*named)


def packages_in(data: bytes | None) -> frozenset[str]:
    """The packages whose hooks, status line or MCP server are in a JSON text."""
    try:
        held = json.loads((data or b"{}").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(program.package for program in _programs(held))


def _named_by(receipt: Receipt) -> frozenset[str]:
    """The packages of a receipt. Receipts of 0.1.0 name none: then, what was not in the backup."""
    if receipt.packages:
        return frozenset(receipt.packages)
    found = frozenset[str]()
    for file in receipt.files:
        with suppress(OSError):
            found |= packages_in(bytes_of(Path(file.path))) - packages_in(file.before)
    return found


def _programs(value: Any) -> Iterator[wiring.Program]:
    command, server = wiring.read_command(value), wiring.read_server(value)
    if command is not None:
        yield command.program
    if server is not None:
        yield server
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in inside:
        yield from _programs(part)
