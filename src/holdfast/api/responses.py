"""Routers and answers. Answers are encoded here and described by models; tests check every answer
against its model. Errors are answers too: `{"error": …}`, with the fields at fault. No request
causes a 500.

A large body is parsed, validated and searched for secrets on another thread: megabytes of text may
take a second, and no other request waits for that. There is one such thread, so large bodies wait
for each other.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from operator import itemgetter
from types import GenericAlias
from typing import Any, ClassVar, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, create_model
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from holdfast.api.event_listeners import Crowded
from holdfast.hub import row_times
from holdfast.hub.errors import AlreadyThere, NotThere, Refused
from holdfast.hub.store.rows import Page, Row
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError

LARGE_BYTES = 64 << 10  # a smaller body is done before a thread has started
_ASIDE = ThreadPoolExecutor(1, "holdfast-large")


JSON = (b"content-type", b"application/json")


class Route(APIRoute):
    """A route whose body is one of our models (`fields.Body`).

    Every body is read as JSON, whatever its content type: curl sends a form type by default, and
    scripts that hide its output would not see that their save was refused. The gate has already
    refused requests from pages of other origins.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle, field = super().get_route_handler(), self.body_field
        if field is None:
            return handle

        async def handled(request: Request) -> Response:
            try:
                return await handle(_Request(_as_json(request.scope), request.receive, field))
            except HTTPException as error:  # FastAPI wraps what json() raises
                if isinstance(error.__cause__, RequestValidationError):
                    raise error.__cause__ from None
                raise

        return handled


def _as_json(scope: Scope) -> Scope:
    headers = [pair for pair in scope["headers"] if pair[0] != JSON[0]]
    return {**scope, "headers": [*headers, JSON]}


class _Request(Request):
    def __init__(self, scope: Any, receive: Any, field: Any) -> None:
        super().__init__(scope, receive)
        self._field = field

    async def json(self) -> Any:
        """Return a large body as its model; FastAPI then only checks the type."""
        body = await self.body()
        if len(body) <= LARGE_BYTES:
            return await super().json()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(_ASIDE, _read, body, self._field)


def _read(body: bytes, field: Any) -> Any:
    data = json.loads(body)
    value, errors = field.validate(data, {}, loc=("body",))
    if errors:
        raise RequestValidationError(errors, body=data)
    return value


# By reference, not as a model: FastAPI would make 300 validators of them at every start.
_ERROR_CONTENT = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorAnswer"}}}
COMMON: dict[int | str, dict[str, Any]] = {
    400: {"description": "Something about the request does not fit", "content": _ERROR_CONTENT},
    401: {"description": "No token, or not the right one", "content": _ERROR_CONTENT},
    429: {"description": "Too many requests: `Retry-After`", "content": _ERROR_CONTENT},
    503: {"description": "The database does not answer", "content": _ERROR_CONTENT},
}


class Router(APIRouter):
    def __init__(self, prefix: str = "", *, tags: list[str]) -> None:
        super().__init__(prefix=prefix, tags=[*tags], responses=COMMON, route_class=Route)


class ErrorAnswer(BaseModel):
    """The form of every error."""

    model_config = ConfigDict(extra="allow")
    error: str


def install(app: FastAPI) -> None:
    """Install a handler for every kind of error."""
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(RecursionError, _on_too_deep)
    app.add_exception_handler(NotThere, _on_not_there)
    app.add_exception_handler(Refused, _on_refused)
    app.add_exception_handler(AlreadyThere, _on_already_there)
    app.add_exception_handler(HoldfastError, _on_failure)
    app.add_exception_handler(Crowded, _on_crowded)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(Exception, _on_unknown_error)


def _error_response(status: int, error: str, **more: Any) -> JSONResponse:
    return JSONResponse({"error": error, **more}, status)


def _on_invalid(_request: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, RequestValidationError)
    details: dict[str, list[str]] = {}
    for one in failure.errors():
        where, *rest = (str(part) for part in one["loc"] if not _is_inner(part))
        name = ".".join(rest) if rest and one["type"] != "json_invalid" else where
        details.setdefault(name, []).append(str(one["msg"]))
    query_only = all(str(one["loc"][0]) == "query" for one in failure.errors())
    error = "Invalid query parameters" if query_only else "Validation failed"
    return _error_response(400, error, details=details)


def _is_inner(part: object) -> bool:
    """Whether this part of a location is pydantic's own (`function-after[…]`, `constrained-str`)
    and not a field."""
    return isinstance(part, str) and re.fullmatch(r"(?!constrained-)[\w-]+", part) is None


def _on_too_deep(_request: Request, _error: Exception) -> JSONResponse:
    return _error_response(400, "Validation failed", details={"body": ["nested too deep"]})


def _on_not_there(_request: Request, error: Exception) -> JSONResponse:
    return _error_response(404, str(error))


def _on_refused(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refused)
    details = {error.field: [str(error)]} if error.field else {}
    return _error_response(400, str(error), **({"details": details} if details else {}))


