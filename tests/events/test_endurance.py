"""Four hours in one session, through the real hook processes: nobody has to step in."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.checkpoint.verify import verify
from holdfast.window import audit
from holdfast.wire import log, spool
from tests.builders import a_boundary, a_prompt, a_result, a_summary, an_answer
from tests.hot.hooks import fire, to_model, window

CYCLES, OPERATIONS, HOOK_EVERY = 10, 32, 5
BEGAN, LASTS = datetime(2026, 1, 1, 9, 0, tzinfo=UTC), timedelta(hours=4)
FIRST, FULL = 24_000, 166_000  # tokens, at either end of a window whose edge is 167,000
RULE = "Always run `make check` before you commit, and never touch data/raw."
REVOKED = "From now on write every log message in Latin."
OLD, NEW = "Never use floats for heights.", "No, always use floats for heights and not decimals."
REQUEST = "Please teach the parser to read gauge files with two headings."
LAST_REQUEST = "Now draw the tide table of the northern harbours as an SVG file."
SAID = {  # at the start of which cycle the user says what
    0: [RULE, REQUEST],
    1: [REVOKED],
    2: [OLD],
    5: ["Forget the rule about Latin log messages."],
    6: [NEW],
    8: [LAST_REQUEST],
}
BROKEN = "python -m gauge read 'two headings.csv'"
TOLD = re.compile(r"^Holdfast: context window .*$", re.M)
ADVICE = re.compile(r" to compaction[^.]*\. (.+)$")


class FourHours:
    """The session: lines are appended as the client does, and hooks fired where they matter."""

    def __init__(self, folder: Path) -> None:
        self.project, self.path = folder / "project", folder / "s1.jsonl"
        self.project.mkdir()
        self.environ = {"CLAUDE_PROJECT_DIR": str(self.project)}
        self.count = self.cycle = 0
        self.heard: list[tuple[int, str]] = []  # in which cycle the model was told what
        self.briefs: list[str] = []

    def work(self) -> None:
        """One window from a compaction to the next."""
        for text in SAID.get(self.cycle, ["Good, go on with the next station."]):
            self._write(a_prompt(text))
            self._hook("UserPromptSubmit", prompt=text)
        for number in range(OPERATIONS):
            used = FIRST + (FULL - FIRST) * number // (OPERATIONS - 1)
            self._operation(number, used)
        self._hook("Stop")
        self._compact()
        self.cycle += 1

    def _operation(self, number: int, used: int) -> None:
        self.count += 1
        call = f"t{self.count}"
        tool, given, out = self._done(number)
        answer = an_answer(used, id=f"m{self.count}", text=f"Step {self.count}.")
        answer["message"]["content"].append(
            {"type": "tool_use", "id": call, "name": tool, "input": given}
        )
        self._write(answer)
        if number % HOOK_EVERY == 0 or used > 0.7 * FULL:
            self._hook("PostToolUse", tool_name=tool, tool_use_id=call)
        self._write(a_result(call, out))

    def _done(self, number: int) -> tuple[str, dict[str, Any], str]:
        """An error that is fixed, a task that gets done, and reading and writing between them."""
        path = f"{self.project}/src/station_{self.cycle}_{number % 9}.py"
        if number in (3, 9):
            failed = f"Traceback\nValueError: two headings in cycle {self.cycle}"
            return "Bash", {"command": BROKEN}, failed if number == 3 else "read 14 rows"
        if number in (1, 20):
            status = "in_progress" if number == 1 else "completed"
            task = {"content": f"Station {self.cycle}", "status": status, "activeForm": "At it"}
            return "TodoWrite", {"todos": [task]}, "Todos have been modified."
        if number % 4 == 0:
            edit = {"file_path": path, "old_string": "low", "new_string": "high"}
            return "Edit", edit, f"The file {path} has been updated."
        if number % 4 == 1:
            return "Bash", {"command": f"make check PART={number}"}, "ok\n" * 40
        return "Read", {"file_path": path}, "     1\tdef height(hour):\n" * 60

    def _compact(self) -> None:
        """The events in the client's order; the boundary is written after them."""
        steers = self._hook("PreCompact", trigger="auto")
        assert "decision" not in steers
        assert RULE in steers["steers"]
        given = self._hook("SessionStart", source="compact", model="claude-sonnet-4-6")
        self.briefs.append(to_model(given))
        summary = f"In part {self.cycle} the work on the stations went on."
        assert self._hook("PostCompact", compact_summary=summary) == {}
        self._write(a_boundary(pre=FULL + 1_500 + self.cycle), a_summary(summary))

    def _hook(self, event: str, **own: Any) -> dict[str, Any]:
        said = fire(event, self.path, environ=self.environ, cwd=str(self.project), **own)
        if event != "SessionStart":
            self.heard += [(self.cycle, text) for text in TOLD.findall(to_model(said))]
        return said

    def _write(self, *lines: dict[str, Any]) -> None:
        at = BEGAN + LASTS * self.count / (CYCLES * OPERATIONS)
        stamp = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with self.path.open("a", encoding="utf-8") as file:
            for line in lines:
                own = {"timestamp": stamp, "cwd": str(self.project)}
                file.write(json.dumps(line | own, separators=(",", ":")) + "\n")
        os.utime(self.path, (0, 0))  # long ago: a hook waits for a file that is being written

    def end(self) -> None:
        self._hook("SessionEnd")

    @property
    def checkpoints(self) -> list[Path]:
        return sorted((self.project / ".claude" / "checkpoints").glob("*.md"))


