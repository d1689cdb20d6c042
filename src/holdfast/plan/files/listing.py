"""All files of a project: those that git tracks or would track; without git, those not hidden."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from posixpath import isfile, join, relpath

from holdfast.files.git import run_git
from holdfast.plan.files.project_files import SECONDS

MOST_NAMES = 200_000  # of a project without git; files beyond it are not seen
NOT_WALKED = (b"node_modules", b"__pycache__")


def list_files(root: str) -> list[str]:
    """The names of all files, sorted."""
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    said = run_git(root, *words, seconds=SECONDS)
    names = _walked(os.fsencode(root)) if said is None else said.split(b"\0")
    return sorted(one for one in set(_decoded(names)) if one and isfile(join(root, one)))


def _decoded(names: Iterable[bytes]) -> Iterator[str]:
    for name in names:
        try:
            yield name.decode()
        except UnicodeDecodeError:  # no plan could name it
            continue


def _walked(root: bytes) -> Iterator[bytes]:
    left = MOST_NAMES
    for folder, folders, files in os.walk(root):
        folders[:] = [n for n in folders if not n.startswith(b".") and n not in NOT_WALKED]
        for name in files[:left]:
            yield relpath(join(folder, name), root)
        left -= len(files)
        if left <= 0:
            return
