"""The wheel, built twice in different folders, at different times and in different time zones."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

PAGE = "holdfast/api/dashboard/index.html"


class Place(NamedTuple):
    folder: str
    time_zone: str
    umask: int
    changed_s: int  # when its files were last changed


PLACES = (
    Place("a", "UTC", 0o022, 1_500_000_000),
    Place("somewhere else", "Asia/Tokyo", 0o077, 1_700_000_000),
)


class CannotBuild(Exception):
    """The message says why."""


class Built(NamedTuple):
    name: str
    sha256: str
    has_page: bool


def build_twice(root: Path, *, with_page: bool) -> tuple[Built, Built]:
    """Two wheels of the same sources; the page of the dashboard is built anew for each: minutes."""
    hooks = {} if with_page else {"HATCH_BUILD_NO_HOOKS": "1"}
    with tempfile.TemporaryDirectory(prefix="holdfast-audit-") as folder:
        first, second = (_build(root, Path(folder, place.folder), place, hooks) for place in PLACES)
    return first, second


def _build(root: Path, folder: Path, place: Place, hooks: dict[str, str]) -> Built:
    _copy(root, folder, place.changed_s)
    line = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "out"]
    environ = {key: value for key, value in os.environ.items() if key != "SOURCE_DATE_EPOCH"}
    run = subprocess.run(
        line,
        cwd=folder,
        env=environ | {"TZ": place.time_zone} | hooks,
        umask=place.umask,
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        raise CannotBuild(run.stderr.strip().rsplit("\n", 1)[-1])
    [wheel] = (folder / "out").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        has_page = PAGE in packed.namelist()
    return Built(wheel.name, hashlib.sha256(wheel.read_bytes()).hexdigest(), has_page)


def _copy(root: Path, folder: Path, changed_s: int) -> None:
    """What git knows; all files with another date."""
    known = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=False)
    if known.returncode:
        raise CannotBuild("git does not list the files here")
    for name in filter(None, known.stdout.decode().split("\0")):
        if (root / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, folder / name)
    for path in folder.rglob("*"):
        os.utime(path, (changed_s, changed_s))
