"""`/api/settings`, `/api/log`: which value holds and which file says so; what the guard did."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Query, Response
from pydantic import Field

from holdfast.api.database import Db
from holdfast.api.fields import IdQuery, WordQuery
from holdfast.api.responses import NOT_FOUND, ApiAnswer, Router, respond
from holdfast.api.routes.machine.files import local_project, read_files
from holdfast.hub.clean_text import replace_unstorable
from holdfast.redact import redact
from holdfast.settings import load
from holdfast.settings.load import Settings
from holdfast.settings.table import TABLE, Setting
from holdfast.window import audit

router = Router(prefix="/api", tags=["settings"])
Level = Literal["DEBUG", "INFO", "WARN", "ALERT", "ERROR"]
Shown = float | int | bool | str


class OverruledValue(ApiAnswer):
    value: Shown
    origin: str = Field(alias="from")
    line: int | None


class SettingShown(ApiAnswer):
    """`from`: the file, the variable (`$NAME`), the preset or `default` that gives the value;
    `overruled`: what weaker places say, weakest first; `example`: a line for a settings file."""

    name: str
    value: Shown
    origin: str = Field(alias="from")
    line: int | None
    default: Shown
    set_by: str
    meaning: str
    variable: str
    also: str | None
    low: float | None
    high: float | None
    choices: list[str]
    overruled: list[OverruledValue]
    example: str


class SettingsFile(ApiAnswer):
    path: str
    kind: str
    is_there: bool


class IgnoredSetting(ApiAnswer):
    words: str
    file: str | None
    line: int | None


class SettingList(ApiAnswer):
    """`files` weakest first; variables of the server are stronger than any of them."""

    settings: list[SettingShown]
    files: list[SettingsFile]
    errors: list[IgnoredSetting]


class LogLineShown(ApiAnswer):
    at: str
    level: str
    place: str
    message: str


class LogLineList(ApiAnswer):
    lines: list[LogLineShown]
    count: int
    limit: int


@router.get("/settings", response_model=SettingList, responses=NOT_FOUND)
async def settings(db: Db, project_id: IdQuery = None) -> Response:
    """Every setting as it holds on this machine, for a project or outside of any. Read only."""
    project = await local_project(db, project_id) if project_id else ""
    return respond(await read_files(_settings, project))


@router.get("/log", response_model=LogLineList)
async def log(
    level: Level | None = None,
    session_id: WordQuery = None,
    limit: Annotated[int, Query(ge=1, le=5_000)] = 200,
) -> Response:
    """The last lines of the log of this machine, newest last; `level`: this one and graver."""

    def look() -> list[dict[str, str]]:
        found = [line for line in audit.log_lines() if line.fits(level, session_id or "")]
        return [one._asdict() for one in found[-limit:]]

    lines = await read_files(look)
    return respond({"lines": lines, "count": len(lines), "limit": limit})


def _settings(project: str) -> dict[str, Any]:
    loaded = load.load(project)
    weaker = load.overruled_values(project, loaded)
    files = [("user", load.user_file())]
    files += [("project", load.project_file(project))] if project else []
    return {
        "settings": [_setting(one, loaded, weaker[one.name]) for one in TABLE],
        "files": [
            {"path": replace_unstorable(str(path)), "kind": kind, "is_there": path.is_file()}
            for kind, path in files
        ],
        "errors": [_error(words, [path for _, path in files]) for words in loaded.errors],
    }


def _setting(one: Setting, loaded: Settings, weaker: list[load.GivenValue]) -> dict[str, Any]:
    value, origin = _clean(loaded.values[one.name]), loaded.origins[one.name]
    is_number = not (one.choices or one.is_text or one.is_names)
    return {
        "name": one.name,
        "value": value,
        "from": replace_unstorable(origin),
        "line": load.line_of(origin, one.name),
        "default": one.default,
        "set_by": one.set_by,
        "meaning": one.meaning,
        "variable": one.variable,
        "also": one.also or None,
        "low": one.low if is_number else None,
        "high": one.high if is_number else None,
        "choices": list(one.choices),
        "overruled": [
            {
                "value": _clean(past.value),
                "from": replace_unstorable(past.origin),
                "line": past.line,
            }
            for past in weaker
        ],
        "example": f"{one.name} = {_toml(value)}",
    }


def _clean(value: Shown) -> Shown:
    """A text may hold an address with a password."""
    return replace_unstorable(redact(value)) if isinstance(value, str) else value


def _toml(value: Shown) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def _error(words: str, files: list[Path]) -> dict[str, Any]:
    """The file and the line that a complaint is about, as far as it names them."""
    file = next((str(one) for one in files if words.startswith(str(one))), None)
    rest = words.removeprefix(f"{file}:") if file else ""
    name = re.search(
        r"\b(?:there is no setting )?([a-z][a-z0-9_]*)", rest.replace("there is no setting ", "")
    )
    line = load.line_of(file, name[1]) if file and name else None
    return {
        "words": replace_unstorable(redact(words)),
        "file": file and replace_unstorable(file),
        "line": line,
    }
