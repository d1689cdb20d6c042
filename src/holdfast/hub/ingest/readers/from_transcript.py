"""Read a transcript into records: prompts are requests, subagents subtasks, tool calls actions.

Reading continues at the offset reached, up to a limit at a time. A call is recorded once its result
is there.
"""

from __future__ import annotations

from typing import Literal

from holdfast.hub import ids
from holdfast.hub.clean_text import clean
from holdfast.hub.ingest.readers import calls
from holdfast.hub.ingest.readers.window import ReadPosition, Span, WindowReader
from holdfast.hub.ingest.records import (
    MOST_BYTES,
    MOST_CHARS,
    MOST_READINGS,
    MOST_RECORDS,
    NAME_CHARS,
    PROMPT_CHARS,
    TEXT_CHARS,
    RecordedCompaction,
    RecordedEvent,
    RecordedReadings,
    RecordedRequest,
    RecordedRequestStatus,
    RecordedSubtask,
)
from holdfast.record import secrets
from holdfast.record.user_input import words_of
from holdfast.transcript.blocks import Text, ToolResult, ToolUse
from holdfast.transcript.entries import Answer, Boundary, Entry, Prompt, Result, Summary
from holdfast.transcript.reader import Reader, Unreadable
from holdfast.wire import places

LAST_SAID_CHARS = 400
RECORD_CHARS = 400  # ids, names and times of one
GOING_ON = frozenset(("tool_use", "pause_turn"))


