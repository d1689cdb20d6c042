"""Holdfast in a folder of its own, so that it can be upgraded under a running session; and what a
home holds once it is uninstalled."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import holdfast

_RUN = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from holdfast.cli.start import main; main()"
)
# What a session leaves: transcripts, histories, caches, what was typed in the trial, and the time
# of the last cleanup, which the client writes once it is idle.
SESSION_DATA = frozenset(
    (
        *("projects", "todos", "tasks", "plans", "debug", "statsig", "sessions", "session-env"),
        *("shell-snapshots", "file-history", "history.jsonl", "backups", "cache", "telemetry"),
        ".last-cleanup",
    )
)
# Beside them: our own folder, the trial's notes, and the client's logs of MCP servers.
LEFT_OUT = frozenset((".holdfast", "trial", ".cache"))
_VARYING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9a-f]{32,}")


@dataclass(frozen=True)
class Installation:
    """A copy of this package, installed for the client from where it lies."""

    library: Path
    project: Path
    environment: Mapping[str, str]
    words: tuple[str, ...] = ("--yes",)

    def install(self) -> None:
        self._copy(self.library / "holdfast")
        self._run("install", *self.words)

    def upgrade(self) -> None:
        """As an installer does it: the new files take the place of the old ones, and `install` is
        run again."""
        new, old = self.library / "new", self.library / "old"
        self._copy(new)
        (self.library / "holdfast").rename(old)
        new.rename(self.library / "holdfast")
        shutil.rmtree(old)
        self._run("install", *self.words)

    def uninstall(self) -> None:
        self._run("uninstall", *self.words)

    def _copy(self, target: Path) -> None:
        package = Path(holdfast.__file__).parent
        shutil.copytree(package, target, ignore=shutil.ignore_patterns("static"))

    def _run(self, *words: str) -> None:
        command = [sys.executable, "-I", "-c", _RUN, str(self.library), *words]
        subprocess.run(
            command, cwd=self.project, env=dict(self.environment), check=True, capture_output=True
        )


def files_of(home: Path, folder: Path) -> dict[str, str]:
    """Every file but session data and our own folder, by what it holds. `folder` differs from run
    to run, and so do times, counts and ids in the client's own JSON."""
    return dict(_files(home, folder))


def _files(home: Path, folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home)
        first = name.parts[1] if name.parts[0] == ".claude" and len(name.parts) > 1 else ""
        if path.is_file() and name.parts[0] not in LEFT_OUT and first not in SESSION_DATA:
            yield str(name), _contents(path, str(folder))


def _contents(path: Path, folder: str) -> str:
    text = path.read_text(encoding="utf-8", errors="replace").replace(folder, "{folder}")
    if path.suffix == ".json" and path.name != "settings.json":
        return json.dumps(_without_counts(json.loads(text)), sort_keys=True)
    return hashlib.sha256(_VARYING.sub("id", text).encode()).hexdigest()


def _without_counts(value: Any) -> Any:
    if isinstance(value, dict):
        return {_VARYING.sub("id", name): _without_counts(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_without_counts(part) for part in value]
    if isinstance(value, str):
        return _VARYING.sub("id", value)
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else value
