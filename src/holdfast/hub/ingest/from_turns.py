"""Make records from the turns of a transcript: what was asked is a request, a subagent a subtask,
a tool call with its result an action.
"""

import json
from collections.abc import Iterator
from typing import Any

from holdfast.hub import ids, row_times
from holdfast.hub.clean_text import replace_unstorable
from holdfast.hub.ingest.records import (
    INPUT_CHARS,
    MOST_BYTES,
    MOST_CHARS,
    MOST_RECORDS,
    NAME_CHARS,
    PROMPT_CHARS,
    TEXT_CHARS,
    RecordedAction,
    RecordedCompaction,
    RecordedEvent,
    RecordedReadings,
    RecordedRequest,
    RecordedRequestStatus,
    RecordedSubtask,
    RecordedTask,
    ToolType,
)
from holdfast.hub.ingest.windows import ReadPosition, Span, WindowReader
from holdfast.record.model import (
    AgentReport,
    PassedCompaction,
    TaskState,
    TurnCall,
    TurnPart,
    TurnStep,
)
from holdfast.record.stream import load_state, read_turns, save_state
from holdfast.record.turns import answered
from holdfast.transcript import Unreadable

RECORD_CHARS = 400  # ids, names and times of one
LAST_SAID_CHARS = 400
VALUE_CHARS = 400
ITEM_CHARS = TEXT_CHARS // 4
GOING_ON = frozenset(("tool_use", "pause_turn"))
AGENTS = frozenset(("Agent", "Task"))
EXIT = "Exit code "
_FILE_KEYS = ("file_path", "notebook_path", "path")
_MAIN_ARGUMENT = {"Bash": "command", "SlashCommand": "command"}
_MAIN_ARGUMENT |= {"Skill": "skill", "WebSearch": "query"}
_TASK_STATUS = {"pending": "pending", "in_progress": "running"}
_TASK_STATUS |= {name: name for name in ("completed", "deleted")}
_ENDED = {"completed": "completed", "failed": "failed", "killed": "failed", "stopped": "failed"}
_Item = TurnStep | TurnCall | AgentReport | PassedCompaction


def type_of(tool: str) -> ToolType:
    if tool.startswith("mcp__"):
        return "mcp"
    if tool in AGENTS:
        return "agent"
    return {"Skill": "skill", "SlashCommand": "command"}.get(tool, "builtin")  # type: ignore[return-value]


