"""`/api/today`: the totals of a day."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any

from fastapi import Query, Response
from sqlalchemy.engine import Connection

from holdfast.api.database import Db
from holdfast.api.fields import IdQuery, TimeMs
from holdfast.api.responses import ApiAnswer, Router, respond
from holdfast.api.routes.machine.compactions import counts_of
from holdfast.api.routes.machine.files import read_files
from holdfast.checkpoint import find, index, verify
from holdfast.hub import ids, row_times
from holdfast.hub.tree import capacity, compactions, readings
from holdfast.text import timestamps

router = Router(prefix="/api/today", tags=["sessions"])
DAY_MS = 86_400_000
MOST_SUMMED = 1_000
MOST_VERIFIED = 300  # the newest: one takes about a millisecond


class DayTotals(ApiAnswer):
    """`not_found` and `restored` are sums over the `checked` summaries, those that were compared.
    `given`: of how many the model got a brief. If of none, `restored` is what would have been;
    `checkpoints_changed`: files of this machine that are no longer what was saved."""

    since: str
    live_windows: int
    compactions: int
    checked: int
    given: int
    not_found: int
    restored: int
    checkpoints: int
    checkpoints_changed: int


@router.get("", response_model=DayTotals)
async def get(
    db: Db, since: Annotated[TimeMs | None, Query()] = None, project_id: IdQuery = None
) -> Response:
    """Since a time, or of the last 24 hours; of one project or of all."""
    now = row_times.now_ms()
    since_ms = now - DAY_MS if since is None else since

    def look(connection: Connection) -> dict[str, Any]:
        return {
            "since": row_times.to_iso(since_ms),
            "live_windows": capacity.count_live(connection, now, project_id),
            **_compactions(connection, since_ms, project_id),
            "checkpoints": readings.checkpoints_since(connection, since_ms, project_id),
        }

    totals = await db.read(look)
    changed = await read_files(_count_changed, since_ms, project_id)
    return respond({**totals, "checkpoints_changed": changed})


def _compactions(connection: Connection, since_ms: int, project_id: str | None) -> dict[str, int]:
    page = compactions.list_page(
        connection, MOST_SUMMED, 0, project_id=project_id, since_ms=since_ms
    )
    checked = [
        count for count in counts_of(connection, page.rows) if count["not_found"] is not None
    ]
    given = [count for count in checked if count["was_given"]]
    return {
        "compactions": page.total,
        "checked": len(checked),
        "given": len(given),
        "not_found": sum(one["not_found"] for one in checked),
        "restored": sum(one["restored"] or 0 for one in given or checked),
    }


def _count_changed(since_ms: int, project_id: str | None) -> int:
    recent = [
        one
        for one in index.load_or_empty()
        if _at_ms(one.created) >= since_ms and project_id in (None, ids.project_id(one.project))
    ]
    some = find.sort_entries(recent)[:MOST_VERIFIED]
    return sum(not _is_whole(one.path, one.content_hash, _signature_of(one.path)) for one in some)


def _at_ms(created: str) -> int:
    return int(timestamps.from_iso(created).timestamp() * 1000)


def _signature_of(path: str) -> tuple[int, int]:
    from pathlib import Path

    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return 0, 0
    return found.st_mtime_ns, found.st_size


@lru_cache(4 * MOST_VERIFIED)  # by time and size: a page asks again and again
def _is_whole(path: str, content_hash: str, _signed: tuple[int, int]) -> bool:
    report = verify.verify(path)
    return report.ok and report.content_hash == content_hash
