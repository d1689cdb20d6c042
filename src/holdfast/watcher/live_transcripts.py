"""Live transcripts: which there are, and which have changed since the last look.

Only names, times and sizes are looked at; nothing is opened, and no link is followed. A folder is
listed again when its own time changed. Files written to lately are asked for their time at every
look, the others in turn, so many at a time: a session that is resumed after weeks is found by the
window its hooks open.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.watcher.troubles import Troubles
from holdfast.window.live_windows import LIVE_MS

MOST_OLD = 2_000  # asked for in turn at each look
RACY_NS = 2_000_000_000  # a folder changed this lately may change again in the same tick of time
ENDING = ".jsonl"
Signature = tuple[int, int, int]  # time, size, inode


@dataclass(frozen=True, slots=True)
class Found:
    path: str
    session_id: str
    agent_id: str
    changed_ms: int


class Transcripts:
    def __init__(self, projects: str, troubles: Troubles) -> None:
        self._projects = projects
        self._troubles = troubles
        self._folders: dict[str, int] = {}
        self._files: dict[str, Signature | None] = {}
        self._expected: dict[str, int] = {}
        self._old: list[str] = []

    def look(self, now_ms: int) -> list[Found]:
        """Those that live and changed. At the first look that is all that live."""
        for folder in self._subfolders(self._projects):
            self._list(folder, now_ms)
        return [found for path in self._asked(now_ms) for found in self._ask(path, now_ms)]

    def add(self, path: str, now_ms: int) -> None:
        """One whose place is known from elsewhere; a session's first hooks run before its file."""
        if path.endswith(ENDING) and path not in self._files:
            self._files[path] = None
            self._expected[path] = now_ms

    def tell_again(self, path: str) -> None:
        """At the next look, as if it had changed: it may have stopped growing."""
        if path in self._files:
            self._files[path] = None

    def _miss(self, path: str, now_ms: int) -> None:
        if now_ms - self._expected.get(path, 0) < LIVE_MS:
            return
        self._expected.pop(path, None)
        if self._files.pop(path, None) is not None:
            self._troubles.say(path, "is gone; its checkpoints stay")

    def _asked(self, now_ms: int) -> list[str]:
        """The live ones, the new ones, and some of the rest."""
        if not self._old:
            self._old = list(self._files)
        turn, self._old = self._old[:MOST_OLD], self._old[MOST_OLD:]
        some = [path for path in turn if path in self._files]  # some may be gone since
        live = [path for path, had in self._files.items() if had is None or _lives(had, now_ms)]
        return list(dict.fromkeys([*live, *some]))

    def _ask(self, path: str, now_ms: int) -> Iterator[Found]:
        try:
            had = self._files[path]
            now = os.lstat(path)
        except FileNotFoundError:
            self._miss(path, now_ms)
            return
        except (OSError, ValueError) as slip:
            self._troubles.say(path, f"cannot be looked at: {slip}")
            return
        if not stat.S_ISREG(now.st_mode):
            self._troubles.say(path, "is no plain file, and left alone")
            self._files.pop(path, None)
            return
        seen = (now.st_mtime_ns, now.st_size, now.st_ino)
        if seen != had:
            self._files[path] = seen
            self._expected.pop(path, None)
            self._compare(path, had, seen)
        if _lives(seen, now_ms):
            if "/subagents/" not in path:
                self._list(f"{path.removesuffix(ENDING)}/subagents", now_ms)
            if seen != had:
                yield _named(path, now.st_mtime_ns // 1_000_000)

    def _compare(self, path: str, had: Signature | None, now: Signature) -> None:
        if had is not None and now[2] != had[2]:
            self._troubles.say(path, "is another file than before, and read anew")
        elif had is not None and now[1] < had[1]:
            self._troubles.say(path, "became shorter, and is read anew")

    def _subfolders(self, folder: str) -> list[str]:
        try:
            with os.scandir(folder) as entries:
                return [one.path for one in entries if one.is_dir(follow_symlinks=False)]
        except FileNotFoundError:
            return []
        except OSError as slip:
            self._troubles.say(folder, f"cannot be listed: {slip}")
            return []

    def _list(self, folder: str, now_ms: int) -> None:
        """Note its transcripts, if the folder changed since it was last listed."""
        try:
            changed = _folder_ns(folder)
            if not changed or self._folders.get(folder) == changed:
                return
            with os.scandir(folder) as entries:
                listed = list(entries)
        except FileNotFoundError:
            return
        except OSError as slip:
            self._troubles.say(folder, f"cannot be listed: {slip}")
            return
        racy = now_ms * 1_000_000 - changed < RACY_NS
        self._folders[folder] = -1 if racy else changed
        for one in listed:
            self._note(one, now_ms)

    def _note(self, one: os.DirEntry[str], now_ms: int) -> None:
        if one.is_dir(follow_symlinks=False):
            agents = f"{one.path}/subagents"
            if one.name != "subagents" and agents not in self._folders:
                self._list(agents, now_ms)
        elif one.name.endswith(ENDING) and one.path not in self._files:
            if one.is_file(follow_symlinks=False):
                self._files[one.path] = None
            else:
                self._troubles.say(one.path, "is no plain file, and left alone")


def _folder_ns(folder: str) -> int:
    """When it last changed; 0 where it, or the session's folder around it, is only a link."""
    around = os.path.dirname(folder)  # noqa: PTH120
    if folder.endswith("/subagents") and os.path.islink(around):  # noqa: PTH114
        return 0
    found = os.lstat(folder)
    return found.st_mtime_ns if stat.S_ISDIR(found.st_mode) else 0


def _lives(seen: Signature, now_ms: int) -> bool:
    """A time in the future counts: the clock was set back, and nobody knows."""
    return now_ms - seen[0] // 1_000_000 < LIVE_MS


def _named(path: str, changed_ms: int) -> Found:
    """By the client's own naming: `<session>.jsonl`, `<session>/subagents/agent-<id>.jsonl`."""
    folder, name = os.path.split(path)
    stem = name.removesuffix(ENDING)
    parent, last = os.path.split(folder)
    if last == "subagents" and stem.startswith("agent-"):
        return Found(path, os.path.basename(parent), stem.removeprefix("agent-"), changed_ms)  # noqa: PTH119
    return Found(path, stem, "", changed_ms)
