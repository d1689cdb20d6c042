"""Subagents and background commands: one call starts them, later calls report them."""

import os
import re
from contextlib import suppress

from holdfast.record import files, git
from holdfast.record.model import Agent, Call, Place, Record
from holdfast.text.fence import flat
from holdfast.text.sentences import clip, head_and_tail
from holdfast.transcript import Unreadable

# It answers later: in a file of its own, or with a message.
LAUNCHED = ("Async agent launched", "Spawned successfully.")
LONGEST_ANSWER = 600
REPORT_CHARS, MOST_REPORTS = 3000, 8  # saved at length until others have ended
MOST_AGENTS, MOST_EARLY = 60, 8
READ_BYTES = 16 << 20  # of their files in one pass, the newest first
COMMAND, SCHEDULE, MONITOR = "background command", "schedule", "Monitor"
LONGEST_ASKED, SAME_CHARS = 400, 300
_HANDED_BACK, _REPORT_FOLLOWS = "[Subagent hand-back]", "The report follows:\n"
_STARTED, _WATCHES = " in background with ID: ", "Monitor started (task "
_ID_ENDS = re.compile("[., ]")
_GAVE_UP = "<event>[Monitor timed out"
_API_FAILED = "API Error"  # what the client returns in the agent's name
_OVER = {"completed": "done", "failed": "failed", "killed": "failed", "stopped": "failed"}


def report(text: str) -> str:
    """Return what a subagent returned, without the frame that the client puts around it."""
    if text.startswith(_HANDED_BACK):
        text = text.partition(_REPORT_FOLLOWS)[2] or text
    return text.partition("\nagentId: ")[0].strip()


def result(text: str) -> str:
    """Return a subagent's answer in a result or a notification; empty if it only started."""
    if text.startswith(LAUNCHED):
        return ""
    for name in ("result", "output"):
        answer = text.partition(f"<{name}>")[2]
        if answer:
            return report(answer.rpartition(f"</{name}>")[0] or answer)
    return "" if "<task-id>" in text[:400] or "<task_id>" in text[:400] else report(text)


