"""The newest plan as it stood, and whether plan mode is on.

A plan is what the model showed to the user, wrote into the client's folder of plans, or was told to
carry out. It is quoted, with the turn it is from; nothing here tells how much of it is done.
"""

from holdfast.record.files import EDITS
from holdfast.record.model import Place, Record, ShownPlan
from holdfast.text.sentences import clip, clip_start

PROMPTED = "Implement the following plan:"  # the client's words, before an approved plan
PLAN_CHARS = 4000
LINE_END = "\n"
_CLIENTS = ".claude/plans/"  # the client's own folder
_NOTES = {"plan_mode": True, "plan_mode_reentry": True, "plan_mode_exit": False}
_TOOLS = {"EnterPlanMode": True, "ExitPlanMode": False}


def set_plan(record: Record, text: str, place: Place) -> None:
    """Save the newest plan, of a long one the first and last lines; a refusal removes it again."""
    if words := text.removeprefix(PROMPTED).strip():
        half = PLAN_CHARS // 2
        cut = f"{clip(words, half).rpartition(LINE_END)[0]}\n[…]\n{clip_start(words, half)}"
        record.plan = ShownPlan(cut if len(words) > PLAN_CHARS else words, place)


def set_plan_file(record: Record, name: str, text: str, place: Place) -> None:
    if _CLIENTS in name:
        set_plan(record, text, place)


def remove_plan(record: Record, place: Place) -> None:
    if record.plan and record.plan.place == place:
        record.plan = None


def apply_mode(record: Record, mode: str | None) -> None:
    """Record the mode in which a prompt was typed; not every client states it."""
    if mode:
        record.planning = mode == "plan"


def apply_note(record: Record, kind: str) -> None:
    """Record plan mode from the client's note to the model."""
    record.planning = _NOTES.get(kind, record.planning)


def apply_success(record: Record, tool: str, what: str) -> None:
    """Record that a call succeeded: a plan was approved, or a file was changed, which ends plan
    mode. Writing the plan itself does not."""
    if tool in EDITS:
        record.planning = record.planning and _CLIENTS in what
    else:
        record.planning = _TOOLS.get(tool, record.planning)