@pytest.mark.nightly
@pytest.mark.timeout(300)
@pytest.mark.requirement("B4", "C10", "W8", "X6")
def test_four_hours_and_ten_compactions_need_no_intervention(tmp_path: Path) -> None:
    session = FourHours(tmp_path)
    session.path.touch()
    fire("SessionStart", session.path, environ=session.environ)
    sizes = []
    for _ in range(CYCLES):
        session.work()
        sizes.append(_bytes_of_ours())
    session.end()
    assert session.count >= 300
    _nothing_erred()
    _each_crossing_was_said_once(session)
    _every_checkpoint_verifies(session)
    _the_newest_brief_is_right(session.briefs)
    _files_stay_bounded(sizes, session)


def _nothing_erred() -> None:
    logged = Path(log.path()).read_text()
    wrong = [line for line in logged.splitlines() if " ERROR " in line or " WARN " in line]
    assert wrong == []
    assert logged.count("compaction (auto)") == CYCLES


def _each_crossing_was_said_once(session: FourHours) -> None:
    said = Counter(
        (cycle, found[1]) for cycle, text in session.heard if (found := ADVICE.search(text))
    )
    assert sum(said.values()) == len(session.heard)
    assert {cycle for cycle, _ in said} == set(range(CYCLES)), "each window fills, and says so"
    assert max(said.values()) == 1, said.most_common(3)
    levels = Counter(event["level"] for event in audit.events())
    assert all(count <= CYCLES for count in levels.values()), levels
    assert levels["advisory"] == CYCLES


def _every_checkpoint_verifies(session: FourHours) -> None:
    """Three or four by the guard in each window; a compaction right after one finds the same
    state, and names that one. Pruning keeps fifty."""
    found = session.checkpoints
    assert 2 * CYCLES <= len(found) <= 50
    named = re.findall(r"compaction \(auto\) .* checkpoint (\S+)", Path(log.path()).read_text())
    assert len(set(named)) == CYCLES
    assert set(named) <= {path.stem for path in found}
    for path in found:
        report = verify(str(path))
        assert report.ok, report
    texts = [path.read_text() for path in found]
    iterations = [int(text.partition("iteration: ")[2].split()[0]) for text in texts]
    assert sorted(iterations) == list(range(1, len(found) + 1)), "one lineage, without a gap"


def _the_newest_brief_is_right(briefs: list[str]) -> None:
    newest = briefs[-1]
    for standing in (RULE, NEW, LAST_REQUEST):
        assert standing in newest
    said = newest.partition("## What the user said before, in order\n")[2].partition("\n## ")[0]
    words = [words for cycle in sorted(SAID) for words in SAID[cycle] if words != LAST_REQUEST]
    places = [said.index(one) for one in words]
    assert places == sorted(places), "what was taken back stands before the words that took it back"
    assert all(len(brief) <= 10_000 for brief in briefs)


def _files_stay_bounded(sizes: list[int], session: FourHours) -> None:
    """Some 480 KB after four hours; what grows is snapshots, which go with their checkpoints and
    hold the last hundred calls: from the middle on, no window costs more than the last."""
    home = Path(os.environ["HOLDFAST_HOME"])
    files = [path for path in home.rglob("*") if path.is_file()]
    assert [path.name for path in files if "draft" in path.name] == []
    assert len(files) <= len(session.checkpoints) + 24
    assert sizes[-1] < 600_000, sizes
    middle = len(sizes) // 2
    assert sizes[-1] - sizes[-2] <= 1.5 * (sizes[middle] - sizes[middle - 1]), sizes
    assert len(list(window().iterdir())) <= 12
    lines = spool.lines(str(window()))
    assert 100 < len(lines) < 400
    assert (window() / "spool").stat().st_size < 100 * len(lines) + 1_000
    assert (window() / "record.json").stat().st_size < 500_000


def _bytes_of_ours() -> int:
    ours = Path(os.environ["HOLDFAST_HOME"]).rglob("*")
    return sum(path.stat().st_size for path in ours if path.is_file())
