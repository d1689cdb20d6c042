"""How Holdfast itself is on this machine: `/api/machine` (disk, hooks, watcher, ingest, skipped
lines, archive, versions, and the worst of it in one line), `/api/settings` (which value holds and
which file says so), `/api/log` (what the guard did)."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Query, Response

import holdfast
from holdfast.api.fields import IdQuery, WordQuery
from holdfast.api.responses import Db, Router, answer, respond
from holdfast.api.routes.machine.files import local_project, read_files
from holdfast.archive import transcripts as archived
from holdfast.client.agents import AGENTS
from holdfast.client.claude_folder import config_folder
from holdfast.events.session_start import OUR_HOOK
from holdfast.hub import row_times
from holdfast.hub.clean_text import replace_unstorable
from holdfast.hub.ingest import set_aside
from holdfast.hub.ingest.gather import WINDOW
from holdfast.hub.ingest.sync import written_at
from holdfast.redact.find import redact
from holdfast.session import history
from holdfast.settings import load
from holdfast.settings.load import Settings
from holdfast.settings.table import TABLE, Setting
from holdfast.text.numbers import counted
from holdfast.watcher import loop
from holdfast.window import audit
from holdfast.window.state import all_windows
from holdfast.wire import places, spool

router = Router(tags=["health"])
DAY_MS = 86_400_000
LATE_MS = 60_000  # later than that, sessions are shown late
MOST_SKIPPED = 0.01  # of all lines: a new client writes some kinds that nobody knows yet
KINDS = {
    "windows": "sessions",
    "checkpoints": "checkpoints",
    "recall": "search index",
    "segments": "older topics",
    "outputs": "archived outputs",
    "transcripts": "archived transcripts",
    "backups": "backups",
}
DATABASE, OTHER = "database", "other"
Level = Literal["DEBUG", "INFO", "WARN", "ALERT", "ERROR"]
Shown = float | int | bool | str


LogLineShown = answer("LogLineShown", "at:str level:str place:str message:str")


LogLineList = answer("LogLineList", "count:int limit:int lines:LogLineShown[]")


DiskUse = answer("DiskUse", "kind:str bytes:int files:int")


HookState = answer(
    "HookState",
    "installed:bool last_at:str? last_event:str? sessions:int errors:int",
    doc="`installed`: a settings file or a plugin runs hooks, for the user or in a known project. "
    "`sessions`: in how many a hook ran in the last day. `errors`: lines of the log of that day.",
)


FailedIngest = answer("FailedIngest", "source:str error:str since:str? tries:int")


MachineHealth = answer(
    "MachineHealth",
    "level:str worst:str disk_free_bytes:int watcher:str? ingest_lag_ms:int lines:int "
    "skipped_lines:int unread_transcripts:int archived_sessions:int archived_bytes:int "
    "disk:DiskUse[] hooks:HookState errors:LogLineShown[] set_aside:FailedIngest[] "
    "versions:str{}",
    doc="`worst`: the gravest finding in words, `level` how grave: `ok`, `warn` or `bad`.",
)


@router.get("/api/machine", response_model=MachineHealth)
async def get(db: Db) -> Response:
    """What works, what does not, and how much room it takes."""
    found, waiting = await read_files(_look), await read_files(_waiting)
    known = await db.read(lambda c: written_at(c, list(waiting)))
    now = row_times.now_ms()
    behind = [now - at for source, at in waiting.items() if at > known.get(source, 0) + LATE_MS]
    found["ingest_lag_ms"] = max(behind, default=0)
    writes = db.store.write_health
    level, worst = _worst(found, failed_write=writes.is_degraded(now))
    return respond({"level": level, "worst": worst, **found})


def _look() -> dict[str, Any]:
    figures = list(history.load().values())
    archive = archived.sessions()
    errors = _errors()
    holder = loop.holder()
    free = os.statvfs(places.home() if Path(places.home()).is_dir() else "/")
    return {
        "disk": _disk(),
        "disk_free_bytes": free.f_bavail * free.f_frsize,
        "hooks": {**_hooks(), "errors": len(errors)},
        "errors": errors[-20:][::-1],
        "watcher": loop.describe_holder(holder) if holder else None,
        "set_aside": [
            FailedIngest.of(
                failed, source=replace_unstorable(source), since=row_times.to_iso(failed.since_ms)
            )
            for source, failed in set_aside.load().items()
        ],
        "lines": sum(figure.lines for figure in figures),
        "skipped_lines": sum(figure.skipped for figure in figures),
        "unread_transcripts": sum(not figure.is_read for figure in figures),
        "archived_sessions": len(archive),
        "archived_bytes": sum(one.bytes for one in archive),
        "versions": {
            "Holdfast": holdfast.__version__,
            "Python": platform.python_version(),
            **_clients(),
        },
    }


def _worst(found: dict[str, Any], *, failed_write: bool) -> tuple[str, str]:
    """The gravest first."""
    if failed_write:
        return "bad", "the last write into the database failed"
    if found["disk_free_bytes"] < 100 << 20:
        return "bad", "less than 100 MB are free on the disk"
    if found["set_aside"]:
        return "bad", f"{counted(len(found['set_aside']), 'session')} could not be read"
    if found["ingest_lag_ms"]:
        return "bad", f"sessions are shown {found['ingest_lag_ms'] // 60_000} min late"
    if found["errors"]:
        return "warn", f"{counted(found['hooks']['errors'], 'error')} in the log since yesterday"
    if not found["hooks"]["installed"]:
        return "warn", "no hook of Holdfast is installed; run `holdfast install`"
    if slips := load.load().errors:
        return "warn", f"{counted(len(slips), 'setting')} not used"
    if found["skipped_lines"] > MOST_SKIPPED * found["lines"]:
        return "warn", f"{found['skipped_lines']:,} of {found['lines']:,} lines were not read"
    if found["watcher"] is None:
        return "warn", "nobody watches the sessions"
    return "ok", "all is well"


def _waiting() -> dict[str, int]:
    """Return the windows of the last day by source, each with the time of its last hook."""
    found = {}
    for folder, _ in all_windows(row_times.now_ms() - DAY_MS):
        session, _, leaf = folder.removeprefix(f"{places.windows()}/").partition("/")
        found[f"{WINDOW}:{session}/{leaf}"] = places.modified_ms(f"{folder}/spool")
    return found


def _disk() -> list[dict[str, Any]]:
    sums = {name: [0, 0] for name in (*KINDS.values(), DATABASE, OTHER)}
    home = places.home()
    for folder, _, names in os.walk(home):
        top = folder[len(home) :].strip("/").partition("/")[0]
        for name in names:
            kind = KINDS.get(top, DATABASE if name.startswith("holdfast.db") else OTHER)
            sums[kind][0] += _size(f"{folder}/{name}")
            sums[kind][1] += 1
    rows = [{"kind": kind, "bytes": size, "files": files} for kind, (size, files) in sums.items()]
    return sorted((row for row in rows if row["files"]), key=lambda row: -int(str(row["bytes"])))


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _hooks() -> dict[str, Any]:
    """Which hooks ran in the last day; the watcher keeps windows of sessions without hooks, too."""
    since = row_times.now_ms() - DAY_MS
    ran = [
        (state.session_id, line)
        for folder, state in all_windows(since)
        for line in spool.recent(folder)
        if line.ms >= since
    ]
    last = max((line for _, line in ran), key=lambda line: line.ms, default=None)
    return {
        "installed": _are_installed(),
        "last_at": row_times.to_iso(last.ms) if last else None,
        "last_event": last.event if last else None,
        "sessions": len({session for session, _ in ran}),
    }


def _are_installed() -> bool:
    projects = sorted({"", *(state.project for _, state in all_windows(0))})
    files = [
        (path, OUR_HOOK)
        for agent in AGENTS
        for project in projects
        for path in agent.files_with_hooks(project, os.environ)
    ]
    register = Path(config_folder(os.environ), "plugins", "installed_plugins.json")
    files.append((register, b'"holdfast@'))
    plugins = any(agent.plugin_hooks("holdfast", os.environ) for agent in AGENTS)
    return plugins or any(_holds(path, sign) for path, sign in files)


def _holds(path: Path, sign: bytes) -> bool:
    try:
        return path.is_file() and sign in path.read_bytes()
    except OSError:
        return False


def _errors() -> list[dict[str, Any]]:
    since = row_times.to_iso(row_times.now_ms() - DAY_MS) or ""
    return [line for line in _log_lines("ERROR", "") if line["at"] >= since[:19]]


def _log_lines(level: str | None, session_id: str) -> list[dict[str, Any]]:
    return [line._asdict() for line in audit.log_lines() if line.fits(level, session_id)]


def _clients() -> dict[str, str]:
    """The newest version of Claude Code that a hook has met."""
    versions = {state.client_version for _, state in all_windows(0)} - {""}
    return {"Claude Code": max(versions)} if versions else {}


OverruledValue = answer("OverruledValue", "origin:str line:int?", value=Shown)


SettingShown = answer(
    "SettingShown",
    "name:str origin:str line:int? set_by:str meaning:str variable:str low:float? high:float? "
    "choices:str[] overruled:OverruledValue[]",
    doc="`origin`: the file, the variable (`$NAME`), the preset or `default` that gives the value; "
    "`overruled`: what weaker places say, weakest first.",
    value=Shown,
    default=Shown,
)


SettingsFile = answer("SettingsFile", "path:str kind:str is_there:bool")


SettingList = answer(
    "SettingList",
    "errors:str[] settings:SettingShown[] files:SettingsFile[]",
    doc="`files` weakest first; variables of the server are stronger than any of them. `errors`: "
    "what is ignored, and why.",
)


@router.get("/api/settings", response_model=SettingList)
async def settings(db: Db, project_id: IdQuery = None) -> Response:
    """Every setting as it holds on this machine, for a project or outside of any. Read only."""
    project = await local_project(db, project_id) if project_id else ""
    return respond(await read_files(_settings, project))


@router.get("/api/log", response_model=LogLineList)
async def log(
    level: Level | None = None,
    session_id: WordQuery = None,
    limit: Annotated[int, Query(ge=1, le=5_000)] = 200,
) -> Response:
    """The last lines of the log of this machine, newest last; `level`: this one and graver."""
    lines = (await read_files(_log_lines, level, session_id or ""))[-limit:]
    return respond({"lines": lines, "count": len(lines), "limit": limit})


def _settings(project: str) -> dict[str, Any]:
    loaded = load.load(project)
    weaker = load.overruled_values(project, loaded)
    files = [("user", load.user_file())]
    files += [("project", load.project_file(project))] if project else []
    return {
        "settings": [_setting(setting, loaded, weaker[setting.name]) for setting in TABLE],
        "files": [
            {"path": replace_unstorable(str(path)), "kind": kind, "is_there": path.is_file()}
            for kind, path in files
        ],
        "errors": [_clean(words) for words in loaded.errors],
    }


def _setting(setting: Setting, loaded: Settings, weaker: list[load.GivenValue]) -> Any:
    origin = loaded.origins[setting.name]
    is_number = not (setting.choices or setting.is_text or setting.is_names)
    return SettingShown.of(
        setting,
        value=_clean(loaded.values[setting.name]),
        origin=replace_unstorable(origin),
        line=load.line_of(origin, setting.name),
        low=setting.low if is_number else None,
        high=setting.high if is_number else None,
        overruled=[
            OverruledValue.of(
                past, value=_clean(past.value), origin=replace_unstorable(past.origin)
            )
            for past in weaker
        ],
    )


def _clean(value: Shown) -> Shown:
    """A text may hold an address with a password."""
    return replace_unstorable(redact(value)) if isinstance(value, str) else value
