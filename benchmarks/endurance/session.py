"""One endurance session in the real client: a user at its input, a scripted model behind its API.

The client runs headless with stream-json on both sides, so that one process takes all prompts. What
is typed while the model works is written before the scripted answer leaves; questions and refused
calls are answered through the permission prompt of that protocol, with the words that the
terminal uses.
"""

from __future__ import annotations

import itertools
import json
import os
import queue
import signal
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.trial.cycle import texts
from tests.trial.namespace import Patience, confine
from tests.trial.run import (
    notes_folder,
    prepare_home,
    skipped_hooks,
    trial_environment,
)
from tests.trial.script import (
    ReceivedRequest,
    ScriptedAnswer,
    ScriptedToolCall,
    Step,
    bash,
    usage_of,
)
from tests.trial.scripted_api import ScriptedApi

from benchmarks.endurance import installation, workplace
from benchmarks.endurance.installation import Installation
from benchmarks.endurance.story import AFTER, Stage, Story

MODEL = "claude-sonnet-4-6"  # compacts at 167,000 of 200,000
FIRST, LAST, OVER = 24_000, 152_000, 169_000  # what the model reports as used in each window
MOST_SECONDS, WINDOW_SECONDS = 900.0, 120.0
COMPACT, GO_ON = "/compact", "Please go on where you were."
SILENCE_SECONDS = 90.0
_TOOLS = "Bash,Read,Write,Edit,Agent,TaskCreate,TaskUpdate"
_REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was "
    "a file edit, the new_string was NOT written to the file). To tell you how to proceed, the "
    "user said:\n"
)
# In the form that the client asks for.
POOR_SUMMARY = """\
<analysis>Going through the conversation in order.</analysis>
<summary>
1. Primary Request and Intent: The user works on a harbour monitoring project and asked for a number of changes.
2. Problem Solving: Several files were read and edited, and a few commands were run along the way.
3. Current Work: Work continued on various parts of the project in line with earlier requests.
</summary>"""  # noqa: E501


class SessionFailed(RuntimeError):
    """The session did not go as written, so its figures would mean nothing."""


@dataclass(frozen=True)
class Ran:
    """What the API was asked, in order, and what the client held against our hooks."""

    requests: tuple[ReceivedRequest, ...]
    faults: tuple[str, ...]
    seconds: float
    home: Mapping[str, str] = field(default_factory=dict)  # its files after `uninstall`
    checkpoints: int = 0
    lives: int = 1  # how often the client was started

    def after(self, compaction: int) -> list[ReceivedRequest]:
        """The main requests from this compaction to the next."""
        found, number = [], 0
        for request in self.requests:
            number += request.kind == "summary"
            if number == compaction and request.kind == "main":
                found.append(request)
        return found


@dataclass(frozen=True)
class Incidents:
    """What else happens: in the middle of one window the client is killed and then resumed, and
    before the first prompt of another one Holdfast is upgraded. Windows count from 1; 0 is none."""

    crash: int = 0
    upgrade: int = 0


NOTHING = Incidents()


@dataclass(frozen=True)
class Beat:
    """One answer of the scripted model."""

    says: str
    call: ScriptedToolCall | None
    typed: str
    used_tokens: int
    window: int


@dataclass(frozen=True)
class TypedPrompt:
    """What is typed, and in which window."""

    words: str
    window: int


def run_session(
    binary: Path,
    folder: Path,
    story: Story,
    *,
    with_holdfast: bool,
    incidents: Incidents = NOTHING,
) -> Ran:
    """Play the whole story; raises SessionFailed if the client leaves it."""
    home, project = folder / "home", folder / "project"
    programs = workplace.build(folder, project, story.stage)
    ask = [f"Bash({command})" for command in story.stage.refusals]
    prepare_home(home, project, {"permissions": {"ask": ask}})
    environment = trial_environment(home, {"PATH": f"{programs}:{os.environ['PATH']}"})
    installed = Installation(folder / "lib", project, environment) if with_holdfast else None
    if installed:
        installed.install()
    started = time.monotonic()
    play = _Play(story, project, installed, incidents)
    requests = play.run(binary, folder, environment)
    seconds = time.monotonic() - started
    _check(play, requests, len(story.windows))
    if installed:
        play.faults += skipped_hooks(Path(environment["HOLDFAST_HOME"]))
        installed.uninstall()
    saved = len(list((project / ".claude" / "checkpoints").glob("*.md")))
    files = installation.files_of(home, folder)
    return Ran(tuple(requests), tuple(play.faults), seconds, files, saved, play.lives)


def _check(play: _Play, requests: Sequence[ReceivedRequest], windows: int) -> None:
    compacted = sum(request.kind == "summary" for request in requests)
    wrong = [
        f"{play.left} answers were never asked for" if play.left else "",
        f"{compacted} compactions instead of {windows}" if compacted != windows else "",
        f"{play.unasked} answers were asked for beyond the story" if play.unasked else "",
        *play.errors,
    ]
    if any(wrong):
        raise SessionFailed("; ".join(filter(None, wrong)))