class TurnRecords:
    """The records of a transcript's new turns; `reached` moves forward."""

    def __init__(self, window: WindowReader, reached: ReadPosition, span: Span) -> None:
        self.window, self.reached, self.span = window, reached, span
        self.records: list[RecordedEvent] = []
        self.progress = ""  # the last words of the model
        self.skills: list[str] = []

    def read(self) -> None:
        """Read up to a limit."""
        path, reached = self.window.transcript, self.reached
        state = load_state(path, reached.turns)
        after, chars, weighed = state, 0, 0
        try:
            for part in read_turns(path, state, sidechain=bool(self.window.agent_id)):
                if after is None:
                    reached.begin()  # a new transcript, or another one under the same name
                self._take(part)
                after = part.after
                chars += sum(_weight(record) for record in self.records[weighed:])
                weighed = len(self.records)
                read_bytes = part.end - (state.record.offset if state else 0)
                if weighed >= MOST_RECORDS or chars >= MOST_CHARS or read_bytes >= MOST_BYTES:
                    break
        except Unreadable:
            return
        if after is not None and after is not state:
            reached.turns = save_state(path, after)

    def _take(self, part: TurnPart) -> None:
        for at in (part.at, part.ended_at):
            self.span.add(self._ms(at))
        if part.is_first:
            self._begin(part)
        items = list[_Item]([*part.steps, *part.reports, *part.compactions])
        items += (call for call in part.calls if call.end)
        for item in sorted(items, key=_place):
            if isinstance(item, TurnStep):
                self._step(item)
            elif isinstance(item, TurnCall):
                self.records += self._call(item)
            elif isinstance(item, AgentReport):
                self._agent_ended(item)
            else:
                self._compacted(item)
        self._readings(part)
        if part.answer:
            self.progress = _line(part.answer, LAST_SAID_CHARS)

    def _ms(self, at: str) -> int:
        at_ms = row_times.from_iso(at) or 0
        return at_ms if 0 < at_ms < 1 << 53 else self.reached.last_ms

    def _begin(self, part: TurnPart) -> None:
        reached, session_id, at_ms = self.reached, self.window.session_id, self._ms(part.at)
        if self.window.agent_id:
            if part.turn == 1:  # until its caller's description is known
                first_line = part.asked.strip().partition("\n")[0]
                about = _text(first_line, TEXT_CHARS // 4)
                self.records.append(
                    self._subtask(self.window.agent_id, at_ms, description=about, described=1)
                )
            return
        if reached.request:
            self._set_status("completed", at_ms)
        key = part.prompt_id
        if not key or key == reached.prompt_id:
            key = part.first_uuid or f"byte {part.start}"
        else:
            reached.prompt_id = key
        reached.request = ids.request_id(session_id, key)
        reached.standing, reached.waves, reached.task = "active", 0, ""
        prompt = _text(part.asked, PROMPT_CHARS)
        self.records.append(
            RecordedRequest(
                *(reached.request, session_id, self.window.project_id, prompt, at_ms),
                answers=_text(answered(part.asked, part.reply_to), TEXT_CHARS),
            )
        )

    def _step(self, step: TurnStep) -> None:
        if step.stop_reason and self.reached.request:
            is_over = step.stop_reason not in GOING_ON
            self._set_status("completed" if is_over else "active", self._ms(step.ended_at))

    def _set_status(self, status: Any, at_ms: int) -> None:
        if status != self.reached.standing:
            self.reached.standing = status
            self.records.append(RecordedRequestStatus(self.reached.request, status, at_ms))

    def _readings(self, part: TurnPart) -> None:
        steps = [step for step in part.steps if 0 < step.used_tokens < 1 << 53]
        if steps:
            self.records.append(
                RecordedReadings(
                    **self.window.names,
                    step=[step.number for step in steps],
                    at_ms=[self._ms(step.at) for step in steps],
                    used_tokens=[step.used_tokens for step in steps],
                    limit_tokens=max(0, self.window.state.edge_tokens),
                )
            )

    def _compacted(self, passed: PassedCompaction) -> None:
        self.records.append(
            RecordedCompaction(
                **self.window.names,
                at_ms=self._ms(passed.at),
                count=passed.number,
                summary=_text(passed.summary, PROMPT_CHARS // 2),
                step=passed.step,
                trigger=_text(passed.trigger, NAME_CHARS),
                before_tokens=max(0, passed.before_tokens),
                after_tokens=max(0, passed.after_tokens),
            )
        )

    def _call(self, call: TurnCall) -> Iterator[RecordedEvent]:
        """Yield a call, and before it what it changed in the tree."""
        window, report = self.window, call.report
        if call.tool in AGENTS and report and (report.agent_id or not call.is_error):
            yield self._agent_called(call, report)
        for number, task in enumerate(call.tasks if self.reached.request else (), 1):
            yield self._task(call, task, number)
        skill = call.input.get("skill") or call.input.get("command")
        if call.tool == "Skill" and isinstance(skill, str) and not call.is_error:
            self.skills.append(_text(skill, NAME_CHARS))
        paths = (call.input.get(key) for key in _FILE_KEYS)
        yield RecordedAction(
            id=ids.action_id(window.session_id, call.id),
            **window.names,
            reported_by="transcript",
            tool_name=_text(call.tool, NAME_CHARS) or "unknown",
            tool_type=type_of(call.tool),
            input=_input_of(call),
            file_paths=[
                _text(path, TEXT_CHARS) for path in paths if path and isinstance(path, str)
            ],
            exit_code=_exit_code(call.output) if call.is_error else 0,
            duration_ms=report.took_ms if report else None,
            at_ms=self._ms(call.at),
        )

    def _task(self, call: TurnCall, task: TaskState, number: int) -> RecordedTask:
        """An item of a task list is identified by its number, or by its words."""
        reached = self.reached
        source, _, key = task.key.partition(" ")
        name, status = _line(task.text, ITEM_CHARS), _TASK_STATUS.get(task.status, "")
        if call.tool == "TaskCreate":
            reached.waves += 1
            number = reached.waves
        key = f"todo {name}" if source == "todo" else f"number {key}"
        task_id = ids.task_id(self.window.session_id, key)
        if status == "running":
            reached.task = task_id  # subagents belong to the task that is under way
        elif status and reached.task == task_id:
            reached.task = ""
        return RecordedTask(
            id=task_id,
            at_ms=self._ms(call.ended_at),
            status=status,  # type: ignore[arg-type]
            request_id="" if call.tool == "TaskUpdate" else reached.request,
            name=name,
            wave_number=number,
        )

    def _agent_called(self, call: TurnCall, report: AgentReport) -> RecordedSubtask:
        """A subtask that was launched, or has finished."""
        request, at_ms = self.reached.request, self._ms(call.at)
        task = self.reached.task or (ids.default_task_id(request) if request else "")
        asked = call.input.get("description") or call.input.get("prompt")
        about = asked.strip().partition("\n")[0] if isinstance(asked, str) else ""
        return self._subtask(
            report.agent_id,
            at_ms,
            *(() if report.agent_id else (call.id,)),
            **({} if self.window.agent_id else {"request_id": request, "task_id": task}),
            agent_type=_text(report.kind, NAME_CHARS),
            parent_agent_id=self.window.agent_id,
            description=_text(about, TEXT_CHARS // 2),
            described=2 if about else 0,
            started_ms=at_ms,
            ended_ms=0 if report.status == "running" else self._ms(call.ended_at),
            outcome="failed" if call.is_error else "completed",
        )

    def _agent_ended(self, report: AgentReport) -> None:
        """A background agent ended, as a notification says."""
        at_ms, outcome = self._ms(report.at), _ENDED.get(report.status)
        if outcome and report.agent_id:
            ended = self._subtask(report.agent_id, at_ms, ended_ms=at_ms, outcome=outcome)
            self.records.append(ended)

    def _subtask(
        self, agent_id: str, at_ms: int, call_id: str = "", **more: Any
    ) -> RecordedSubtask:
        session_id, agent_id = self.window.session_id, _text(agent_id, NAME_CHARS)
        by_call = ids.subtask_of_call(session_id, call_id)
        return RecordedSubtask(
            id=by_call if call_id else ids.subtask_id(session_id, agent_id),
            session_id=session_id,
            project_id=self.window.project_id,
            at_ms=at_ms,
            agent_id=agent_id,
            **{"agent_type": self.window.agent_type, **more}
            if agent_id == self.window.agent_id
            else more,
        )


def _place(item: _Item) -> int:
    return item.end if isinstance(item, TurnCall) else item.offset


def _weight(record: RecordedEvent) -> int:
    texts = (getattr(record, name, "") for name in ("prompt", "input", "summary"))
    return RECORD_CHARS + sum(map(len, texts))


def _text(text: str, most: int) -> str:
    """Turns hold no secrets any more; half a character or NUL no database stores."""
    return replace_unstorable(text[:most])


def _line(text: str, most: int) -> str:
    return _text(" ".join(text[: 4 * most].split()), most)


def _input_of(call: TurnCall) -> str:
    """Return the call's input in short: its main argument, or all of them."""
    main = call.input.get(_MAIN_ARGUMENT.get(call.tool, ""))
    if isinstance(main, str):
        return _text(main, INPUT_CHARS)
    short = {key: _short(value) for key, value in list(call.input.items())[:20]}
    return _text(json.dumps(short, ensure_ascii=False), INPUT_CHARS)


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value[:VALUE_CHARS]
    kind = type(value).__name__
    return f"({kind} of {len(value)})" if isinstance(value, list | dict) else value


def _exit_code(output: str) -> int:
    """Return the exit code if the client reports it, else 1."""
    code = output[:40].removeprefix("Error: ").partition(EXIT)[2].partition("\n")[0].strip()
    return int(code) if code.isdecimal() and len(code) < 6 and int(code) else 1
