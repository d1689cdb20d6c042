"""Sessions, each with a fault of its own kind in what the client or a hook left on disk."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import projects
from holdfast.wire import places
from tests.contracts.session_script import ScriptedSession

Fault = Callable[[ScriptedSession], object]
LONE = "\ud800"


def a_working_session(folder: Path, name: str, fault: Fault | None = None) -> ScriptedSession:
    """A session in a project of its own, with a task, a subagent and a call; then the fault, and
    one more call."""
    script = ScriptedSession(folder, name, f"/p/{name}")
    script.prompt()
    script.lists("read the gauges", 1)
    script.ticks(1, "in_progress")
    script.works("a1")
    script.call()
    if fault is not None:
        fault(script)
    if script.transcript.is_file():
        script.call()
    return script


def _raw(script: ScriptedSession, data: bytes) -> None:
    with script.transcript.open("ab") as file:
        file.write(data)


def _line(script: ScriptedSession, **fields: Any) -> None:
    script.write({"type": "assistant", "uuid": "odd", **fields})


def _deletes_the_task_of_an_agent(script: ScriptedSession) -> None:
    script.ticks(1, "deleted")


def _nests_deeply(script: ScriptedSession) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    _raw(script, b'{"type": "user", "message": {"content": %s}}\n' % deep.encode())


def _counts_too_far(script: ScriptedSession) -> None:
    usage = {"input_tokens": 1 << 80, "output_tokens": -(1 << 70)}
    _line(script, message={"id": "m", "content": [], "usage": usage})


def _is_a_folder(script: ScriptedSession) -> None:
    script.transcript.unlink()
    script.transcript.mkdir()


def _is_a_pipe(script: ScriptedSession) -> None:
    script.transcript.unlink()
    os.mkfifo(script.transcript)


def _lists_what_is_no_list(script: ScriptedSession) -> None:
    odd: list[Any] = [None, 7, {"content": LONE, "status": []}, {"content": "x" * 9_000}]
    script.call("TodoWrite", {"todos": odd})


def _names_an_odd_agent(script: ScriptedSession) -> None:
    script.agent_answers(f"../{LONE}\0" + "a" * 5_000)


def _has_an_odd_spool(script: ScriptedSession) -> None:
    with Path(places.window(script.session), "spool").open("ab") as file:
        file.write(b"\xff\x00\n" + b"9" * 400 + b" PostToolUse " + b"9" * 400 + b"\n")


FAULTS: dict[str, Fault] = {
    "deleted-task": _deletes_the_task_of_an_agent,
    "deep": _nests_deeply,
    "counts": _counts_too_far,
    "folder": _is_a_folder,
    "pipe": _is_a_pipe,
    "no-list": _lists_what_is_no_list,
    "agent": _names_an_odd_agent,
    "spool": _has_an_odd_spool,
    "bytes": lambda script: _raw(script, b'{"type": "user", "message": {"content": "\xff\xfe"}}\n'),
    "nul": lambda script: script.prompt("a\0b " + LONE),
    "torn": lambda script: _raw(script, json.dumps({"type": "user"}).encode()[:-4] + b"\n"),
    # Its project's path is taken by another row (`take_the_path`), so that no row of it fits.
    "taken-path": lambda script: None,
}


def take_the_path(store: Store, path: str) -> None:
    """Make every batch of a project break a foreign key."""
    row = {"id": "another", "path": path, "metadata": {}, "created_ms": 1, "updated_ms": 1}
    store.write(lambda c: c.execute(sa.insert(projects), row) and None)


def free_the_path(store: Store) -> None:
    store.write(lambda c: c.execute(sa.delete(projects).where(projects.c.id == "another")) and None)
