"""A machine with sessions on it, as their hooks and their client leave them, told up to now."""

import time
from pathlib import Path
from typing import Any

from holdfast.wire import places, spool
from tests.builders import EDGE, a_boundary, a_summary
from tests.contracts.session_script import START_MS, ScriptedSession, stamp

RULE = "Never write into the gauge archive, only into tide_tables"
HOSTILE = "<img src=x onerror=alert(1)> <script>alert(2)</script> \u202egpj.exe"
SUMMARY = "All tests in tests/tides pass.\nWork goes on."


class LiveSession(ScriptedSession):
    """A session of the last minutes; `used` is what its next answer leaves in the window."""

    def __init__(self, folder: Path, session: str, project: str, minutes: int = 30) -> None:
        self.used = 20_000
        folder.mkdir(parents=True, exist_ok=True)
        Path(project).mkdir(parents=True, exist_ok=True)
        super().__init__(folder, session, project)
        self.now_ms = int(time.time() * 1000) - START_MS - minutes * 60_000

    def answer(
        self, blocks: list[dict[str, Any]], *, agent: str = "", stop_reason: str = "tool_use"
    ) -> None:
        usage = {"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": self.used - 30}
        message = {
            "id": f"msg_{self.now_ms}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-6",
            "content": blocks,
            "stop_reason": stop_reason,
            "usage": usage,
        }
        self.write({"type": "assistant", "uuid": f"a-{self.now_ms}", "message": message}, agent)

    def line(self, event: str, agent: str = "", **fields: Any) -> None:
        folder = places.window(self.session, agent)
        ms = START_MS + self._tick()
        spool.append(folder, spool.SpoolLine(ms, event, self.used, **fields))

    def reaches(self, used: int, steps: int = 1) -> None:
        """Answers that fill the window up to `used`."""
        start = self.used
        for step in range(1, steps + 1):
            self.used = start + (used - start) * step // steps
            self.call(answer="3 files")
        self.now_ms = int(time.time() * 1000) - START_MS
        self.note(used_tokens=self.used, started_ms=START_MS)

    def compacts_into(self, summary: str) -> None:
        for line in (a_boundary(EDGE - 500, 31_000), a_summary(summary)):
            self.write({**line, "timestamp": stamp(self._tick()), "uuid": f"c-{self.now_ms}"})
        self.used = 31_000


def fill(home: Path) -> LiveSession:
    """Three sessions: one compacted and nearly full, one with a hostile prompt, one calm."""
    transcripts = home / ".claude" / "projects" / "-tide"
    main = LiveSession(transcripts, "tide-session", str(home / "tide"), 60)
    main.prompt(RULE)
    main.call(answer="3 files")
    main.lists("read the gauge file", 1)
    main.prompt("Please round every height to whole centimetres")
    main.call("Bash", {"command": "pytest tests/tides"}, "FAILED test_high: 1 failed", failed=True)
    main.reaches(EDGE - 900, 20)
    main.compacts_into(SUMMARY)
    main.prompt("Now draw the tables")
    main.call("Edit", {"file_path": f"{main.project}/a.py", "old_string": "1", "new_string": "2"})
    main.says("The tables are drawn.")
    main.prompt("And the legend")
    main.reaches(int(EDGE * 0.93), 12)
    odd = LiveSession(transcripts, "odd-session", str(home / "tide"), 20)
    odd.prompt(HOSTILE)
    odd.reaches(int(EDGE * 0.55), 4)
    calm = LiveSession(home / ".claude" / "projects" / "-reef", "calm-session", str(home / "reef"))
    calm.prompt("Explain the build")
    calm.says("Shall I draw it, too?")
    calm.prompt("yes")
    calm.reaches(int(EDGE * 0.2), 4)
    return main


def crowd(home: Path, count: int) -> None:
    for number in range(count):
        one = LiveSession(
            home / ".claude" / "projects" / f"-p{number % 5}",
            f"crowd-{number:03d}",
            str(home / f"p{number % 5}"),
            5,
        )
        one.prompt(f"Task {number:03d} of the crowd")
        one.reaches(int(EDGE * (0.05 + 0.92 * number / count)), 2)
