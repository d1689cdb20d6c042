"""How far a run is, by its journal: nothing is started, waited for or written."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import click

from holdfast.cli.terminal import say
from holdfast.plan.task import PlanTask, TaskPlan
from holdfast.run import journal_state, single_instance
from holdfast.run.journal_state import RunHistory, SessionRecord
from holdfast.run.remaining_plan import remove_done
from holdfast.text.numbers import counted, named, short
from holdfast.wire.log import inert

VERSION = 1
DONE, AT_WORK, BROKEN_OFF, FAILED, LEFT = "done", "at work", "broken off", "failed", "left"
MOST_SHOWN = 200  # tasks; the rest is a number


def show(plan: TaskPlan, known: RunHistory, file: Path, folder: str, as_plain: bool) -> None:
    found = _found(plan, known, single_instance.is_running(folder)) | {
        "plan": str(file),
        "folder": folder,
    }
    if as_plain:
        click.echo(json.dumps({"version": VERSION, **found}, indent=2))
        return
    states = [task["state"] for task in found["tasks"]]
    head = f"{states.count(DONE):,} of {counted(len(states), 'task')} done"
    say(f"{named(plan.title) or file}: {head}, {_now(found)}")
    for task in found["tasks"][:MOST_SHOWN]:
        say(f"  {task['state']:<10}  {_line(task, found['sessions'])}")
    if len(states) > MOST_SHOWN:
        say(f"  and {len(states) - MOST_SHOWN:,} more: --json has all")


def _found(plan: TaskPlan, known: RunHistory, at_work: bool) -> dict[str, Any]:
    now, tries_of = remove_done(plan, known.coverage()), _by_task(known)
    tasks = []
    for task in now.tasks:
        tries = tries_of[task.id]
        state = DONE if task.done else _state(tries, at_work)
        ids = [one.session_id for one in tries]
        tasks.append(
            {"id": task.id, "title": task.title, "state": state, **_steps(task), "sessions": ids}
        )
    sessions = [_session(one, at_work) for one in known.sessions]
    return {"at_work": at_work, "tasks": tasks, "sessions": sessions}


def _by_task(known: RunHistory) -> defaultdict[str, list[SessionRecord]]:
    """The sessions that had some of each task, in order."""
    found: defaultdict[str, list[SessionRecord]] = defaultdict(list)
    for one in known.sessions:
        for name in one.specs:
            found[name].append(one)
    return found


def _steps(task: PlanTask) -> dict[str, int]:
    """Of a task that is done, all are."""
    done = sum(task.done or step.done for step in task.subtasks)
    return {"steps": len(task.subtasks), "steps_done": done}


def _state(tries: list[SessionRecord], at_work: bool) -> str:
    """Of a task that is not done, by the last session that had some of it."""
    last = tries[-1].result if tries else journal_state.DONE
    if not last:
        return AT_WORK if at_work else BROKEN_OFF
    return {journal_state.FAILED: FAILED, journal_state.STOPPED: BROKEN_OFF}.get(last, LEFT)


def _session(one: SessionRecord, at_work: bool) -> dict[str, Any]:
    return {
        "session_id": one.session_id,
        "tasks": [share.id for share in one.shares],
        "result": one.result or (AT_WORK if at_work else journal_state.STOPPED),
        "error": one.error,
        "used_tokens": one.used_tokens or None,
        "grown_tokens": one.grown_tokens or None,
    }


def _now(found: dict[str, Any]) -> str:
    if found["at_work"]:
        return "running now"
    if all(task["state"] == DONE for task in found["tasks"]):
        return "nothing left"
    return "not running; run `holdfast run` again to resume" if found["sessions"] else "not started"


def _line(task: dict[str, Any], sessions: list[dict[str, Any]]) -> str:
    """Its title, and what its last session came to."""
    mine = [one for one in sessions if one["session_id"] in task["sessions"][-1:]]
    parts = [short(named(task["title"]), 100)]
    if task["steps_done"] and task["state"] != DONE:
        parts[0] += f", {task['steps_done']:,} of {counted(task['steps'], 'step')} done"
    for one in mine:
        is_slip = one["error"] and task["state"] != DONE  # else it is about another of its tasks
        slip = f": {inert(one['error'], 200)}" if is_slip else ""
        parts.append(f"(session {one['session_id'][:8]}{_size(one)}){slip}")
    return " ".join(parts)


def _size(session: dict[str, Any]) -> str:
    """What its work took, as the run itself said it."""
    many = len(session["tasks"])
    of = f" for {many:,} tasks" if many > 1 else ""
    return f", {session['grown_tokens']:,} tokens{of}" if session["grown_tokens"] else ""
