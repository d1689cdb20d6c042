"""Read a transcript as turns, from any place on; every other package reads these instead of lines.

    for part in read_turns(path): ...
    for part in read_turns(path, load_state(path, saved)): ...

`RecordReader` decides whose words are whose and what a call was; here its turns get their texts,
calls and usage. Parts are searched for secrets many at once, and what one of them names is removed
from all that follow. The same function reads a subagent's file (`sidechain`).
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from holdfast.record import agents, calls, model, secrets, storage
from holdfast.record.reader import RecordReader
from holdfast.record.turns import MOST_LOOKED_AT
from holdfast.record.user_input import is_notification, texts_in, words_of
from holdfast.text.sentences import clip, ends_of
from holdfast.transcript.blocks import Text, ToolResult, ToolUse, decoded
from holdfast.transcript.entries import Answer, Attachment, Boundary, Entry, Prompt, Result, Summary
from holdfast.transcript.reader import Reader
from holdfast.transcript.user_words import without_briefs, without_reminders
from holdfast.wire.mark import CHARS_PER_TOKEN

TEXT_CHARS = 30_000  # of what was asked, of a text, of a report
SAMPLE_CHARS = 32_000  # of an output are searched for secrets before it is cut
OUTPUT_CHARS = 2_400
PART_CHARS, PART_STEPS = 80_000, 50  # a part is closed at the next step after that
MOST_PARTS, MOST_BYTES = 64, 4 << 20  # that are searched for secrets at once
MOST_OPEN, MOST_NESTED = 100, 50
KEPT_TURNS = 3  # that later words may answer, or that are answered
WHAT_CHARS = 2000
SUMMARY_CHARS = 8000
AGENTS = ("Task", "Agent", "TaskOutput", "AgentOutputTool")
STARTS = ("Task", "Agent")
TASKS = ("TaskCreate", "TaskUpdate", "TodoWrite")
ASKS = (calls.ASKED, "ExitPlanMode")
CUT = " … "


def read_turns(
    path: str | os.PathLike[str],
    state: model.StreamState | None = None,
    *,
    sidechain: bool = False,
    start: int = 0,
    until: int | None = None,
    output_chars: int = OUTPUT_CHARS,
) -> Iterator[model.TurnPart]:
    """Yield what the transcript holds after `state`, or from byte `start` to `until`. The last part
    is open, if there is anything new. Raises Unreadable without a file."""
    state = state or model.StreamState(model.Record(far=True, offset=start))
    stream = _Stream(state, sidechain, output_chars)
    stream.known.hear_again(path, state.record.told)
    reader, closed = Reader(path, start=state.record.offset), list[model.TurnPart]()
    for entry in reader:
        if until is not None and entry.offset >= until:
            break
        closed += stream.take(entry)
        if closed and (len(closed) == MOST_PARTS or entry.offset - closed[0].start > MOST_BYTES):
            yield from stream.clean(closed)
            closed = []
    end = reader.offset if until is None else min(until, reader.offset)
    if end > stream.part.start:
        closed.append(stream.leave_open(end))
    yield from stream.clean(closed)


def save_state(path: str | os.PathLike[str], state: model.StreamState) -> dict[str, Any]:
    """Return the state as plain values, with a signature of what was read."""
    saved: dict[str, Any] = msgspec.to_builtins(state)
    return saved | {"read_from": storage.sign(os.fspath(path), state.record.offset)}


def load_state(path: str | os.PathLike[str], saved: object) -> model.StreamState | None:
    """Return a saved state; None for another file or version: read from the start."""
    try:
        state = msgspec.convert(saved, model.StreamState)
    except (msgspec.ValidationError, ValueError, RecursionError):
        return None
    is_ours = state.version == model.PART_VERSION and state.record.version == model.VERSION
    goes_on = is_ours and storage.goes_on(state.record, state.read_from, os.fspath(path))
    return state if goes_on else None


class _Stream:
    """The part that is being read, and the record that decides what belongs to it."""

    def __init__(self, state: model.StreamState, sidechain: bool, output_chars: int) -> None:
        self._state = _copy(state)
        self._reader = RecordReader(self._state.record, sidechain=sidechain)
        self._sidechain, self._output_chars = sidechain, output_chars
        self.known = secrets.ToldSecrets()
        self._chars = 0
        self.part = self._next_part(_copy(state))

    def take(self, entry: Entry) -> list[model.TurnPart]:
        if entry.is_sidechain and not self._sidechain:
            return []
        closed = [self._close(entry.offset)] if self._is_full(entry) else []
        record = self._state.record
        may_begin = _may_begin_turn(entry)
        before = self._snapshot(entry.offset) if may_begin else None
        known = list(record.turns)
        self._reader.take(entry)
        begun = [
            turn
            for turn in record.turns[-MOST_OPEN:]
            if not (turn.waits or any(turn is other for other in known))
        ]
        if begun and before is not None:
            if entry.offset > self.part.start:
                closed.append(self._close(entry.offset, before))
            self._begin(begun, entry)
        self._gather(entry)
        return closed

    def leave_open(self, end: int) -> model.TurnPart:
        self.part.calls = [*self.part.calls, *self._state.calls.values()]
        part = self._close(end)
        part.is_open = True
        return part

    def _is_full(self, entry: Entry) -> bool:
        is_step = isinstance(entry, Answer) and entry.message_id[:200] != (
            self._state.record.message_id
        )
        is_large = len(self.part.steps) >= PART_STEPS or self._chars >= PART_CHARS
        return is_large and (is_step or self._chars >= 4 * PART_CHARS)

    def _snapshot(self, offset: int) -> model.StreamState:
        self._state.record.offset = offset
        return _copy(self._state)

    def _close(self, end: int, after: model.StreamState | None = None) -> model.TurnPart:
        part = self.part
        part.queued = self._queued_words()
        part.end, part.after = end, after or self._snapshot(end)
        _forget_old(part.after.record)
        _forget_old(self._state.record)
        self._chars = 0
        self.part = self._next_part(part.after)
        return part

    def _queued_words(self) -> list[str]:
        """Return the words that left the client's queue since, and that nothing delivered."""
        record, state = self._state.record, self._state
        waiting = [turn for turn in record.turns if turn.waits]
        left = [turn for turn in waiting if turn.asked.strip() not in record.queue]
        new = [turn for turn in left if turn.place.offset not in state.queued]
        state.queued = [turn.place.offset for turn in left]
        return [turn.asked for turn in new]

    def _next_part(self, before: model.StreamState) -> model.TurnPart:
        state = self._state
        turn = next((turn for turn in reversed(state.record.turns) if not turn.waits), None)
        state.part = before.part + 1
        return model.TurnPart(
            *(state.turns, state.part, before.record.offset, before.record.offset, before, before),
            asked=turn.asked if turn else "",
            reply_to=turn.reply_to if turn else "",
        )

    def _begin(self, begun: Sequence[model.Turn], entry: Entry) -> None:
        """Begin a turn. What one line delivers together is one turn."""
        state, part = self._state, self.part
        state.turns += len(begun)
        state.part = part.number = 1
        part.turn, part.is_first = state.turns, True
        part.asked = "\n".join(turn.asked for turn in begun)
        if len(begun) == 1 and begun[0].chars > len(part.asked):
            part.asked = clip(words_of(entry).typed, TEXT_CHARS) or part.asked
        part.reply_to, part.prompt_id = begun[0].reply_to, (entry.line.prompt_id or "")[:200]
        if isinstance(entry, Prompt):
            part.calls += state.calls.values()  # they will not get a result
            state.calls.clear()

    def _gather(self, entry: Entry) -> None:
        part = self.part
        part.at, part.ended_at = part.at or entry.timestamp[:40], entry.timestamp[:40]
        uuid = entry.line.uuid[:80]
        part.first_uuid, part.last_uuid = part.first_uuid or uuid, uuid
        part.session_id = entry.line.session_id[:80] or part.session_id
        part.agent_id = (entry.line.agent_id or part.agent_id)[:80]
        if isinstance(entry, Answer):
            self._answer(entry)
        elif isinstance(entry, Result):
            for block in entry.results:
                self._result(entry, block)
        elif isinstance(entry, Prompt | Attachment):
            self._words(entry)
        elif isinstance(entry, Summary):
            self._compaction(entry, summary=clip(entry.text, SUMMARY_CHARS))
        elif isinstance(entry, Boundary) and entry.resets_window:
            self._compaction(entry)

    def _answer(self, entry: Answer) -> None:
        record, steps = self._state.record, self.part.steps
        if not steps or steps[-1].number != record.op:
            steps.append(model.TurnStep(record.op, entry.offset, entry.timestamp[:40]))
        step = steps[-1]
        step.ended_at = entry.timestamp[:40]
        for block in entry.blocks:
            if isinstance(block, Text) and (text := without_briefs(block.text).strip()):
                step.chars += len(text)
                self._add(
                    self.part.texts, model.TurnText(clip(text, TEXT_CHARS), record.op, entry.offset)
                )
            elif isinstance(block, ToolUse):
                step.chars += len(memoryview(block.raw_input))
                self._call(entry, block)
        usage, step.stop_reason = entry.usage, (entry.stop_reason or "")[:40]
        if usage.total_tokens:
            step.used_tokens = usage.total_tokens
            if entry.stop_reason is None:
                estimate = usage.input_side_tokens + int(step.chars / CHARS_PER_TOKEN)
                step.used_tokens = max(step.used_tokens, estimate)
            self._state.used_tokens = step.used_tokens

    def _add(self, items: list[Any], item: Any) -> None:
        items.append(item)
        self._chars += len(msgspec.json.encode(item))

    def _call(self, entry: Answer, block: ToolUse) -> None:
        record, use_id = self._state.record, agents.one_line(block.id)
        made = record.calls.get(use_id)
        what, tool = made.what if made else "", agents.one_line(block.name)
        call = model.TurnCall(
            *(use_id, tool, clip(what, WHAT_CHARS), _bounded(block.input, 4)),
            *(record.op, entry.offset, entry.timestamp[:40]),
        )
        if calls.edits(tool) and what in record.files:
            call.edited = [what]
        elif tool == "Bash" and made:
            call.edited = made.before
        elif tool in ("Read", "NotebookRead"):
            call.read = [what]
        self._state.calls[use_id] = call
        while len(self._state.calls) > MOST_OPEN:
            self._add(self.part.calls, self._state.calls.pop(next(iter(self._state.calls))))

    def _result(self, entry: Result, block: ToolResult) -> None:
        call = self._state.calls.pop(agents.one_line(block.tool_use_id), None)
        if call is None:
            return
        text = without_reminders(without_briefs(block.text))
        call.end, call.ended_at, call.is_error = entry.offset, entry.timestamp[:40], block.is_error
        call.output_chars = len(text)
        call.output = ends_of(text, max(SAMPLE_CHARS, self._output_chars))
        if call.is_error:
            call.edited = []
        if call.tool in AGENTS:
            call.report = self._report_of(call, entry, text)
        elif call.tool in ASKS:
            call.questions = self._questions(call.offset, entry.offset)
        elif call.tool in TASKS and not call.is_error:
            call.tasks = self._tasks(call)
        self._add(self.part.calls, call)
        self._chars -= max(0, len(call.output) - self._output_chars)

    def _report_of(self, call: model.TurnCall, entry: Result, text: str) -> model.AgentReport:
        copy = decoded(entry.tool_use_result) if call.tool in STARTS else None
        copy = copy if isinstance(copy, dict) else {}
        is_launched = text.startswith(agents.LAUNCHED) or copy.get("isAsync") is True
        printed = text.partition("agentId: ")[2][:80].split(" ")[0].split("\n")[0]
        took = copy.get("totalDurationMs")
        return model.AgentReport(
            agents.one_line(_text(copy.get("agentId")) or printed),
            _text(call.input.get("description")) or call.what,
            "" if call.is_error else clip(agents.result(text), TEXT_CHARS),
            "failed" if call.is_error else "running" if is_launched else "completed",
            *(entry.offset, entry.timestamp[:40]),
            agents.one_line(_text(call.input.get("subagent_type")) or _text(copy.get("agentType"))),
            took if type(took) is int and 0 <= took < storage.MOST else None,
        )

    def _questions(self, asked_at: int, answered_at: int) -> list[tuple[str, str]]:
        recent = (question for turn in self._state.record.turns[-4:] for question in turn.questions)
        here = (question for question in recent if question.place.offset in (asked_at, answered_at))
        return [(question.text, question.answer) for question in here]

    def _tasks(self, call: model.TurnCall) -> list[model.TaskState]:
        tasks = self._state.record.tasks
        if call.tool == "TodoWrite":
            changed = [key for key, task in tasks.items() if task.source == "todo"]
        else:
            changed = [call.what] if call.tool == "TaskUpdate" else list(tasks)[-1:]
        pairs = ((key, tasks[key]) for key in changed if key in tasks)
        return [model.TaskState(key, task.text, task.status) for key, task in pairs]

    def _words(self, entry: Prompt | Attachment) -> None:
        text = "\n".join(texts_in(entry))
        if not text:
            return
        if is_notification(text):
            agent_id = agents.id_in(text)
            agent = self._state.record.agents.get(agent_id)
            report = model.AgentReport(
                agent_id,
                agent.asked if agent else "",
                clip(without_briefs(agents.result(text)), TEXT_CHARS),
                agents.one_line(text.partition("<status>")[2].partition("<")[0].strip()),
                *(entry.offset, entry.timestamp[:40]),
            )
            self._add(self.part.reports, report)
        else:
            self.part.unsure += [clip(text, TEXT_CHARS) for text in words_of(entry).unsure]

    def _compaction(self, entry: Boundary | Summary, summary: str = "") -> None:
        """Take a boundary, or the summary after it; client 1.0.53 wrote only the summary."""
        state, passed = self._state, self.part.compactions
        if summary and state.is_bounded and passed:
            passed[-1].summary = summary
        else:
            state.compactions += not (summary and state.is_bounded)
            compaction = model.PassedCompaction(
                *(state.compactions, entry.offset, entry.timestamp[:40], state.record.op),
                before_tokens=state.used_tokens,
                summary=summary,
            )
            if isinstance(entry, Boundary):
                compaction.trigger = entry.trigger[:200]
                compaction.after_tokens = entry.post_tokens or 0
                compaction.before_tokens = entry.pre_tokens or state.used_tokens
            passed.append(compaction)
        state.is_bounded = isinstance(entry, Boundary)

    def clean(self, parts: list[model.TurnPart]) -> list[model.TurnPart]:
        plain = msgspec.to_builtins(parts)
        if without := secrets.redact_texts(plain):
            self.known.hear(pair for part in parts for pair in _spoken(part) if pair[1] in without)
            parts = msgspec.convert(secrets.with_texts(plain, without), list[model.TurnPart])
        if self.known.bare:
            data = self.known.without(msgspec.json.encode(parts))
            parts = msgspec.json.decode(data, type=list[model.TurnPart])
        for part in parts:
            part.before.record.told = part.after.record.told = self.known.lines
            for call in part.calls:
                call.output = _shorten(call.output, self._output_chars)
        return parts