def _on_already_there(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, AlreadyThere)
    return _error_response(409, str(error), id=error.which, **error.more)


def _on_failure(_request: Request, error: Exception) -> JSONResponse:
    """The database or the disk failed; the error says how."""
    assert isinstance(error, HoldfastError)
    log.add("ERROR", "api", str(error))
    return _error_response(503, str(error), try_next=error.hint)


def _on_crowded(_request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": str(error)}, 503, headers={"Retry-After": "5"})


def _on_http_error(request: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, HTTPException)
    words = {404: "Not found", 405: "Method not allowed"}
    error = words.get(failure.status_code, str(failure.detail))
    headers = (
        {"Allow": _allowed_methods(request)} if failure.status_code == 405 else failure.headers
    )
    return JSONResponse({"error": error}, failure.status_code, headers=headers)


def _allowed_methods(request: Request) -> str:
    """Return the methods of every route at this address; the framework returns only those of the
    first."""
    here = request.app.state.route_table.routes_at(request.scope["path"])
    routes = (*request.app.routes, *here)
    fits = (one for one in routes if one.matches(request.scope)[0] is not Match.NONE)
    found = {method for route in fits for method in getattr(route, "methods", None) or ()}
    return ", ".join(sorted(found))


def _on_unknown_error(_request: Request, error: Exception) -> JSONResponse:
    first = str(error).partition("\n")[0]  # below it PostgreSQL quotes the row
    log.add("ERROR", "api", f"{type(error).__name__}: {first}"[:300])
    return _error_response(500, "Something went wrong; holdfast log says what")


NOT_FOUND: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorAnswer, "description": "Not found"}
}
CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": ErrorAnswer, "description": "There already"}
}


class ApiAnswer(BaseModel):
    """Only a description: `respond` encodes an answer without validating it. The schema is built
    when `/openapi.json` is requested, not at every start."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


def answer_of(name: str, source: type, **nested: type[ApiAnswer]) -> type[ApiAnswer]:
    """Make the model of an answer that shows each field of a class. `nested`: the models of the
    items, for fields that are lists."""
    fields: dict[str, Any] = {
        key: (_as_list(kind, nested.get(key)), ...) for key, kind in get_type_hints(source).items()
    }
    return create_model(name, __base__=ApiAnswer, **fields)


def _as_list(kind: Any, item: type | None) -> Any:
    """JSON has lists, no tuples."""
    return GenericAlias(list, item or get_args(kind)[0]) if get_origin(kind) is tuple else kind


def respond(content: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(content), status, media_type="application/json")


class RowAnswer(ApiAnswer):
    """An answer made from a row. Each field is the column of its name, or the one in `RENAMED`;
    `at` and `…_at` are the times in `at_ms` and `…_ms`; a list or object that is NULL becomes
    empty."""

    RENAMED: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def of(cls, row: Row, **derived: Any) -> dict[str, Any]:
        """Build the answer. `derived` are fields that are no column, or that differ from their
        column."""
        [found] = _columns(cls, tuple(derived)).answers([row])
        found.update(derived)
        return found

    @classmethod
    def of_each(cls, rows: Iterable[Row]) -> list[dict[str, Any]]:
        """Build the answers of many rows: that takes two thirds of the time of `of` for each."""
        return _columns(cls, ()).answers(rows)


class _Columns(NamedTuple):
    names: tuple[str, ...]  # of the fields
    values: Callable[[Row], Iterable[Any]]  # of the fields, in their order
    times: tuple[str, ...]
    lists_and_objects: tuple[tuple[str, type], ...]

    def answers(self, rows: Iterable[Row]) -> list[dict[str, Any]]:
        names, values = self.names, self.values
        found = [dict(zip(names, values(row), strict=True)) for row in rows]
        for name in self.times:
            for one in found:
                if one[name] is not None:
                    one[name] = row_times.to_iso(one[name])
        for name, empty in self.lists_and_objects:
            for one in found:
                one[name] = one[name] or empty()
        return found


@cache
def _columns(answer: type[RowAnswer], derived: tuple[str, ...]) -> _Columns:
    """Cached for each answer class: a page of actions reads its fields 11,000 times."""
    fields = {name: one for name, one in answer.model_fields.items() if name not in derived}
    times = tuple(name for name in fields if name == "at" or name.endswith("_at"))
    columns = {**{name: f"{name.removesuffix('_at')}_ms" for name in times}, **answer.RENAMED}
    kinds = {name: get_origin(field.annotation) for name, field in fields.items()}
    empty = ((name, kind) for name, kind in kinds.items() if kind in (list, dict))
    values = itemgetter(*(columns.get(name, name) for name in fields))
    return _Columns(tuple(fields), values, times, tuple(empty))


def no_content() -> Response:
    return Response(status_code=204)


def paging(page: Page) -> dict[str, int]:
    """Return the page's fields: `count` is the number of rows on this page, `total` that of all
    rows."""
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