class TranscriptPass:
    """One pass over the new part of a transcript; it moves `reached` forward."""

    def __init__(self, window: WindowReader, reached: ReadPosition, span: Span) -> None:
        self.window, self.reached, self.span = window, reached, span
        self.records: list[RecordedEvent] = []
        self.last_said = ""
        self.skills: list[str] = []
        self._weighed = self._chars = 0
        self.known = secrets.ToldSecrets()
        self._secret_texts: list[tuple[int, str]] = []
        self._readings: dict[int, tuple[int, int]] = {}  # by step: when, and tokens used

    def read(self) -> None:
        window, reached = self.window, self.reached
        if not window.transcript:
            return
        if reached.transcript != window.transcript or reached.offset > places.size_of(
            window.transcript
        ):
            reached.begin(window.transcript)  # another file, perhaps under the same name
        if reached.offset and not reached.step:
            self._count_steps()
        reader = Reader(window.transcript, start=reached.offset)
        until = reached.offset + MOST_BYTES
        try:
            for entry in reader:
                if entry.is_sidechain == bool(window.agent_id):
                    self._entry(entry)
                    self._secret_texts += [(entry.offset, text) for text in secrets.spoken(entry)]
                if self._is_full() or reader.offset >= until:
                    break
        except Unreadable:
            return
        reached.offset = reader.offset
        self._learn()
        self._record_readings()

    def _count_steps(self) -> None:
        """Count the steps of a part that was ingested before steps were counted."""
        reached = self.reached
        reached.compactions, reached.bounded = 0, False
        try:
            for entry in Reader(self.window.transcript):
                if entry.offset >= reached.offset:
                    break
                if entry.is_sidechain == bool(self.window.agent_id):
                    self._step_or_compaction(entry, self._at_ms(entry))
        except Unreadable:
            return

    def _record_readings(self) -> None:
        some = list(self._readings.items())[-MOST_READINGS:]
        self._readings.clear()
        if some:
            self.records.append(
                RecordedReadings(
                    session_id=self.window.session_id,
                    project_id=self.window.project_id,
                    agent_id=self.window.agent_id,
                    step=[step for step, _ in some],
                    at_ms=[at_ms for _, (at_ms, _) in some],
                    used_tokens=[used for _, (_, used) in some],
                    limit_tokens=max(0, self.window.state.edge_tokens),
                )
            )

    def _learn(self) -> None:
        """Learn the secrets named so far, so that rows omit them."""
        self.known.hear_again(self.window.transcript, self.reached.secret_lines)
        self.known.hear(self._secret_texts)
        self._secret_texts.clear()
        self.reached.secret_lines = self.known.lines

    def _is_full(self) -> bool:
        for record in self.records[self._weighed :]:
            words = getattr(record, "prompt", "") + getattr(record, "input", "")
            self._chars += RECORD_CHARS + len(words) + len(getattr(record, "summary", ""))
        self._weighed = len(self.records)
        return self._weighed >= MOST_RECORDS or self._chars >= MOST_CHARS

    def _entry(self, entry: Entry) -> None:
        at_ms = self._at_ms(entry)
        self.span.add(at_ms)
        self._step_or_compaction(entry, at_ms)
        if isinstance(entry, Answer):
            self._answer(entry, at_ms)
        elif isinstance(entry, Result):
            self._result(entry, at_ms)
        elif isinstance(entry, Prompt) and not entry.is_meta:
            self._prompt(entry, at_ms)

    def _at_ms(self, entry: Entry) -> int:
        at_ms = int((entry.epoch_s or 0) * 1000)
        return at_ms if 0 < at_ms < 1 << 53 else self.span.last_ms

    def _step_or_compaction(self, entry: Entry, at_ms: int) -> None:
        if isinstance(entry, Answer):
            self._step(entry, at_ms)
        elif isinstance(entry, Summary):
            self._compacted(at_ms, summary=entry.text)
        elif isinstance(entry, Boundary) and entry.resets_window:
            self._compacted(at_ms, entry)

    def _step(self, entry: Answer, at_ms: int) -> None:
        """Count a step: an answer spans several lines, and the last has its full token count."""
        reached = self.reached
        if entry.message_id != reached.message_id or not reached.step:
            reached.message_id = entry.message_id[:NAME_CHARS]
            reached.step += 1
        used = entry.usage.total_tokens
        if 0 < used < 1 << 53:  # the client's own error messages use no tokens
            reached.used = used
            began_ms, _ = self._readings.get(reached.step, (at_ms, 0))
            self._readings[reached.step] = began_ms, used

    def _prompt(self, entry: Prompt | Result, at_ms: int) -> None:
        if done := calls.read_agent_end(self.window, entry.text, at_ms):
            self.records.append(done)
        words = words_of(entry).typed
        if not words:
            return
        if self.window.agent_id:
            self._describe_agent(words, at_ms)
        else:
            self._request(entry, words, at_ms)

    def _request(self, entry: Entry, words: str, at_ms: int) -> None:
        reached, session_id = self.reached, self.window.session_id
        if reached.request:
            self._set_status("completed", at_ms)
        prompt_key = entry.line.prompt_id or ""
        if not prompt_key or prompt_key == reached.prompt_id:
            prompt_key = entry.uuid or f"byte {entry.offset}"
        else:
            reached.prompt_id = prompt_key
        reached.request = ids.request_id(session_id, prompt_key)
        reached.standing, reached.waves, reached.task = "active", 0, ""
        prompt = clean(words, PROMPT_CHARS)
        self.records.append(
            RecordedRequest(reached.request, session_id, self.window.project_id, prompt, at_ms)
        )

    def _describe_agent(self, words: str, at_ms: int) -> None:
        """Describe a subagent by its first prompt, until its caller's description is known."""
        if self.reached.asked:
            return
        self.reached.asked = True
        self.records.append(
            RecordedSubtask(
                id=ids.subtask_id(self.window.session_id, self.window.agent_id),
                session_id=self.window.session_id,
                project_id=self.window.project_id,
                at_ms=at_ms,
                agent_id=self.window.agent_id,
                agent_type=self.window.agent_type,
                description=clean(words.strip().partition("\n")[0], TEXT_CHARS // 4),
                described=1,
            )
        )

    def _answer(self, entry: Answer, at_ms: int) -> None:
        for block in entry.blocks:
            if isinstance(block, ToolUse) and block.id:
                self.reached.hold(block.id, calls.start_call(block, at_ms))
            elif isinstance(block, Text) and block.text.strip():
                self.last_said = block.text
        if entry.stop_reason and self.reached.request:
            self._set_status("active" if entry.stop_reason in GOING_ON else "completed", at_ms)

    def _set_status(self, status: Literal["active", "completed"], at_ms: int) -> None:
        if status != self.reached.standing:
            self.reached.standing = status
            self.records.append(RecordedRequestStatus(self.reached.request, status, at_ms))

    def _result(self, entry: Result, at_ms: int) -> None:
        for block in entry.message.blocks:
            if isinstance(block, ToolResult):
                call = self.reached.calls.pop(block.tool_use_id, None)
                if call is not None:
                    window, reached = self.window, self.reached
                    self.records += calls.end_call(window, reached, call, entry, block, at_ms)
                    self.skills += calls.skill_of(call, block)
        if entry.text and not entry.line.is_meta:
            self._prompt(entry, at_ms)

    def _compacted(self, at_ms: int, boundary: Boundary | None = None, summary: str = "") -> None:
        """A boundary and the summary after it are one; client 1.0.53 wrote only the summary."""
        before = (boundary.pre_tokens if boundary else 0) or self.reached.used
        self.reached.compactions += not self.reached.bounded
        self.reached.bounded = not summary
        self.records.append(
            RecordedCompaction(
                session_id=self.window.session_id,
                project_id=self.window.project_id,
                agent_id=self.window.agent_id,
                at_ms=at_ms,
                count=self.reached.compactions,
                summary=clean(summary, PROMPT_CHARS // 2),
                step=self.reached.step,
                trigger=clean(boundary.trigger, NAME_CHARS) if boundary else "",
                before_tokens=max(0, before),
                after_tokens=max(0, (boundary.post_tokens if boundary else 0) or 0),
            )
        )

    @property
    def progress(self) -> str:
        return clean(" ".join(self.last_said[: 4 * LAST_SAID_CHARS].split()), LAST_SAID_CHARS)