class _Play:
    """The user's side and the model's side of one session."""

    def __init__(
        self,
        story: Story,
        project: Path,
        installed: Installation | None = None,
        incidents: Incidents = NOTHING,
    ) -> None:
        self._stage, self._project = story.stage, project
        self._installed, self._incidents = installed, incidents
        self._prompts, self._beats = flat(story)
        self._crash_at = _crash_at(self._beats, incidents.crash)
        self._tasks: list[str] = []
        self._revisions = dict.fromkeys(story.stage.files, 0)
        self._keys = self._client = -1
        self._session_id = ""
        self._has_crashed = self._is_upgraded = False
        self._said = threading.Lock()
        self.faults: list[str] = []
        self.errors: list[str] = []
        self.unasked = self.lives = 0

    @property
    def left(self) -> int:
        return len(self._beats)

    def run(
        self, binary: Path, folder: Path, environment: Mapping[str, str]
    ) -> list[ReceivedRequest]:
        """All that the API was asked, by the client and, if it crashed, by the resumed one."""
        prompts = iter(self._prompts)
        requests = self._live(binary, folder, environment, prompts)
        if self._has_crashed and not self.errors:
            typed = itertools.chain([TypedPrompt(GO_ON, self._incidents.crash)], prompts)
            requests += self._live(binary, folder, environment, typed)
        return requests

    def _live(
        self,
        binary: Path,
        folder: Path,
        environment: Mapping[str, str],
        prompts: Iterator[TypedPrompt],
    ) -> list[ReceivedRequest]:
        """Start the client, type each prompt when the turn before it has ended, and close."""
        self.lives += 1
        typed = folder / f"typed-{self.lives}"
        os.mkfifo(typed)
        debug = notes_folder(folder / "home") / f"debug-{self.lives}"
        command = _command(binary, typed, debug, self._session_id)
        with ExitStack() as stack:
            self._keys = os.open(typed, os.O_RDWR)
            stack.callback(os.close, self._keys)
            reading, writing = os.pipe()
            events: queue.Queue[dict[str, Any] | None] = queue.Queue()
            with os.fdopen(writing, "wb") as stdout, (folder / "stderr").open("ab") as stderr:
                confined = confine(
                    command,
                    folder=self._project,
                    environment=environment,
                    stdout=stdout,
                    stderr=stderr,
                )
                client = stack.enter_context(confined)
            self._client = client.process.pid
            patience = Patience(self._client)
            api = ScriptedApi(self._answer, listener=client.listener, before_answer=patience)
            stack.enter_context(api)
            threading.Thread(target=_read, args=(reading, events), daemon=True).start()
            self._type_all(events, prompts)
        return list(api.received)

    def _type_all(
        self, events: queue.Queue[dict[str, Any] | None], prompts: Iterator[TypedPrompt]
    ) -> None:
        until = time.monotonic() + max(MOST_SECONDS, WINDOW_SECONDS * self._prompts[-1].window)
        self._say(next(prompts).words)
        while time.monotonic() < until:
            try:
                event = events.get(timeout=SILENCE_SECONDS)
            except queue.Empty:
                break
            if event is None:
                if not (self._has_crashed and self.lives == 1):
                    self.errors.append("the client ended by itself")
                return
            self._note(event)
            if event.get("type") == "result":
                if event.get("is_error"):
                    self.errors.append(f"a turn ended with {str(event.get('result'))[:200]}")
                prompt = next(prompts, None)
                if prompt is None:
                    return
                self._upgrade_before(prompt)
                self._say(prompt.words)
        self.errors.append("the client went silent or took too long")

    def _upgrade_before(self, prompt: TypedPrompt) -> None:
        if self._installed and not self._is_upgraded and prompt.window == self._incidents.upgrade:
            self._is_upgraded = True
            self._installed.upgrade()

    def _note(self, event: Mapping[str, Any]) -> None:
        self._session_id = self._session_id or str(event.get("session_id") or "")
        if event.get("type") == "control_request":
            self._send(_permission(event, self._stage))
        elif event.get("subtype") == "hook_response" and event.get("outcome") != "success":
            told = f"{event.get('outcome')}, {event.get('stderr')}"  # cancelled: at its time limit
            self.faults.append(f"{event.get('hook_name')}: {told}")

    def _say(self, words: str) -> None:
        message = {"role": "user", "content": words}
        self._send({"type": "user", "message": message, "session_id": ""})

    def _send(self, value: Mapping[str, Any]) -> None:
        with self._said:
            os.write(self._keys, json.dumps(value).encode() + b"\n")

    def _answer(self, request: ReceivedRequest) -> Step:
        if request.kind == "summary":
            return ScriptedAnswer(POOR_SUMMARY, usage=usage_of(3_000, output_tokens=200))
        if request.kind == "agent":
            return ScriptedAnswer(self._finding(request), usage=usage_of(6_000))
        if request.kind == "side":
            return ScriptedAnswer("Fine.", usage=usage_of(1_000))
        return self._next()

    def _next(self) -> ScriptedAnswer:
        if not self._beats:
            self.unasked += 1
            return ScriptedAnswer("Done.", usage=usage_of(FIRST))
        if self._beats[0] is self._crash_at and not self._has_crashed:
            self._has_crashed = True
            os.killpg(self._client, signal.SIGKILL)
            return ScriptedAnswer("Nobody reads this.", usage=usage_of(FIRST))
        beat = self._beats.pop(0)
        if beat.typed:
            self._say(beat.typed)
        calls = (self._played(beat.call),) if beat.call else ()
        return ScriptedAnswer(beat.says, calls, usage_of(beat.used_tokens))

    def _finding(self, request: ReceivedRequest) -> str:
        asked = "\n".join(texts(request.body["messages"]))
        found = self._stage.findings.items()
        return next((returns for task, returns in found if task in asked), "Nothing found.")

    def _played(self, call: ScriptedToolCall) -> ScriptedToolCall:
        """Fill in what is known only now: whole paths, the line as it stands, the task's number."""
        given = dict(call.arguments)
        if call.name == "TaskCreate":
            self._tasks.append(str(given["subject"]))
        if call.name == "TaskUpdate":
            given["taskId"] = str(self._tasks.index(str(given["taskId"])) + 1)
        if call.name == "Edit":
            path = str(given["file_path"])
            self._revisions[path] += 1
            now = self._revisions[path]
            given |= {"old_string": f"revision {now - 1}.", "new_string": f"revision {now}."}
        if "file_path" in given:
            given["file_path"] = str(self._project / str(given["file_path"]))
        return ScriptedToolCall(call.name, given)


