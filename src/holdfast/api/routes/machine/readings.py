"""`/api/sessions/{id}/readings`: how full a window was at each step, to be drawn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query, Response
from sqlalchemy.engine import Connection

from holdfast.api.fields import MOST_BIGINT, SessionPath, WordQuery
from holdfast.api.responses import Db, Router, answer, respond
from holdfast.hub.store.rows import Row
from holdfast.hub.tree import audit, readings, sessions
from holdfast.hub.tree.readings import UsedAtStep
from holdfast.settings import load as settings_load

router = Router(prefix="/api/sessions", tags=["sessions"])
Step = Annotated[int | None, Query(ge=0, le=MOST_BIGINT)]


ZoneShares = answer(
    "ZoneShares",
    "yellow:float orange:float red:float",
    doc="Shares of the compaction limit from which each zone holds.",
)


CompactionMark = answer(
    "CompactionMark", "number:int step:int? at_ms:int before_tokens:int? after_tokens:int?"
)


AlertMark = answer(
    "AlertMark", "step:int? at_ms:int level:str? zone:str? used_ratio:float? heard:bool"
)


CheckpointMark = answer("CheckpointMark", "id:str? step:int? at_ms:int trigger:str?")


ReadingList = answer(
    "ReadingList",
    "session_id:str agent_id:str? edge_tokens:int? first_step:int? last_step:int? total:int "
    "step:int[] at_ms:int[] used_tokens:int[] zones:ZoneShares compactions:CompactionMark[] "
    "alerts:AlertMark[] checkpoints:CheckpointMark[]",
    doc="Numbers of equal place in `step`, `at_ms`, `used_tokens` and `limit_tokens` are one "
    "reading. `total` were there between `from` and `to`; `first_step` and `last_step` are of "
    "all that is kept. A mark's `step` is that of the last reading before it.",
    limit_tokens=list[int | None],
)


@router.get("/{session_id:text}/readings", response_model=ReadingList)
async def get(
    session_id: SessionPath,
    db: Db,
    agent: WordQuery = None,
    first: Annotated[Step, Query(alias="from")] = None,
    last: Annotated[Step, Query(alias="to")] = None,
    points: Annotated[int, Query(ge=10, le=20_000)] = 2_000,
) -> Response:
    """The readings of a session's window, or of one of its agents', from one step to another. Where
    there are more than `points`, of each stretch the least and the greatest. With what happened
    meanwhile: compactions, alerts, checkpoints."""

    def look(connection: Connection) -> dict[str, Any]:
        sessions.get(connection, session_id)
        window = session_id, agent or ""
        steps = readings.list_readings(connection, *window, first, last)
        shown = readings.thin(steps, points)
        ends = readings.bounds(connection, *window) or (None, None)
        settings = settings_load.load()
        return {
            "session_id": session_id,
            "agent_id": agent,
            "edge_tokens": steps[-1].limit_tokens if steps else None,
            "zones": {name: settings.share(f"zone_{name}") for name in ZoneShares.model_fields},
            "first_step": ends[0],
            "last_step": ends[1],
            "total": len(steps),
            **{name: [getattr(step, name) for step in shown] for name in UsedAtStep._fields},
            "compactions": _compactions(readings.compactions_of(connection, *window), steps),
            "alerts": _on_curve(audit.alert_marks(connection, *window), steps),
            "checkpoints": _on_curve(audit.checkpoint_marks(connection, *window), steps),
        }

    return respond(await db.read(look))


def _compactions(rows: Sequence[Row], steps: Sequence[UsedAtStep]) -> list[dict[str, Any]]:
    """How full the window was afterwards, where the client does not say it: at the next step."""
    marks = []
    for row in rows:
        mark = {name: row[name] for name in CompactionMark.model_fields}
        if mark["step"] is not None and mark["after_tokens"] is None:
            later = bisect_right(steps, mark["step"], key=lambda step: step.step)
            mark["after_tokens"] = steps[later].used_tokens if later < len(steps) else None
        marks.append(mark)
    return marks


def _on_curve(marks: list[dict[str, Any]], steps: Sequence[UsedAtStep]) -> list[dict[str, Any]]:
    """Each mark with the step of the last reading before it."""
    places = [bisect_right(steps, mark["at_ms"], key=lambda step: step.at_ms) for mark in marks]
    pairs = zip(marks, places, strict=True)
    return [{**mark, "step": steps[place - 1].step if place else None} for mark, place in pairs]