def take_answer(record: Record, agent: Agent, text: str) -> None:
    """Record that an agent has ended; its answer at length until eight more have."""
    agent.ended_op, answer = record.op, text.strip()
    if not answer:
        return
    agent.answer = clip(answer, LONGEST_ANSWER).strip()
    if answer.startswith(_API_FAILED):
        agent.status = "failed"
    agent.report = head_and_tail(answer, REPORT_CHARS // 2, REPORT_CHARS // 2, " […] ")
    reported = [other for other in record.agents.values() if other.report]
    for other in sorted(reported, key=lambda other: other.ended_op)[:-MOST_REPORTS]:
        other.report = ""


def one_line(name: str, most: int = 80) -> str:
    """Return a name that a call or its result gave, on one line and without quotation marks of
    ours: otherwise a part of it could pass for a line or a quotation of ours."""
    return flat(name[:most], most)


def id_in(text: str) -> str:
    """Return the id of the agent that a notification is about. Both spellings occur."""
    named = text.partition("<task-id>")[2] or text.partition("<task_id>")[2]
    return one_line(named.partition("<")[0])


def rename(record: Record, use_id: str, printed: str) -> None:
    name = next(iter(printed[:80].split()), "").rstrip(".")
    if name and use_id in record.agents:
        agent = record.agents[name] = record.agents.pop(use_id)
        _end_if_ended(record, name, agent.place)


def take_notification(record: Record, text: str, place: Place) -> None:
    """Record the status in a notification, or in the result of a tool that asked for it."""
    agent = record.agents.get(id_in(text))
    outcome = text.partition("<status>")[2].partition("<")[0].strip()
    status = _OVER.get(outcome) or ("timed out" if _GAVE_UP in text else "")
    if agent is None and status:  # a command may end before the result of its call is written
        record.ended_early[id_in(text)] = text
        while len(record.ended_early) > MOST_EARLY:
            del record.ended_early[next(iter(record.ended_early))]
    if agent is None or not status:
        return
    if agent.kind == COMMAND and outcome in ("completed", "failed"):
        from holdfast.record import commands

        output = text.partition("<summary>")[2].partition("</summary>")[0]
        output += "\n" + text.partition("<output>")[2].rpartition("</output>")[0]
        commands.end(record, agent.asked, output.strip(), place, failed=outcome == "failed")
    agent.status = status
    answer = text.partition("<result>")[2] or text.partition("<output>")[2]
    take_answer(record, agent, answer.partition("</")[0])


def add_command(record: Record, call: Call, text: str, place: Place) -> None:
    """Add a background command or a monitor, under the id that the client gave it."""
    kind, sign = (MONITOR, _WATCHES) if call.tool == MONITOR else (COMMAND, _STARTED)
    name = _ID_ENDS.split(one_line(text.partition(sign)[2]))[0]
    for agent in record.agents.values():
        if (agent.kind, agent.asked, agent.status) == (COMMAND, call.what, "running"):
            agent.status = "started again"
    if name:
        add(record, name, Agent(kind.lower(), call.what, place))


def mark_stopped(record: Record, name: str) -> None:
    if agent := record.agents.get(one_line(name)):
        agent.status = "stopped"


def is_scheduled(record: Record, words: str) -> bool:
    sent = [agent.asked for agent in record.agents.values() if agent.kind == SCHEDULE]
    begun = one_line(words, LONGEST_ASKED)[:SAME_CHARS]
    return any(asked.partition(": ")[2][:SAME_CHARS] == begun for asked in sent)


def add(record: Record, name: str, agent: Agent) -> None:
    """Add an agent. If there are too many, the oldest that has ended is removed. A command is
    saved as it was typed, because it is found by that."""
    agent.kind = one_line(agent.kind)
    if agent.kind != COMMAND:
        agent.asked = one_line(agent.asked, LONGEST_ASKED)
    record.agents[one_line(name)] = agent
    while len(record.agents) > MOST_AGENTS:
        over = (key for key, agent in record.agents.items() if agent.status != "running")
        del record.agents[next(over, next(iter(record.agents)))]
    _end_if_ended(record, one_line(name), agent.place)


def _end_if_ended(record: Record, name: str, place: Place) -> None:
    if text := record.ended_early.pop(name, ""):
        take_notification(record, text, place)


def note_edits(record: Record, transcript: str) -> None:
    """Count files that subagents edited as changed, from what is new in their transcripts."""
    if not record.agents:
        return
    from holdfast.transcript.lookup import subagent_files  # most sessions have no subagents

    room, rows = READ_BYTES, list[tuple[int, int, str, str]]()
    for name, file in subagent_files(transcript):
        with suppress(OSError):
            stat = os.lstat(file)
            rows.append((stat.st_mtime_ns, stat.st_size, name, os.fspath(file)))
    for _, size, agent_id, path in sorted(rows, reverse=True)[:MOST_AGENTS]:
        start = record.looked.pop(agent_id, 0)
        start = start if start <= size else 0
        if start < size <= start + room:
            room -= size - start
            agent = record.agents.get(agent_id)
            start = _take_edits(record, path, start, agent.asked if agent else "")
        record.looked[agent_id] = start
    while len(record.looked) > MOST_AGENTS:
        del record.looked[next(iter(record.looked))]


def _take_edits(record: Record, path: str, start: int, asked: str) -> int:
    """Count the edits from this byte on; return where the next pass begins."""
    from holdfast.transcript.blocks import ToolUse
    from holdfast.transcript.entries import Answer, Result
    from holdfast.transcript.reader import Reader

    edited: dict[str, tuple[str, str]] = {}  # the path and the time, by the id of the call
    reader = Reader(path, start=start)
    with suppress(Unreadable):
        for entry in reader:
            if isinstance(entry, Answer):
                calls = (block for block in entry.blocks if isinstance(block, ToolUse))
                for call in calls:
                    if call.name in files.EDITS and (edits := files.path_argument(call.input)):
                        edited[call.id] = edits, entry.timestamp
            elif isinstance(entry, Result):
                for result in entry.results:
                    if result.is_error:
                        edited.pop(result.tool_use_id, None)
    for name, at in edited.values():
        files.note_edit(record, files.use(record, name, "by_agents"), asked)
        git.note_edit(record, at)
    return reader.offset
