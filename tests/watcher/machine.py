"""A machine with sessions on it: transcripts where Claude Code keeps them, and a clock."""

import json
import os
from pathlib import Path
from typing import Any

from holdfast.checkpoint.verify import verify
from holdfast.hub.row_times import to_iso
from holdfast.watcher.watch import Watch
from holdfast.wire import places
from tests.builders import EDGE, a_prompt, an_answer

CHECKPOINTS = "places/*/.claude/checkpoints/*.md"
START_MS = 1_780_000_000_000
FULL = int(EDGE * 0.62)
ROOMY = int(EDGE * 0.30)


class Machine:
    def __init__(self, home: Path, places: Path) -> None:
        self.projects = home / ".claude" / "projects"
        self.places = places
        self.now_ms = START_MS
        self._count = 0

    def session(self, name: str, used: int = ROOMY, *, project: str = "p") -> Path:
        """A session in a project of its own folder, one answer long."""
        place = self.places / project
        place.mkdir(parents=True, exist_ok=True)
        path = self.projects / f"-{project}" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        return self.answer(path, used, cwd=str(place))

    def agent(self, session: Path, name: str, used: int = ROOMY) -> Path:
        folder = session.with_suffix("") / "subagents"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"agent-{name}.jsonl"
        path.touch()
        cwd = json.loads(session.read_text().splitlines()[0])["cwd"]
        return self.answer(path, used, cwd=cwd, sidechain=True)

    def answer(self, path: Path, used: int, **own: Any) -> Path:
        """One more answer, written now."""
        self._count += 1
        if "/subagents/" in str(path):
            own["sidechain"] = True
        line = an_answer(used, id=f"m{self._count}") | {"isSidechain": own.pop("sidechain", False)}
        self._write(path, line | own)
        return path

    def prompt(self, path: Path, words: str) -> None:
        self._write(path, a_prompt(words))

    def _write(self, path: Path, line: dict[str, Any]) -> None:
        with path.open("a") as file:
            file.write(json.dumps({**line, "timestamp": to_iso(self.now_ms)}) + "\n")
        self.date(path)

    def date(self, path: Path) -> None:
        """As if written at this moment of the clock."""
        ns = self.now_ms * 1_000_000
        os.utime(path, ns=(ns, ns))

    def after(self, seconds: float) -> int:
        self.now_ms += int(seconds * 1000)
        return self.now_ms


def looked(watch: Watch, machine: Machine, seconds: float = 30) -> list[str]:
    """The names of those that were seen to change."""
    return sorted(Path(one.path).stem for one in watch.look(machine.after(seconds)))


def kept() -> list[str]:
    """Who had a checkpoint, and by which trigger, oldest first: `session watcher`."""
    found = [verify(str(path)) for path in sorted(Path(places.home()).parent.glob(CHECKPOINTS))]
    assert all(report.ok for report in found), "the watcher keeps none that is not verified"
    documents = [report.document for report in found if report.document]
    return [f"{one.agent_id or one.session_id} {one.trigger}" for one in documents]
