"""A session in a project of its own, told round by round, with the hooks of its compactions."""

import json
from pathlib import Path
from typing import Any

from holdfast.client import sample_payloads
from tests.builders import a_boundary, a_prompt, a_result, a_summary, a_transcript, an_answer
from tests.hot.hooks import fire, run, to_model

RULE = "Always run `make check` before you commit, and never touch data/raw."
REQUEST = "Please teach the parser to read gauge files with two headings."


def raw(event: str, path: Path, project: Path, **own: Any) -> str:
    """What a hook prints, as it is: PreCompact prints plain text."""
    sent = (
        sample_payloads.make_payload(event, session_id="s1", transcript=str(path), cwd=str(project))
        | own
    )
    found = run(json.dumps(sent).encode(), environ={"CLAUDE_PROJECT_DIR": str(project)})
    assert (found.returncode, found.stderr) == (0, b"")
    return found.stdout.decode()


class Work:
    """A session in a project of its own that is worked in, round by round."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.project.mkdir()
        self.path = folder / "s1.jsonl"
        self.environ = {"CLAUDE_PROJECT_DIR": str(self.project)}
        self.lines: list[dict[str, Any]] = [a_prompt(RULE), a_prompt(REQUEST)]
        self.count = 0

    def round(self, used: int, command: str = "make check", out: str = "ok") -> None:
        self._call(used, "Bash", {"command": command}, out)

    def look_at(self, used: int, *paths: str) -> None:
        """One step for each file; each uses one token more."""
        for number, path in enumerate(paths):
            self._add(used + number, "Read", {"file_path": path}, "1\tdef gauge(): ...")
        a_transcript(self.path, *self.lines)

    def _call(self, used: int, tool: str, given: dict[str, str], out: str) -> None:
        self._add(used, tool, given, out)
        a_transcript(self.path, *self.lines)

    def _add(self, used: int, tool: str, given: dict[str, str], out: str) -> None:
        self.count += 1
        answer = an_answer(used, id=f"m{self.count}")
        call = {"type": "tool_use", "id": f"t{self.count}", "name": tool, "input": given}
        answer["message"]["content"] = [call]
        self.lines += [answer, a_result(f"t{self.count}", out)]

    def hook(self, event: str, **own: Any) -> dict[str, Any]:
        return fire(event, self.path, environ=self.environ, **own)

    def compact(self, summary: str = "Work went on.") -> tuple[str, str]:
        """The events of one compaction in their order: (what steers, what is given back)."""
        steered = raw("PreCompact", self.path, self.project, trigger="auto")
        given = to_model(self.hook("SessionStart", source="compact", model="claude-sonnet-4-6"))
        assert self.hook("PostCompact", compact_summary=summary) == {}
        self.lines += [a_boundary(pre=167_100 + self.count), a_summary(summary)]
        a_transcript(self.path, *self.lines)
        return steered, given

    @property
    def checkpoints(self) -> list[Path]:
        found = (self.project / ".claude" / "checkpoints").glob("*.md")
        return sorted(found, key=lambda path: path.stem)  # two of one second: `…-2` is the later
