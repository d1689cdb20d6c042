"""`plan`: arrange a list of tasks in batches that fit the room left."""

import time
from dataclasses import replace
from pathlib import Path
from textwrap import shorten
from typing import Any

from holdfast.client.claude_folder import transcripts_folder
from holdfast.mcp import client_session
from holdfast.mcp.answers import ToolAnswer
from holdfast.mcp.client_session import UnknownSession
from holdfast.mcp.tool_table import PlanArguments
from holdfast.plan import estimate, room
from holdfast.plan.estimate import TaskEstimate
from holdfast.plan.load import read_plan
from holdfast.plan.planner import make_workflow
from holdfast.plan.project_files import OUTSIDE, ProjectFiles
from holdfast.plan.room import PlanRoom
from holdfast.plan.task import NO_PLAN, BadPlan
from holdfast.plan.workflow import TaskBatch, TaskPiece, Workflow
from holdfast.run import journal
from holdfast.run.journal import ContinuedPlan
from holdfast.settings import load as settings_load
from holdfast.text.numbers import counted, rounded
from holdfast.wire.log import inert

MAX_NEW_BYTES = 32 << 20  # of transcripts read for one answer; the next answer reads on
MAX_TASKS, MAX_FILES, MAX_WARNINGS = 20, 60, 10
MAX_TITLE_CHARS, MAX_WARNING_CHARS = 300, 1000


def answer_plan(asked: PlanArguments) -> ToolAnswer:
    root = Path(client_session.project()).resolve()
    given = _plan_from(asked, root)
    known = estimate.learn(root, transcripts_folder(), MAX_NEW_BYTES)
    found = make_workflow(given.plan, _room(), known, root)
    if given.note:
        found = replace(found, warnings=(*found.warnings, given.note))
    words = f"{counted(len(found.batches), 'batch')}, {found.size}"
    return ToolAnswer(words, _summary(found), "batches", [_batch(batch) for batch in found.batches])


def _plan_from(asked: PlanArguments, root: Path) -> ContinuedPlan:
    """The plan to arrange. For a file, tasks that a run has done are left out."""
    if bool(asked.text) == bool(asked.path):
        raise BadPlan("give either the plan's text or its path", hint=NO_PLAN)
    if asked.text:
        try:
            return ContinuedPlan(read_plan(asked.text, root=root))
        except BadPlan as error:
            raise error.named("line") if error.line else error from None
    path = ProjectFiles(root).resolve(asked.path)
    if path is None:
        raise BadPlan(f"{asked.path}: {OUTSIDE}", hint=NO_PLAN)
    return journal.load_remaining(Path(path), root)


def _room() -> PlanRoom:
    settings = settings_load.load(client_session.project())
    try:
        folder, state = client_session.window()
    except UnknownSession:
        return room.unknown_room(settings)
    return room.room_of_window(state, folder, settings, int(time.time() * 1000))


def _summary(workflow: Workflow) -> dict[str, Any]:
    warnings = [_short(words, MAX_WARNING_CHARS) for words in workflow.warnings[:MAX_WARNINGS]]
    parts = ("now_tokens", "fresh_tokens", "basis")
    return {
        "room": {name: getattr(workflow.room, name) for name in parts},
        "tokens": workflow.tokens,
        "tasks_of_unknown_size": workflow.unknown or None,
        "done": len(workflow.done) or None,
        "warnings": warnings or None,
    }


def _batch(one: TaskBatch) -> dict[str, Any]:
    return {
        "window": "fresh" if one.fresh else "this",
        "room_tokens": one.room_tokens,
        **_range(one),
        "side_by_side": one.parallel or None,
        "tasks": [_task(piece) for piece in one.pieces[:MAX_TASKS]],
        "more_tasks": max(0, len(one.pieces) - MAX_TASKS) or None,
    }


def _task(piece: TaskPiece) -> dict[str, Any]:
    """One task. Files are named only for a part that we cut; the plan names the others."""
    size, files = piece.estimate, piece.task.paths if piece.cut else ()
    return {
        "title": replace(piece.task, title=_short(piece.task.title, MAX_TITLE_CHARS)).shown,
        **_range(size),
        "inputs": size.inputs,
        "size_unknown": size.is_unknown or None,
        "files": [inert(file) for file in files[:MAX_FILES]] or None,
        "more_files": max(0, len(files) - MAX_FILES) or None,
    }


def _short(words: str, most: int) -> str:
    return shorten(inert(words), most, placeholder=" …")


def _range(of: TaskBatch | TaskEstimate) -> dict[str, Any]:
    ends = [rounded(of.low_tokens), rounded(of.high_tokens)]
    return {"tokens": of.tokens, "range": ends if of.low_tokens != of.high_tokens else None}
