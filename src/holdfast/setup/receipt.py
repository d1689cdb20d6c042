"""What we did to which files: kept in HOLDFAST_HOME/installs, so that leaving can be exact.

One receipt for each place of install, named by the hash of its path. A file's bytes from before us
lie beside it as a `.bak`, named by their own hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from holdfast.setup.changes import Change, bytes_of, left_drafts

VERSION = 1


@dataclass(frozen=True, slots=True)
class FileRecord:
    """One file as we left it, and its backup; `backup` is empty where there was no file."""

    path: str
    left_sha256: str
    backup: str = ""
    before: bytes | None = None  # read from the backup; not in the receipt itself


@dataclass(frozen=True, slots=True)
class Receipt:
    scope: str
    anchor: str  # the settings file, or the plugin's folder
    project: str  # empty in user scope
    folders: tuple[str, ...]
    files: tuple[FileRecord, ...]
    packages: tuple[str, ...] = ()  # whose lines stand in these files; 0.1.0 did not say

    def record_of(self, path: Path) -> FileRecord | None:
        return next((record for record in self.files if record.path == str(path)), None)


def sha256(data: bytes | None) -> str:
    return hashlib.sha256(data).hexdigest() if data is not None else ""


def folder_in(home: Path) -> Path:
    return home / "installs"


def path_for(home: Path, anchor: Path) -> Path:
    return folder_in(home) / f"{_key(anchor)}.json"


def left_behind(home: Path, anchor: Path) -> list[Path]:
    """What a run that was killed left here of this place: drafts, or a folder without a receipt."""
    folder = folder_in(home)
    drafts = left_drafts(folder, _key(anchor))
    empty = folder.is_dir() and set(folder.iterdir()) <= set(drafts)
    return [*drafts, folder] if empty else drafts


def record(anchor: Path, path: Path, before: bytes | None, left: bytes | None) -> FileRecord:
    backup = f"{_key(anchor)}.{sha256(before)[:16]}.bak" if before is not None else ""
    return FileRecord(str(path), sha256(left), backup, before)


def load(home: Path, anchor: Path) -> Receipt | None:
    """The receipt with its backups; None when there is none, or none that can be trusted."""
    return _read(path_for(home, anchor))


def load_all(home: Path) -> Iterator[Receipt]:
    for path in sorted(folder_in(home).glob("*.json")):
        receipt = _read(path)
        if receipt is not None:
            yield receipt


def keep(home: Path, receipt: Receipt) -> list[Change]:
    """Backups first: a receipt never names one that is not there."""
    folder = folder_in(home)
    wanted = {file.backup: file.before for file in receipt.files if file.backup}
    backups = [_private(folder / name, data) for name, data in wanted.items()]
    return [*backups, _private(path_for(home, Path(receipt.anchor)), _dump(receipt))]


def drop(home: Path, anchor: Path, *, but: Collection[Path] = ()) -> list[Change]:
    """Forget the receipt first, then the backups it named; `but` what it says of these files."""
    path = path_for(home, anchor)
    old = _read(path)
    files = [file for file in old.files if Path(file.path) in but] if old else []
    named = {file.backup for file in files}
    backups = sorted(path.parent.glob(f"{_key(anchor)}.*.bak"))
    gone = [_private(backup, None) for backup in backups if backup.name not in named]
    if old is not None and files:
        return [_private(path, _dump(replace(old, files=tuple(files)))), *gone]
    return [_private(path, None), *gone] if path.exists() else gone


def _private(path: Path, after: bytes | None) -> Change:
    return Change(path, bytes_of(path), after, private=True)


def _key(anchor: Path) -> str:
    return hashlib.sha256(str(anchor).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _dump(receipt: Receipt) -> bytes:
    plain = asdict(receipt)
    for file in plain["files"]:
        del file["before"]
    return json.dumps({"version": VERSION, **plain}, indent=2).encode() + b"\n"


def _read(path: Path) -> Receipt | None:
    try:
        plain = json.loads(path.read_bytes())
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
    before = (folder / Path(file.backup).name).read_bytes()
    if sha256(before)[:16] not in file.backup:
        raise ValueError(f"{file.backup} is damaged")
    return replace(file, before=before)
