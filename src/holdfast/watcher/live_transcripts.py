"""Live transcripts: which exist, and which changed since the last look.

Only names, times and sizes are read; no file is opened and no link is followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.client import agents
from holdfast.window.windows import LIVE_MS
from holdfast.wire import log

ENDING = ".jsonl"
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
        self._files: dict[str, Signature] = {}

    def look(self, now_ms: int, elsewhere: Iterable[str] = ()) -> list[LiveTranscript]:
        """The live transcripts that changed; at the first look, all live ones. `elsewhere` are
        transcripts outside the usual folder, which may not exist yet."""
        found = {}
        for entry in self._entries(elsewhere):
            now = entry.stat(follow_symlinks=False)
            seen = (now.st_mtime_ns, now.st_size, now.st_ino)
            if _is_live(seen, now_ms):
                found[entry.path] = seen
        before, self._files = self._files, found
        for path, had in before.items():
            self._compare(path, had, found.get(path))
        changed = (path for path, seen in found.items() if before.get(path) != seen)
        return [_parse_path(path, found[path][0] // 1_000_000) for path in changed]

    def report_again(self, path: str) -> None:
        """Report it at the next look as changed, even if it has stopped growing."""
        self._files.pop(path, None)

    def _entries(self, elsewhere: Iterable[str]) -> Iterator[os.DirEntry[str]]:
        """The transcripts of all projects, with those of their subagents, each once."""
        folders = [one.path for one in self._list(self._projects) if _is_folder(one)]
        for path in filter(None, elsewhere):
            if os.path.dirname(path) not in folders:  # noqa: PTH120
                yield from self._session(path)
        for folder in folders:
            for one in self._list(folder):
                if _is_folder(one):
                    yield from self._transcripts(f"{one.path}/subagents")
                elif self._is_transcript(one):
                    yield one

    def _session(self, path: str) -> Iterator[os.DirEntry[str]]:
        folder, name = os.path.split(path)
        yield from (
            transcript for transcript in self._transcripts(folder) if transcript.name == name
        )
        yield from self._transcripts(f"{path.removesuffix(ENDING)}/subagents")

    def _transcripts(self, folder: str) -> Iterator[os.DirEntry[str]]:
        return filter(self._is_transcript, self._list(folder))

    def _is_transcript(self, one: os.DirEntry[str]) -> bool:
        if not one.name.endswith(ENDING):
            return False
        if not one.is_file(follow_symlinks=False):
            self._warnings.warn(one.path, "is not a regular file and is ignored")
            return False
        return True

    def _list(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            if folder.endswith("/subagents") and os.path.islink(folder):  # noqa: PTH114
                return []
            with os.scandir(folder) as entries:
                return list(entries)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            self._warnings.warn(folder, f"cannot be listed: {error}")
            return []

    def _compare(self, path: str, had: Signature, now: Signature | None) -> None:
        if now is None and not os.path.lexists(path):
            self._warnings.warn(path, "is gone; its checkpoints stay")
        elif now and now[2] != had[2]:
            self._warnings.warn(path, "was replaced by another file and is read from the start")
        elif now and now[1] < had[1]:
            self._warnings.warn(path, "became shorter and is read from the start")


def _is_folder(one: os.DirEntry[str]) -> bool:
    return one.is_dir(follow_symlinks=False)


def _is_live(seen: Signature, now_ms: int) -> bool:
    """Whether it was written recently. A time in the future counts, as after a clock set back."""
    return now_ms - seen[0] // 1_000_000 < LIVE_MS


def _parse_path(path: str, changed_ms: int) -> LiveTranscript:
    """Parse the name of a session's transcript, or Claude Code's
    `<session>/subagents/agent-<id>.jsonl`."""
    folder, name = os.path.split(path)
    stem = name.removesuffix(ENDING)
    parent, last = os.path.split(folder)
    if last == "subagents" and stem.startswith("agent-"):
        session = os.path.basename(parent)  # noqa: PTH119
        return LiveTranscript(path, session, stem.removeprefix("agent-"), changed_ms)
    return LiveTranscript(path, agents.session_of(Path(path)), "", changed_ms)


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
