"""The endurance session in the real Codex: one process for each prompt, resumed by the next.

Its model calls one tool for commands, so files are read with `cat` and changed with `apply_patch`,
and tasks are steps of its plan. What Codex cannot do headless is not planted.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from tests.codex import real
from tests.codex.real import SUMMARY_SIGN, CodexAnswer
from tests.trial.run import skipped_hooks
from tests.trial.script import ReceivedRequest, ScriptedToolCall

from benchmarks.endurance import workplace
from benchmarks.endurance.installation import Installation
from benchmarks.endurance.session import FIRST, Beat, Ran, SessionFailed, flat
from benchmarks.endurance.story import Story

NOT_HEADLESS = frozenset(("chosen", "queued", "refused", "slash", "agent"))
LIMIT = 160_000
POOR_SUMMARY = "The user works on a project and asked for a number of changes. Work goes on."
PATCH = "apply_patch <<'PATCH'\n*** Begin Patch\n{body}\n*** End Patch\nPATCH"
EDIT = "*** Update File: {path}\n@@\n-{start} {old}.\n+{start} {new}."
REVISION = "// This file is at revision"


def run_codex(binary: Path, folder: Path, story: Story, *, with_holdfast: bool) -> Ran:
    """Play the whole story; raises SessionFailed if the client leaves it."""
    home, project = folder / "home", folder / "project"
    programs = workplace.build(folder, project, story.stage)
    real.prepare(home, LIMIT)
    (home / ".bash_profile").write_text(f'export PATH="{programs}:$PATH"\n')
    environment = real.environment(home)
    words = ("--agent", "codex", "--yes")
    installed = Installation(folder / "lib", project, environment, words)
    if with_holdfast:
        installed.install()
    started = time.monotonic()
    play = _CodexPlay(story)
    play.run(binary, home, project)
    seconds = time.monotonic() - started
    play.check(len(story.windows))
    faults = [*play.faults, *skipped_hooks(home / ".holdfast")]
    saved = len(list((project / ".claude" / "checkpoints").glob("*.md")))
    return Ran(tuple(play.requests), tuple(faults), seconds, checkpoints=saved)


def _is_only_told(items: list[dict[str, Any]]) -> bool:
    """Whether the turn was over, and goes on because an asynchronous hook had more to tell."""
    return [one.get("role") for one in items[-2:]] == ["assistant", "developer"]


class _CodexPlay:
    """The user's side and the model's side of one session."""

    def __init__(self, story: Story) -> None:
        self._prompts, self._beats = flat(story)
        self._revisions = dict.fromkeys(story.stage.files, 0)
        self._tasks: dict[str, str] = {}
        self._last: tuple[Any, CodexAnswer] | None = None
        self.requests: list[ReceivedRequest] = []
        self.faults: list[str] = []
        self.unasked = 0

    def run(self, binary: Path, home: Path, project: Path) -> None:
        for number, prompt in enumerate(self._prompts):
            run = real.run(*(binary, home, project, prompt.words, self._answer), resume=number > 0)
            if run.exit_code or run.timed_out:
                raise SessionFailed(f"prompt {number}: {run.said[-1_000:]}")
            self.faults += [line for line in run.said.splitlines() if line.endswith(" Failed")]

    def check(self, windows: int) -> None:
        compacted = sum(request.kind == "summary" for request in self.requests)
        if compacted != windows or self._beats or self.unasked:
            told = f"{compacted} compactions, {len(self._beats)} answers left"
            raise SessionFailed(f"{told}, {self.unasked} beyond the story")

    def _answer(self, _number: int, body: dict[str, Any]) -> CodexAnswer:
        """The client asks again where an answer did not reach it."""
        if self._last is None or self._last[0] != body["input"]:
            self._last = body["input"], self._next(body)
        return self._last[1]

    def _next(self, body: dict[str, Any]) -> CodexAnswer:
        is_summary = SUMMARY_SIGN in json.dumps(body["input"][-1])
        given = {"system": body.get("instructions", ""), "messages": body["input"]}
        kind: Any = "summary" if is_summary else "main"
        self.requests.append(ReceivedRequest(len(self.requests), kind, "", 0.0, given))
        if is_summary:
            return CodexAnswer(POOR_SUMMARY, 3_000)
        if _is_only_told(body["input"]):
            return CodexAnswer("Noted.", FIRST)
        if not self._beats:
            self.unasked += 1
            return CodexAnswer("Done.", FIRST)
        return self._played(self._beats.pop(0))

    def _played(self, beat: Beat) -> CodexAnswer:
        if beat.call is None:
            return CodexAnswer(beat.says, beat.used_tokens)
        if beat.call.name.startswith("Task"):
            self._note_task(beat.call)
            return CodexAnswer(beat.says, beat.used_tokens, plan=tuple(self._tasks.items()))
        return CodexAnswer(beat.says, beat.used_tokens, (self._command(beat.call),))

    def _note_task(self, call: ScriptedToolCall) -> None:
        if call.name == "TaskCreate":
            self._tasks[str(call.arguments["subject"])] = "pending"
        else:
            self._tasks[str(call.arguments["taskId"])] = "completed"

    def _command(self, call: ScriptedToolCall) -> str:
        path = str(call.arguments.get("file_path"))
        if call.name == "Bash":
            return str(call.arguments["command"])
        if call.name == "Read":
            return f"cat {path}"
        if call.name == "Write":
            return PATCH.format(body=f"*** Add File: {path}\n+begun")
        now = self._revisions[path] = self._revisions[path] + 1
        return PATCH.format(body=EDIT.format(path=path, start=REVISION, old=now - 1, new=now))
