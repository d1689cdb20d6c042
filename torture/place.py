"""The place of one run: a HOME with Holdfast installed, projects, and the folders that we may fill.

What Holdfast owns (its home, the projects with their checkpoints) lies together in `owned`, on a
small disk of its own where this process may mount one: that disk can be filled and made read-only.
What belongs to the client (settings, transcripts) lies outside of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from holdfast.setup.wiring import this_program
from torture.commands import cli

PREVIOUS = Path(__file__).parents[1] / "tests" / "setup" / "release_0_1_0.json"
OWNED_BYTES = 256 << 20
PROJECTS = ("tide", "moor")
NAMESPACE = "HOLDFAST_TORTURE_NAMESPACE"
# Python and SQLite try out /tmp with such a file; killed between two calls, they leave it.
PROBE_BYTES = 4
NOT_CHECKED = ("LANG", "PATH")  # all that a process here gets of our own environment
SETTINGS = "checkpoint_most = 100000\ncooldown_seconds = 1\n"


def may_mount() -> bool:
    """Whether this process has a mount namespace of its own, made by `own_namespace`."""
    return os.environ.get(NAMESPACE, _namespace()) != _namespace()


def own_namespace() -> None:
    """Start this program again where its mounts are seen by nobody else and end with it."""
    if NAMESPACE in os.environ or os.geteuid() != 0 or not (unshare := shutil.which("unshare")):
        return
    probe = [unshare, "--mount", "true"]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        return
    os.environ[NAMESPACE] = _namespace()
    os.execv(unshare, [unshare, "--mount", sys.executable, "-m", "torture", *sys.argv[1:]])


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/mnt").readlink())
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class Place:
    """Folders of one run, and the environment that leads every process into them."""

    root: Path
    database: str

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def owned(self) -> Path:
        return self.root / "owned"

    @property
    def holdfast(self) -> Path:
        return self.owned / "holdfast"

    @property
    def projects(self) -> list[Path]:
        return [self.owned / name for name in PROJECTS]

    @property
    def transcripts(self) -> Path:
        return self.home / ".claude" / "projects" / "torture"

    @property
    def work(self) -> Path:
        """Plans, and what the stand-in for Claude Code has done of them."""
        return self.root / "work"

    @property
    def environ(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in NOT_CHECKED if name in os.environ}
        return {
            **kept,
            "HOME": str(self.home),
            "HOLDFAST_HOME": str(self.holdfast),
            "HOLDFAST_DATABASE": self.database,
            "TMPDIR": str(self.root / "tmp"),
        }

    def command(self, *arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """One `holdfast` command, to its end."""
        return subprocess.run(
            cli(*arguments).words,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            cwd=self.projects[0],
            env=self.environ,
        )


@contextmanager
def a_place(root: Path, database: str, *, upgraded: bool = False) -> Iterator[Place]:
    """Folders, a small disk if one can be mounted, and Holdfast installed; gone at the end.
    `upgraded`: over what release 0.1.0 left on a machine."""
    place = Place(root, database or f"sqlite:///{root / 'owned' / 'holdfast' / 'holdfast.db'}")
    for folder in (place.transcripts, root / "tmp", place.owned):
        folder.mkdir(parents=True)
    with _small_disk(place.owned):
        for project in place.projects:
            (project / "src").mkdir(parents=True)
            (project / "src" / "a.py").write_text("heights = [1.2, 0.4]\n")
        place.holdfast.mkdir(mode=0o700)
        (place.holdfast / "settings.toml").write_text(SETTINGS)
        if upgraded:
            _leave_previous_release(place)
        done = place.command("install", "--yes")
        if done.returncode != 0:
            raise RuntimeError(f"holdfast install: {done.stderr}")
        with _as_ours(place.environ):
            yield place
    shutil.rmtree(root)


def _leave_previous_release(place: Place) -> None:
    """What 0.1.0 wrote: the client's settings, ours, and the window of a session."""
    folders = {"home": place.home, "project": place.projects[0], "ours": place.holdfast}
    words = {"python": sys.executable, "package": this_program().package}
    words |= {word: str(folder) for word, folder in folders.items()}
    for name, text in json.loads(PREVIOUS.read_text(encoding="utf-8"))["files"].items():
        first, _, rest = name.partition("/")
        path = folders[first] / rest
        path.parent.mkdir(parents=True, exist_ok=True)
        for word, value in words.items():
            text = text.replace("{" + word + "}", value)
        with path.open("a", encoding="utf-8") as file:
            file.write(text)


@contextmanager
def _as_ours(environ: Mapping[str, str]) -> Iterator[None]:
    """Checks call Holdfast in this process: it must read the same folders."""
    before = {name: os.environ.get(name) for name in environ}
    os.environ.update(environ)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _small_disk(folder: Path) -> Iterator[None]:
    if not may_mount():
        yield
        return
    _run("mount", "-t", "tmpfs", "-o", f"size={OWNED_BYTES},mode=0755", "tmpfs", str(folder))
    try:
        yield
    finally:
        _run("umount", "--lazy", str(folder))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


@contextmanager
def full_disk(place: Place, free_bytes: int) -> Iterator[None]:
    """Fill the small disk up to a few bytes."""
    if not may_mount():
        raise RuntimeError("without a disk of its own, this would fill the disk of the machine")
    ballast = place.owned / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        room = os.statvfs(place.owned)
        os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize - free_bytes)
    try:
        yield
    finally:
        ballast.unlink()


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing below this folder can be written: a read-only mount, or without one its mode."""
    if not may_mount():
        mode = folder.stat().st_mode
        folder.chmod(0o500)
        try:
            yield
        finally:
            folder.chmod(mode)
        return
    aside = folder.parent / f"{folder.name}-read-only"
    with _mounted_aside(folder, aside):
        _run("mount", "--bind", str(aside), str(folder))
        try:
            yield
        finally:
            _run("umount", "--lazy", str(folder))


@contextmanager
def _mounted_aside(folder: Path, aside: Path) -> Iterator[None]:
    """A second mount is made read-only before anyone can open a file through it."""
    aside.mkdir()
    _run("mount", "--bind", str(folder), str(aside))
    try:
        _run("mount", "-o", "remount,bind,ro", str(aside))
        yield
    finally:
        _run("umount", "--lazy", str(aside))
        aside.rmdir()


def limit_files(most_bytes: int) -> None:
    """In a new process: no file of it may grow past this. The writer is told, not killed."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))


def fingerprint(place: Place) -> dict[str, str]:
    """Every file that is not ours, by its contents; transcripts and plans are the script's own."""
    found = {}
    for path in sorted(place.root.rglob("*")):
        if path.is_file() and not _may_change(place, path):
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def _may_change(place: Place, path: Path) -> bool:
    if place.transcripts in path.parents or place.work in path.parents:
        return True
    if path.is_relative_to(place.holdfast):
        return True
    if path.parent == place.root / "tmp" and path.stat().st_size <= PROBE_BYTES:
        return True
    return any(path.is_relative_to(one / ".claude" / "checkpoints") for one in place.projects)