def _may_begin_turn(entry: Entry) -> bool:
    if isinstance(entry, Result):
        return bool(entry.text) or calls.looks_rejected(entry.data)
    if isinstance(entry, Attachment):
        return entry.kind == "queued_command"
    return isinstance(entry, Prompt) and not entry.is_meta


def _copy(state: model.StreamState) -> model.StreamState:
    copy = msgspec.structs.replace(state, record=model.copy(state.record))
    copy.queued = list(state.queued)
    copy.calls = {key: msgspec.structs.replace(call) for key, call in state.calls.items()}
    return copy


def _forget_old(record: model.Record) -> None:
    waiting = [turn for turn in record.turns[:-KEPT_TURNS] if turn.waits][-MOST_LOOKED_AT:]
    record.turns = [*waiting, *record.turns[-KEPT_TURNS:]]
    for table in (record.files, record.commands, record.tools, record.git):
        table.clear()
    record.decisions, record.remarks, record.recent, record.last_texts = [], [], [], []
    record.unsure = [text for text in record.unsure if text.waits]
    record.summary, record.plan, record.git_log = "", None, None
    record.clients = record.clients[-KEPT_TURNS:]
    for agent in record.agents.values():
        agent.answer = agent.report = ""


def _bounded(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return clip(value, secrets.READ_CHARS)
    if isinstance(value, dict):
        some = list(value.items())[:MOST_NESTED] if depth else []
        return {key[:80]: _bounded(inner, depth - 1) for key, inner in some}
    if isinstance(value, list):
        return [_bounded(inner, depth - 1) for inner in (value[:MOST_NESTED] if depth else [])]
    is_large = isinstance(value, int) and abs(value) >= storage.MOST
    return str(value)[:40] if is_large else value


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _spoken(part: model.TurnPart) -> Iterator[tuple[int, str]]:
    """Yield each text that may name a secret, with the byte of its line."""
    yield from ((part.start, text) for text in (part.asked, *part.unsure, *part.queued))
    yield from ((text.offset, text.text) for text in part.texts)
    yield from ((report.offset, report.text) for report in part.reports)
    for call in part.calls:
        yield from ((call.offset, text) for text in secrets.texts_in(call.input))
        yield call.end, call.output
        yield from ((call.end, f"{question}\n{answer}") for question, answer in call.questions)


def _shorten(text: str, chars: int) -> str:
    if len(text) <= chars:
        return text
    head, rest = chars // 4, chars - chars // 4 - len(CUT)
    return f"{text[:head]}{CUT}{text[-rest:]}"
