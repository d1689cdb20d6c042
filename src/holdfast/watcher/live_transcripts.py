"""Live transcripts: which exist, and which changed since the last look.

Only names, times and sizes are read; no file is opened and no link is followed. A folder is
listed again when its modification time changes. Recently written files are checked at every
look, older ones a share at a time. A session that is resumed after weeks is found at once,
because its hooks open a window.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.window.state import State, load
from holdfast.window.windows import LIVE_MS
from holdfast.wire import log, places

MAX_OLD_PER_LOOK = 2_000
RACY_NS = 2_000_000_000  # a folder that changed so recently may change again in the same clock tick
ENDING = ".jsonl"
UNREAD = (0, 0)
HOOKED = (-1, -1)  # its hooks were seen, so its state need not be read again
Signature = tuple[int, int, int]  # time, size, inode


@dataclass(frozen=True, slots=True)
class LiveTranscript:
    path: str
    session_id: str
    agent_id: str
    changed_ms: int


class LiveTranscripts:
    def __init__(self, projects: str, warnings: FileWarnings) -> None:
        self._projects = projects
        self._warnings = warnings
        self._folders: dict[str, int] = {}
        self._files: dict[str, Signature | None] = {}
        self._expected: dict[str, int] = {}
        self._old: list[str] = []

    def look(self, now_ms: int) -> list[LiveTranscript]:
        """The live transcripts that changed; at the first look, all live ones."""
        for folder in self._subfolders(self._projects):
            self._list(folder, now_ms)
        return [found for path in self._to_check(now_ms) for found in self._check(path, now_ms)]

    def add(self, path: str, now_ms: int) -> None:
        """Watch a transcript outside the usual folder. The file may not exist yet."""
        if path.endswith(ENDING) and path not in self._files:
            self._files[path] = None
            self._expected[path] = now_ms

    def report_again(self, path: str) -> None:
        """Report it at the next look as changed, even if it has stopped growing."""
        if path in self._files:
            self._files[path] = None

    def _report_missing(self, path: str, now_ms: int) -> None:
        if now_ms - self._expected.get(path, 0) < LIVE_MS:
            return
        self._expected.pop(path, None)
        if self._files.pop(path, None) is not None:
            self._warnings.warn(path, "is gone; its checkpoints stay")

    def _to_check(self, now_ms: int) -> list[str]:
        """The paths to check now: live ones, new ones, and a share of the rest."""
        if not self._old:
            self._old = list(self._files)
        turn, self._old = self._old[:MAX_OLD_PER_LOOK], self._old[MAX_OLD_PER_LOOK:]
        some = [path for path in turn if path in self._files]  # others may be gone by now
        live = [path for path, had in self._files.items() if had is None or _is_live(had, now_ms)]
        return list(dict.fromkeys([*live, *some]))

    def _check(self, path: str, now_ms: int) -> Iterator[LiveTranscript]:
        try:
            had = self._files[path]
            now = os.lstat(path)
        except FileNotFoundError:
            self._report_missing(path, now_ms)
            return
        except (OSError, ValueError) as error:
            self._warnings.warn(path, f"cannot be checked: {error}")
            return
        if not stat.S_ISREG(now.st_mode):
            self._warnings.warn(path, "is not a regular file and is ignored")
            self._files.pop(path, None)
            return
        seen = (now.st_mtime_ns, now.st_size, now.st_ino)
        if seen != had:
            self._files[path] = seen
            self._expected.pop(path, None)
            self._compare(path, had, seen)
        if _is_live(seen, now_ms):
            if "/subagents/" not in path:
                self._list(f"{path.removesuffix(ENDING)}/subagents", now_ms)
            if seen != had:
                yield _parse_path(path, now.st_mtime_ns // 1_000_000)

    def _compare(self, path: str, had: Signature | None, now: Signature) -> None:
        if had is not None and now[2] != had[2]:
            self._warnings.warn(path, "was replaced by another file and is read from the start")
        elif had is not None and now[1] < had[1]:
            self._warnings.warn(path, "became shorter and is read from the start")

    def _subfolders(self, folder: str) -> list[str]:
        try:
            with os.scandir(folder) as entries:
                return [one.path for one in entries if one.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            return []
        except OSError as error:
            self._warnings.warn(folder, f"cannot be listed: {error}")
            return []

    def _list(self, folder: str, now_ms: int) -> None:
        """Add the folder's transcripts if it changed since it was last listed."""
        try:
            changed = _folder_ns(folder)
            if not changed or self._folders.get(folder) == changed:
                return
            with os.scandir(folder) as entries:
                listed = list(entries)
        except FileNotFoundError:
            return
        except OSError as error:
            self._warnings.warn(folder, f"cannot be listed: {error}")
            return
        racy = now_ms * 1_000_000 - changed < RACY_NS
        self._folders[folder] = -1 if racy else changed
        for one in listed:
            self._add_entry(one, now_ms)

    def _add_entry(self, one: os.DirEntry[str], now_ms: int) -> None:
        if one.is_dir(follow_symlinks=False):
            agents = f"{one.path}/subagents"
            if one.name != "subagents" and agents not in self._folders:
                self._list(agents, now_ms)
        elif one.name.endswith(ENDING) and one.path not in self._files:
            if one.is_file(follow_symlinks=False):
                self._files[one.path] = None
            else:
                self._warnings.warn(one.path, "is not a regular file and is ignored")