def flat(story: Story) -> tuple[list[TypedPrompt], list[Beat]]:
    """All prompts, and all answers with the usage that fills each window once."""
    prompts: list[TypedPrompt] = []
    windows: list[list[tuple[str, ScriptedToolCall | None, str]]] = [[]]
    for window in story.windows:
        for turn in window.turns:
            prompts.append(TypedPrompt(turn.prompt, len(windows)))
            for number, step in enumerate(turn.steps, start=1):
                windows[-1].append((step.says, step.call, step.typed))
                is_full = turn is window.turns[-1] and number == window.full_after
                if is_full and not window.is_closed_by_hand:
                    windows.append([])
            windows[-1].append((turn.closes, None, ""))
        if window.is_closed_by_hand:
            prompts.append(TypedPrompt(COMPACT, len(windows)))
            windows.append([])
        if window.next_prompt:
            prompts.append(TypedPrompt(window.next_prompt, len(windows)))
            windows[-1] += [("", bash(AFTER[0]), ""), ("Continuing.", None, "")]
    by_hand = {number for number, one in enumerate(story.windows, 1) if one.is_closed_by_hand}
    return prompts, list(_beats(windows, by_hand))


def _beats(
    windows: Sequence[Sequence[tuple[str, ScriptedToolCall | None, str]]], by_hand: Collection[int]
) -> Iterator[Beat]:
    for place, answers in enumerate(windows, start=1):
        full = place < len(windows) and place not in by_hand
        for number, answer in enumerate(answers):
            used = FIRST + (LAST - FIRST) * number // max(len(answers), 20)
            over = full and number + 1 == len(answers)
            yield Beat(*answer, used_tokens=OVER if over else used, window=place)


def _crash_at(beats: Sequence[Beat], window: int) -> Beat | None:
    """In the middle of that window, an answer that a tool's result waits for."""
    mine = [place for place, beat in enumerate(beats) if beat.window == window]
    for place in mine[len(mine) // 2 :]:
        before = beats[place - 1]
        if before.call and before.call.name == "Bash" and not before.typed:
            return beats[place]
    return None


def _command(binary: Path, typed: Path, debug: Path, session_id: str) -> list[str]:
    resume = ["--resume", session_id] if session_id else []
    return [
        *("/bin/sh", "-c", f'exec "$@" <{typed}', "sh", str(binary.resolve()), "-p"),
        *("--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
        *("--include-hook-events", "--model", MODEL, "--debug-file", str(debug)),
        *("--allowedTools", _TOOLS, "--permission-prompt-tool", "stdio"),
        *resume,
    ]


def _permission(event: Mapping[str, Any], stage: Stage) -> dict[str, Any]:
    """What the user answers: an option or own words, or a refusal with words."""
    asked = event["request"]
    given = asked.get("input", {})
    if asked.get("tool_name") == "AskUserQuestion":
        answers = {one["question"]: stage.answers[one["question"]] for one in given["questions"]}
        answer = {"behavior": "allow", "updatedInput": {**given, "answers": answers}}
    else:
        words = stage.refusals.get(given.get("command", ""), "no")
        answer = {"behavior": "deny", "message": _REFUSED + words}
    inner = {"subtype": "success", "request_id": event["request_id"], "response": answer}
    return {"type": "control_response", "response": inner}


def _read(descriptor: int, events: queue.Queue[dict[str, Any] | None]) -> None:
    with os.fdopen(descriptor, "rb") as lines:
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                events.put(event)
    events.put(None)
