"""`/api/history`: every session that the transcripts of this machine hold, before and after the
installation; `/api/today`: the totals of a day; `/api/usage`: what the sessions cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import Query, Response
from sqlalchemy.engine import Connection

from holdfast.api.fields import IdQuery, Limit, Offset, TimeMs, WordQuery
from holdfast.api.responses import Db, Paged, Router, answer, paging, respond
from holdfast.api.routes.machine.compactions import counts_of
from holdfast.api.routes.machine.files import read_files
from holdfast.checkpoint import find, index, verify
from holdfast.client.agents import AGENTS
from holdfast.hub import ids, row_times
from holdfast.hub.ingest.windows import is_reported
from holdfast.hub.store.rows import Page, Row
from holdfast.hub.tree import audit, readings
from holdfast.hub.tree import sessions as past_sessions
from holdfast.session import history
from holdfast.session.history import SummaryCounts, TranscriptFigures
from holdfast.settings import load as settings_load
from holdfast.text.numbers import Tariff, cost_of, parse_tariff
from holdfast.window.history import TokenUse

router = Router(tags=["history"])
DAY_MS = 86_400_000
MOST_SUMMED = 1_000
MOST_VERIFIED = 100  # the newest: one takes about a millisecond
AGENT_NAME = "^(" + "|".join(one.name for one in AGENTS) + ")$"
Agent = Annotated[str, Query(pattern=AGENT_NAME)]
Days = Annotated[int, Query(ge=1, le=366)]
Words = Annotated[str, Query(max_length=200)]


PastCompaction = answer(
    "PastCompaction",
    "session_id:str project_id:str title:str number:int at:str? items:int? not_found:int? "
    "messages:int? messages_not_found:int?",
)


HistoryProgress = answer(
    "HistoryProgress",
    "sessions:int read:int compactions:int compared:int skipped_lines:int",
    doc="Of all transcripts on this machine. `read` have figures; `compared` summaries have "
    "counts.",
)


History = answer(
    "History",
    "words:str? progress:HistoryProgress compactions:PastCompaction[]",
    doc="`compactions`: the last ones of this machine whose summary was compared.",
)


HistorySession = answer(
    "HistorySession",
    "id:str project_id:str? project:str? title:str? agent:str? has_hooks:bool started_at:str "
    "last_at:str? compactions:int calls:int failed:int steps:int? tokens:int? cost:float?",
    doc="`has_hooks` is false for a session from before the installation. What only its "
    "transcript tells is null for a session of another machine, and until it is read.",
)


HistorySessions = answer("HistorySessions", "sessions:HistorySession[]", Paged)


Tokens = answer(
    "Tokens",
    "input:int output:int cache_read:int cache_written:int cost:float? unpriced:int",
    doc="`cost` is what the settings give prices for, null where they give none; `unpriced` "
    "tokens are of models without a price.",
)


NamedTokens = answer(
    "NamedTokens", "id:str? name:str", Tokens, doc="`id` is null for a day, a model or an agent."
)


UsageSums = answer(
    "UsageSums",
    "last_day:str? is_priced:bool total:Tokens days:NamedTokens[] sessions:NamedTokens[] "
    "projects:NamedTokens[] agents:NamedTokens[] models:NamedTokens[]",
    doc="Each list adds up to `total`; `last_day` is that of the newest answer of all.",
)


DayTotals = answer(
    "DayTotals",
    "since:str live_windows:int compactions:int checked:int given:int not_found:int restored:int "
    "checkpoints:int checkpoints_changed:int",
    doc="`not_found` and `restored` are sums over the `checked` summaries, those that were "
    "compared. `given`: of how many the model got a brief. If of none, `restored` is what "
    "would have been; `checkpoints_changed`: files of this machine that are no longer what "
    "was saved.",
)


@router.get("/api/history", response_model=History)
async def get(project_id: IdQuery = None) -> Response:
    """How far the past is read, and the last compactions with what their summaries leave out."""
    known = await read_files(history.load)
    mine = {path: one for path, one in known.items() if _is_of(one, project_id)}
    passed = [each for one in mine.values() for each in one.compactions]
    progress = {
        "sessions": len(mine),
        "read": sum(one.is_read for one in mine.values()),
        "compactions": len(passed),
        "compared": sum(each.is_read for each in passed),
        "skipped_lines": sum(one.skipped for one in mine.values()),
    }
    last = history.last_compactions(mine)
    words = history.in_words(last) if last else None
    rows = [_compaction(of, counts) for of, counts in last]
    return respond({"progress": progress, "words": words, "compactions": rows})


def _is_of(one: TranscriptFigures, project_id: str | None) -> bool:
    return project_id is None or ids.project_id(one.project) == project_id


def _compaction(one: TranscriptFigures, each: SummaryCounts) -> Any:
    whose = {"session_id": one.session_id, "project_id": ids.project_id(one.project)}
    return PastCompaction.of(each, **whose, title=one.title, at=each.at or None)


@router.get("/api/history/sessions", response_model=HistorySessions)
async def sessions(
    db: Db,
    project_id: IdQuery = None,
    agent: Agent | None = None,
    since: Annotated[TimeMs | None, Query()] = None,
    until: Annotated[TimeMs | None, Query()] = None,
    least_minutes: Annotated[int, Query(ge=0, le=100_000)] = 0,
    least_compactions: Annotated[int, Query(ge=0, le=1_000)] = 0,
    words: Words = "",
    limit: Limit = 50,
    offset: Offset = 0,
) -> Response:
    """Every session, the last used first: by project, agent, time, duration and compactions.
    `words`: those of this machine that have all of them in their title, id or folder; a whole id
    also finds one of another machine."""
    figures = {file.session_id: file for file in (await read_files(history.load)).values()}
    parts = words.casefold().split()
    wanted = {
        name for name, one in figures.items() if agent in (None, one.agent) and _has_all(parts, one)
    } | ({words} if words else set())

    def look(connection: Connection) -> tuple[Page, dict[str, str]]:
        page = past_sessions.list_past(
            connection,
            limit,
            offset,
            project_id=project_id,
            since_ms=since or 0,
            until_ms=until or past_sessions.FAR_MS,
            least_ms=60_000 * least_minutes,
            least_compactions=least_compactions,
            session_ids=wanted if agent or parts else None,
        )
        return page, past_sessions.titles(connection, {row["id"] for row in page.rows})

    page, titles = await db.read(look)
    tariff = _tariff()
    rows = [
        _session(row, titles.get(row["id"]), figures.get(row["id"]), tariff) for row in page.rows
    ]
    return respond({"sessions": rows, **paging(page)})


def _has_all(parts: Sequence[str], one: TranscriptFigures) -> bool:
    text = f"{one.title} {one.session_id} {one.project}".casefold()
    return all(part in text for part in parts)


def _session(
    row: Row, title: str | None, figures: TranscriptFigures | None, tariff: Tariff
) -> dict[str, Any]:
    by_model = _by_model(figures) if figures and figures.is_read else {}
    tokens = _tokens(by_model, tariff) if by_model else None
    return {
        "id": row["id"],
        "project_id": row["project_id"],
        "project": row["project"],
        "title": (figures.title if figures else None) or title,
        "agent": figures.agent if figures else None,
        "has_hooks": figures is None or is_reported(row["id"]),
        "started_at": row_times.to_iso(row["started_ms"]),
        "last_at": row_times.to_iso(row["seen_ms"]),
        "compactions": row["compact_count"],
        "calls": figures.calls if figures and figures.is_read else row["total_tools_used"],
        "failed": row["total_errors"],
        "steps": figures.steps if figures and figures.is_read else None,
        "tokens": _weight(tokens) if tokens else None,
        "cost": tokens["cost"] if tokens and not tokens["unpriced"] else None,
    }


@router.get("/api/today", response_model=DayTotals)
async def today(
    db: Db, since: Annotated[TimeMs | None, Query()] = None, project_id: IdQuery = None
) -> Response:
    """Since a time, or of the last 24 hours; of one project or of all."""
    now = row_times.now_ms()
    since_ms = now - DAY_MS if since is None else since

    def look(connection: Connection) -> dict[str, Any]:
        page = readings.list_compactions(
            connection, MOST_SUMMED, 0, project_id=project_id, since_ms=since_ms
        )
        counts = counts_of(connection, page.rows)
        checked = [count for count in counts if count["not_found"] is not None]
        given = [count for count in checked if count["was_given"]]
        return {
            "since": row_times.to_iso(since_ms),
            "live_windows": readings.count_live(connection, now, project_id),
            "compactions": page.total,
            "checked": len(checked),
            "given": len(given),
            "not_found": sum(count["not_found"] for count in checked),
            "restored": sum(count["restored"] or 0 for count in given or checked),
            "checkpoints": audit.checkpoints_since(connection, since_ms, project_id),
        }

    totals = await db.read(look)
    changed = await read_files(_count_changed, since_ms, project_id)
    return respond({**totals, "checkpoints_changed": changed})


def _count_changed(since_ms: int, project_id: str | None) -> int:
    entries, since = index.load_or_empty(), row_times.to_iso(since_ms) or ""
    recent = [
        entry
        for entry in entries
        if entry.created >= since and project_id in (None, ids.project_id(entry.project))
    ]
    some = find.sort_entries(recent)[:MOST_VERIFIED]
    return sum(not verify.verify_entry(entry, entries).verified for entry in some)


@router.get("/api/usage", response_model=UsageSums)
async def usage(
    project_id: IdQuery = None, session_id: WordQuery = None, days: Days | None = None
) -> Response:
    """Tokens of the last days, or of all, as the answers in the transcripts state them; in money
    where the setting `prices` has their models."""
    since = datetime.now() - timedelta(days=(days or 1) - 1)  # noqa: DTZ005
    first_day = since.date().isoformat() if days else ""
    known = (await read_files(history.load)).values()
    tariff, sums = _tariff(), defaultdict[tuple[str, str | None, str], _Use](dict)
    for one in known:
        if not _is_of(one, project_id) or session_id not in (None, one.session_id):
            continue
        project = one.project.rstrip("/").rpartition("/")[2] or one.project
        for day, model, used in _used([one]):
            if day < first_day:
                continue
            for key in (
                *(("total", None, ""), ("days", None, day), ("models", None, model)),
                *(("agents", None, one.agent), ("sessions", one.session_id, one.title)),
                ("projects", ids.project_id(one.project), project),
            ):
                sums[key][model] = sums[key].get(model, TokenUse()).plus(used)
    rows = {name: _named(sums, name, tariff) for name in UsageSums.model_fields if name[-1] == "s"}
    rows["days"].sort(key=lambda row: row["name"])
    total = _tokens(sums[("total", None, "")], tariff)
    last_day = max(
        (day for one in known if _is_of(one, project_id) for day in one.by_day), default=None
    )
    return respond({"total": total, **rows, "last_day": last_day, "is_priced": bool(tariff)})


_Use = dict[str, TokenUse]


def _named(
    sums: dict[tuple[str, str | None, str], _Use], kind: str, tariff: Tariff
) -> list[dict[str, Any]]:
    """The most expensive first; without prices, those that sent and got most."""
    found = [
        {"id": row_id, "name": name, **_tokens(use, tariff)}
        for (of, row_id, name), use in sums.items()
        if of == kind
    ]
    return sorted(found, key=lambda row: (-(row["cost"] or 0), -_weight(row)))


def _weight(row: dict[str, Any]) -> int:
    return sum(int(row[name]) for name in TokenUse._fields)


def _tokens(use: _Use, tariff: Tariff) -> dict[str, Any]:
    total = TokenUse()
    for one in use.values():
        total = total.plus(one)
    costs = {model: cost_of(model, used, tariff) for model, used in use.items()}
    known = [cost for cost in costs.values() if cost is not None]
    return {
        **total._asdict(),
        "cost": round(sum(known), 4) if known else None,
        "unpriced": sum(sum(used) for model, used in use.items() if costs[model] is None),
    }


def _by_model(figures: TranscriptFigures) -> _Use:
    use: _Use = {}
    for _, model, used in _used([figures]):
        use[model] = use.get(model, TokenUse()).plus(used)
    return use


def _used(figures: Iterable[TranscriptFigures]) -> Iterator[tuple[str, str, TokenUse]]:
    for figure in figures:
        for day, models in figure.by_day.items():
            for model, used in models.items():
                yield day, model, used


def _tariff() -> Tariff:
    return parse_tariff(settings_load.load().word("prices"))
