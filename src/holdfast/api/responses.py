"""Answers: encoded here, described by models that the tests hold every answer to. Errors are
answers too: `{"error": …}`, with the fields at fault. Nothing a client sends is a 500.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.routing import Match

from holdfast.api.event_listeners import Crowded
from holdfast.hub.errors import AlreadyThere, NotThere, Refused, StoreError
from holdfast.hub.store.rows import Page
from holdfast.wire import log


class Slip(BaseModel):
    """What every error looks like."""

    model_config = ConfigDict(extra="allow")
    error: str


def install(app: FastAPI) -> None:
    """Every way a route can end but well."""
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(RecursionError, _too_deep)
    app.add_exception_handler(NotThere, _not_there)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(AlreadyThere, _taken)
    app.add_exception_handler(StoreError, _store)
    app.add_exception_handler(Crowded, _crowded)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unknown)


def _said(status: int, error: str, **more: Any) -> JSONResponse:
    return JSONResponse({"error": error, **more}, status)


def _invalid(_request: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, RequestValidationError)
    details: dict[str, list[str]] = {}
    for one in failure.errors():
        where, *rest = (str(part) for part in one["loc"] if not _is_inner(part))
        name = ".".join(rest) if rest and one["type"] != "json_invalid" else where
        details.setdefault(name, []).append(str(one["msg"]))
    query_only = all(str(one["loc"][0]) == "query" for one in failure.errors())
    error = "Invalid query parameters" if query_only else "Validation failed"
    return _said(400, error, details=details)


def _is_inner(part: object) -> bool:
    """`function-after[…]`, `constrained-str`: how a field of two kinds was tried."""
    return isinstance(part, str) and re.fullmatch(r"(?!constrained-)[\w-]+", part) is None


def _too_deep(_request: Request, _error: Exception) -> JSONResponse:
    return _said(400, "Validation failed", details={"body": ["nested too deep"]})


def _not_there(_request: Request, error: Exception) -> JSONResponse:
    return _said(404, str(error))


def _refused(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refused)
    details = {error.field: [str(error)]} if error.field else {}
    return _said(400, str(error), **({"details": details} if details else {}))


def _taken(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AlreadyThere)
    return _said(409, str(error), id=error.which, **error.more)


def _store(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, StoreError)
    log.add("ERROR", "api", str(error))
    return _said(503, str(error), try_next=error.hint)


def _crowded(_request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": str(error)}, 503, headers={"Retry-After": "5"})


def _http(request: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, HTTPException)
    words = {404: "Not found", 405: "Method not allowed"}
    error = words.get(failure.status_code, str(failure.detail))
    headers = {"Allow": _allowed(request)} if failure.status_code == 405 else failure.headers
    return JSONResponse({"error": error}, failure.status_code, headers=headers)


def _allowed(request: Request) -> str:
    """The methods of every route at this address; the framework names those of the first alone."""
    fits = (one for one in request.app.routes if one.matches(request.scope)[0] is not Match.NONE)
    found = {method for route in fits for method in getattr(route, "methods", None) or ()}
    return ", ".join(sorted(found))


def _unknown(_request: Request, error: Exception) -> JSONResponse:
    first = str(error).partition("\n")[0]  # below it PostgreSQL quotes the row
    log.add("ERROR", "api", f"{type(error).__name__}: {first}"[:300])
    return _said(500, "Something went wrong; holdfast log says what")


NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": Slip, "description": "Not found"}}
CONFLICT: dict[int | str, dict[str, Any]] = {409: {"model": Slip, "description": "There already"}}


class ApiAnswer(BaseModel):
    """Only a description: nothing is validated on the way out, `said` encodes it as it is. Its
    schema is made when `/openapi.json` is asked for, not at every start."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


def said(content: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(content), status, media_type="application/json")


def nothing() -> Response:
    return Response(status_code=204)


def paging(page: Page) -> dict[str, int]:
    """`count` is this page's, `total` all there are."""
    return {
        "count": len(page.rows),
        "total": page.total,
        "limit": page.limit,
        "offset": page.offset,
    }


class Paged(ApiAnswer):
    count: int
    total: int
    limit: int
    offset: int
