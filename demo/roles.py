"""Print docs/roles.md: one made-up session, and the brief of each role for it.

python demo/roles.py > docs/roles.md
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from typing import Any

from holdfast.brief.compose import compose
from holdfast.brief.roles import ROLES
from holdfast.record.reader import read_record

TOKENS = 460
INTRO = f"""# One session, four roles

Made by `python demo/roles.py`; the session is made up. Each brief has {TOKENS} tokens here, so that
the roles must choose; 2,000 are usual.

| role | who | beside the request and where the work stood |
|---|---|---|
| orchestrator | `tech-lead`, `planner` | waves, who failed or waits and for whom, what came back |
| developer | unknown types | failing commands with their output, open tasks, files, commands |
| specialist | `expert`, `explore`, `architect` | its own task, its own files and findings |
| validator | `reviewer`, `qa`, `test` | failing commands, changes since a command passed |

A main session has no type. It leads and develops, so its brief has the sections of both.

`holdfast brief --role ROLE` shows each for your own session. [Briefs](briefs.md) says how to change
a role.
"""
WORK = {
    "at_ms": 1_767_258_000_000,
    "waves": [
        {"wave_number": 1, "status": "completed", "tasks": 2, "completed": 2},
        {"wave_number": 2, "status": "running", "tasks": 3, "completed": 1},
    ],
    "subtasks": [
        {
            "agent_id": "pi-7",
            "agent_type": "pilot",
            "status": "running",
            "description": "chart the bar",
        }
    ],
    "recent_messages": [
        {
            "from_agent": "data-2",
            "to_agent": None,
            "topic": "task.completed",
            "content": "gauges.csv has 14 columns now; column 9 is the datum",
        }
    ],
}
FAILED = (
    "FAILED tests/test_extremes.py::test_a_flat_top_is_one_high_water\n"
    "E   assert [] == [Reading(hour=6, metres=4.1)]\n1 failed, 11 passed"
)


class Session:
    """Lines of a transcript, as the client writes them."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self._numbers = count(1)

    def _add(self, kind: str, message: dict[str, Any]) -> None:
        number = next(self._numbers)
        at = f"2026-01-01T09:{number // 60:02}:{number % 60:02}.000Z"
        around = {"type": kind, "uuid": f"u{number}", "timestamp": at, "cwd": "/home/ada/tides"}
        self.lines.append({**around, "sessionId": "s1", "isSidechain": False, "message": message})

    def asks(self, words: str) -> None:
        self._add("user", {"role": "user", "content": words})

    def says(self, words: str) -> None:
        self._answers([{"type": "text", "text": words}])

    def calls(self, tool: str, result: str, given: dict[str, str], *, failed: bool = False) -> None:
        name = f"toolu_{len(self.lines)}"
        self._answers([{"type": "tool_use", "id": name, "name": tool, "input": given}])
        block = {"type": "tool_result", "tool_use_id": name, "content": result}
        self._add("user", {"role": "user", "content": [{**block, "is_error": failed}]})

    def edits(self, path: str, old: str, new: str) -> None:
        path = f"/home/ada/tides/{path}"
        told = f"The file {path} has been updated."
        self.calls("Edit", told, {"file_path": path, "old_string": old, "new_string": new})

    def reads(self, path: str, text: str) -> None:
        self.calls("Read", f"     1\t{text}", {"file_path": f"/home/ada/tides/{path}"})

    def _answers(self, content: list[dict[str, Any]]) -> None:
        usage = {"input_tokens": 9, "output_tokens": 90, "cache_read_input_tokens": 20_000}
        message = {"id": f"msg_{len(self.lines)}", "role": "assistant", "content": content}
        self._add("assistant", {**message, "model": "claude-sonnet-4-6", "usage": usage})


def session() -> Session:
    """Two prompts, three tasks, two subagents, one failure that was fixed and one that was not."""
    one = Session()
    one.asks(
        "Build the tide tables. Run make test before you commit, and leave data/raw alone: it is "
        "the only copy. Let somebody check the gauges while you work."
    )
    for number, subject in enumerate(("read the gauge file", "find high water", "print a table")):
        one.calls("TaskCreate", f"Task #{number + 1} created successfully", {"subject": subject})
    _agents(one)
    one.reads("docs/datum.md", "The datum is the lowest astronomical tide.")
    one.reads("data/README.md", "Raw files come from the harbour office.")
    one.reads("Makefile", "test: ; pytest")
    one.calls("Bash", "On branch main", {"command": "git status --short --branch"})
    one.edits("tide_tables/load.py", "rows = lines", "rows = lines[1:]  # without the heading")
    wrong = "E   ValueError: could not convert string to float: 'metres'\n1 failed"
    test = {"command": "pytest tests/test_load.py"}
    one.calls("Bash", f"FAILED tests/test_load.py::test_the_heading\n{wrong}", test, failed=True)
    one.edits("tests/test_load.py", "LINES = 3", "LINES = 2")
    one.edits("tide_tables/load.py", "lines[1:]", "lines[HEADING_LINES:]")
    one.calls("Bash", "2 passed", test)
    one.calls("TaskUpdate", "Updated task #1 status", {"taskId": "1", "status": "completed"})
    one.says("The gauge file is read; its heading is skipped. Next: high water.")
    one.asks("Good. Compare neighbours with >= so that a flat top counts once.")
    one.calls("TaskUpdate", "Updated task #2 status", {"taskId": "2", "status": "in_progress"})
    one.edits("tide_tables/extremes.py", "left < here > right", "left < here >= right")
    one.edits("tests/test_extremes.py", "PEAKS = []", "PEAKS = [Reading(6, 4.1)]")
    one.calls("Bash", FAILED, {"command": "pytest tests/test_extremes.py"}, failed=True)
    one.says("A flat top is not found yet: `find_extremes` looks at one neighbour only.")
    return one


def _agents(one: Session) -> None:
    given = {"subagent_type": "Explore", "description": "check the gauges", "prompt": "Check them."}
    found = "Gauge 4 stands still from 02:00 to 05:00 on 29 March; the other gauges are complete."
    one.calls("Agent", found, given)
    given = {"subagent_type": "reviewer", "description": "review load.py", "prompt": "Review it."}
    one.calls("Agent", "Async agent launched successfully.\nagentId: rev-1 (internal)", given)


def page() -> Iterator[str]:
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.writelines(json.dumps(line) + "\n" for line in session().lines)
        file.flush()
        record = read_record(file.name)
    yield INTRO
    for role in ROLES:
        yield f"## {role}\n\n```\n{compose(record, TOKENS, role, work=WORK).text}\n```\n"


if __name__ == "__main__":
    sys.stdout.write("\n".join(page()))
