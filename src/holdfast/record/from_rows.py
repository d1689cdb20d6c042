"""A record from rows of the store: the same turns, commands and files as from a transcript, for
sessions whose transcript is on another machine, or that have none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.record import calls, commands, files, git, turns
from holdfast.record.model import Call, Place, Record

COMMANDS = ("Bash", "shell", "command")  # tools, or kinds of tools, whose input is a command
MOST_RECENT = 8

Row = Mapping[str, Any]


def read_rows(
    session_id: str,
    project: str,
    requests: Iterable[Row],
    actions: Iterable[Row],
    saved: list[str],
    agent_id: str = "",
    *,
    has_own_files: bool = False,
) -> Record:
    """Return the record of requests and actions, which are put in the order of `created_at`.
    `saved` are files that a snapshot names as changed. The last calls are those of this agent, if
    it has any, and so are the files of one that `has_own_files`."""
    record = Record(session_id=session_id, words_missing=True)
    if project:
        files.enter(record, project)
    rows = [*((row, True) for row in requests), *((row, False) for row in actions)]
    agent_id = agent_id if any(row.get("agent_id") == agent_id for row, _ in rows) else ""
    for path in () if agent_id and has_own_files else saved:
        files.use(record, path, "edits")
    rows.sort(key=lambda pair: _text(pair[0], "created_at"))
    own = list[Call]()
    for number, (row, is_request) in enumerate(rows):
        place = Place(number + 1, _text(row, "created_at"), record.op)
        record.at = place.at
        if not is_request:
            is_own = agent_id in ("", _text(row, "agent_id"))
            made = _take_action(record, row, place, uses_files=is_own or not has_own_files)
            own += [made] if is_own else []
        elif turns.begin(record, _text(row, "prompt"), place):
            status = _text(row, "status")
            record.turns[-1].status = "" if status == "active" else status
    record.recent = own[-MOST_RECENT:]
    return record


def _take_action(record: Record, row: Row, place: Place, *, uses_files: bool) -> Call:
    record.op += 1
    place = Place(place.offset, place.at, record.op)
    tool, failed = _text(row, "tool_name") or "?", bool(row.get("exit_code"))
    paths = [path for path in _list(row.get("file_paths")) if isinstance(path, str)]
    line = command_of(row)
    record.tools[tool] = record.tools.get(tool, 0) + 1
    is_edit = calls.edits(tool)
    for path in [] if failed or line else paths:  # a failed call has changed and shown nothing
        kind = "edits" if is_edit else "reads"
        name = files.use(record, path, kind) if uses_files else files.relative(record, path)
        if name and is_edit:
            commands.note_edit(record, [name])
    named = ", ".join(files.relative(record, path) for path in paths)
    what = line or named or _text(row, "input") or _text(row, "detail")
    if line or (failed and not is_edit):
        _take_run(record, row, line or f"{tool} {what}".strip(), place, failed=failed)
    call = Call(tool, what[: files.LONGEST_PATH], place, failed=failed)
    record.recent = [*record.recent[1 - MOST_RECENT :], call]
    return call


def _take_run(record: Record, row: Row, line: str, place: Place, *, failed: bool) -> None:
    printed = _text(row, "output") or (f"exit code {row['exit_code']}" if failed else "")
    key = commands.begin(record, line, place)
    git.note_answer(record, key, printed, place, failed=failed)
    commands.end(record, key, printed, place, failed=failed)


def command_of(row: Row) -> str:
    """Return the command that an action ran: its input, or the `command` of an input in JSON."""
    text = _text(row, "input")
    if row.get("tool_name") not in COMMANDS and row.get("tool_type") not in COMMANDS:
        return ""
    if text.startswith("{"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text
        return _text(value, "command") if isinstance(value, dict) else text
    return text


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