def _folder_ns(folder: str) -> int:
    """When the folder last changed; 0 if it, or the session's folder around it, is a link."""
    around = os.path.dirname(folder)  # noqa: PTH120
    if folder.endswith("/subagents") and os.path.islink(around):  # noqa: PTH114
        return 0
    found = os.lstat(folder)
    return found.st_mtime_ns if stat.S_ISDIR(found.st_mode) else 0


def _is_live(seen: Signature, now_ms: int) -> bool:
    """Whether it was written recently. A time in the future counts, as after a clock set back."""
    return now_ms - seen[0] // 1_000_000 < LIVE_MS


def _parse_path(path: str, changed_ms: int) -> LiveTranscript:
    """Parse Claude Code's names: `<session>.jsonl`, `<session>/subagents/agent-<id>.jsonl`."""
    folder, name = os.path.split(path)
    stem = name.removesuffix(ENDING)
    parent, last = os.path.split(folder)
    if last == "subagents" and stem.startswith("agent-"):
        session = os.path.basename(parent)  # noqa: PTH119
        return LiveTranscript(path, session, stem.removeprefix("agent-"), changed_ms)
    return LiveTranscript(path, stem, "", changed_ms)


class HookWindows:
    """Windows opened by hooks. They name transcripts outside the usual folder.

    A window that a command made for a file is none: a recording is not a session that runs.
    """

    def __init__(self) -> None:
        self._read: dict[str, tuple[int, int]] = {}  # by name: time and inode of the state
        self._changed = -1

    def new(self) -> list[State]:
        """States of the main windows whose hooks were first seen since the last look."""
        try:
            changed = os.stat(places.windows()).st_mtime_ns  # noqa: PTH116
        except OSError:
            return []
        if changed != self._changed:
            self._changed = changed
            names = os.listdir(places.windows())  # noqa: PTH208
            self._read = {name: self._read.get(name, UNREAD) for name in names}
        found = [state for name in self._read if (state := self._read_again(name))]
        return [state for state in found if state.started_ms]

    def _read_again(self, name: str) -> State | None:
        """The state, if it changed since it was read without a hook in it."""
        if self._read[name] == HOOKED:
            return None
        folder = f"{places.windows()}/{name}/main"
        signed = _signature(f"{folder}/state.json")
        if signed == self._read[name]:
            return None
        state = load(folder)
        self._read[name] = HOOKED if state.started_ms else signed
        return state


def _signature(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return UNREAD
    return found.st_mtime_ns, found.st_ino


MAX_WARNINGS = 10_000


class FileWarnings:
    """Logs each problem with a file once: a look every half minute must not fill the log."""

    def __init__(self) -> None:
        self._logged: set[tuple[str, str]] = set()

    def warn(self, path: str, words: str) -> None:
        if (path, words) in self._logged:
            return
        if len(self._logged) >= MAX_WARNINGS:
            self._logged.clear()
        self._logged.add((path, words))
        log.add("WARN", "watcher", f"{path} {words}")
