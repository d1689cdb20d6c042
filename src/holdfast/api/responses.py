"""Routers and answers. Answers are encoded here and described by models; tests check every answer
against its model. Routes read the database on another thread, and write one after the other; a
request is answered in time even if the database hangs: with 503.

`Noun` has the routes that are the same for every kind of row. A module of routes says which
function of `hub` does the work, which models body and answer have, and what the route is for; it
adds what only its noun can do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from inspect import Parameter, Signature, cleandoc, signature
from types import GenericAlias
from typing import Annotated, Any, TypeVar, get_origin

import msgspec
import sqlalchemy as sa
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, create_model

from holdfast.api.fields import Body, IdPath, Limit, Offset
from holdfast.hub import row_times
from holdfast.hub.errors import Unreachable
from holdfast.hub.store.engine import translate_driver_errors
from holdfast.hub.store.rows import Page, Row, is_time, public_name
from holdfast.hub.store.store import Store
from holdfast.hub.store.tables import Json

T = TypeVar("T")
ANSWER_SECONDS = 15.0


class Database:
    """What routes use of the database."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def read(self, query: Callable[[sa.Connection], T]) -> T:
        return await self._in_time(asyncio.to_thread(self.store.read, query))

    async def write(self, change: Callable[[sa.Connection], T]) -> T:
        """Write a change. A request that is cancelled before its turn is never written."""
        with translate_driver_errors():
            return await self._in_time(asyncio.wrap_future(self.store.submit(change)))

    async def _in_time(self, answer: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await answer
        except TimeoutError:
            words = f"the database did not answer in {ANSWER_SECONDS:g} seconds"
            raise Unreachable(words) from None


async def _database(request: Request) -> Database:
    database: Database = request.app.state.database
    return database


Db = Annotated[Database, Depends(_database)]


# By reference, not as a model: FastAPI would make 300 validators of them at every start.
_ERROR_CONTENT = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorAnswer"}}}
COMMON: dict[int | str, dict[str, Any]] = {
    400: {"description": "Something about the request does not fit", "content": _ERROR_CONTENT},
    401: {"description": "No token, or not the right one", "content": _ERROR_CONTENT},
    404: {"description": "Not found", "content": _ERROR_CONTENT},
    429: {"description": "Too many requests: `Retry-After`", "content": _ERROR_CONTENT},
    # Any other; without it FastAPI describes a 422, which nothing sends.
    "4XX": {"description": "Refused: 403, 405 or 413", "content": _ERROR_CONTENT},
    503: {"description": "The database does not answer", "content": _ERROR_CONTENT},
}


Call = Callable[..., Any]


class Router(APIRouter):
    """Routes whose answer is what a function of a connection and the parameters returns."""

    def __init__(self, prefix: str = "", *, tags: list[str]) -> None:
        super().__init__(prefix=prefix, tags=[*tags], responses=COMMON)

    def reads(
        self, path: str, model: Any, *, method: str = "GET", **more: Any
    ) -> Callable[[Call], Call]:
        return partial(self._add_function, method, path, model, **more)

    def writes(self, method: str, path: str, model: Any, **more: Any) -> Callable[[Call], Call]:
        return partial(self._add_function, method, path, model, writes=True, **more)

    def _add_function(self, method: str, path: str, model: Any, call: Call, **more: Any) -> Call:
        _, *parameters = signature(call, eval_str=True).parameters.values()
        known = {
            parameter.name: (parameter.annotation, parameter.default) for parameter in parameters
        }
        self.add(method, path, model, call, known, call.__doc__ or "", **more)
        return call

    def add(
        self,
        method: str,
        path: str,
        model: Any,
        call: Call,
        parameters: Mapping[str, Any],
        words: str,
        status: int = 200,
        *,
        writes: bool = False,
        responses: Mapping[int | str, dict[str, Any]] | None = None,
    ) -> None:
        """Add a route. A parameter is what it may hold, with its default if it has one."""

        async def handler(db: Db, **given: Any) -> Response:
            run = db.write if writes else db.read
            found = await run(partial(call, **given))
            if found is None:
                return Response(status_code=status)
            return found if isinstance(found, Response) else respond(found, status)

        taken = [Parameter("db", Parameter.KEYWORD_ONLY, annotation=Db)]
        for name, kind in parameters.items():
            kind, default = kind if isinstance(kind, tuple) else (kind, Parameter.empty)
            taken.append(Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default))
        handler.__signature__ = Signature(taken)  # type: ignore[attr-defined]
        self.add_api_route(
            path,
            handler,
            methods=[method],
            name=call.__name__,
            description=cleandoc(words),
            status_code=status,
            response_model=model,
            response_class=JSONResponse,  # as it is described; the answer is made above
            responses={**(responses or {})},
        )


class ErrorAnswer(BaseModel):
    """The form of every error."""

    model_config = ConfigDict(extra="allow")
    error: str


CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": ErrorAnswer, "description": "There already"}
}


class ApiAnswer(BaseModel):
    """Only a description: `respond` encodes an answer without validating it. The schema is built
    when `/openapi.json` is requested, not at every start."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    @classmethod
    def of(cls, source: Any, /, **derived: Any) -> dict[str, Any]:
        """Build the answer from the fields of `source`, but for those `derived`."""
        names = cls.model_fields.keys() - derived.keys()
        return {name: getattr(source, name) for name in names} | derived


class Paged(ApiAnswer):
    count: int
    total: int
    limit: int
    offset: int


# Fields that answers have under another name than the column.
RENAMED = {
    "task_list_id": "task_id",
    "from_agent_id": "from_agent",
    "to_agent_id": "to_agent",
    "message_type": "topic",
    "payload": "content",
    "by_agent": "blocked_by",
    "since": "created_ms",
    "last_updated": "updated_ms",
}
# Fields made from the value of a column.
DERIVED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "keywords_extracted": ("keywords", lambda words: len(words or ())),
    "is_broadcast": ("to_agent", lambda agent: agent is None),
}


class RowAnswer(ApiAnswer):
    """An answer made from a row. Each field is the column of its name, or the one in `RENAMED`;
    `at` and `…_at` are the times in `at_ms` and `…_ms`; a list or object that is NULL becomes
    empty."""

    @classmethod
    def of(cls, row: Row, /, **derived: Any) -> dict[str, Any]:
        columns = _columns(cls, tuple(derived))
        return {name: read(row[column]) for name, column, read in columns} | derived

    @classmethod
    def of_each(cls, rows: Iterable[Row]) -> list[dict[str, Any]]:
        columns = _columns(cls, ())
        return [{name: read(row[column]) for name, column, read in columns} for row in rows]


@cache
def _columns(
    answer: type[RowAnswer], derived: tuple[str, ...]
) -> list[tuple[str, str, Callable[[Any], Any]]]:
    """Return each field with its column and how its value is shown; read from the model once."""
    found = []
    for name, field in answer.model_fields.items():
        is_time = name == "at" or name.endswith("_at")
        column = RENAMED.get(name, f"{name.removesuffix('_at')}_ms" if is_time else name)
        how = DERIVED.get(name) or (column, _reader(column, get_origin(field.annotation)))
        if name not in derived:
            found.append((name, *how))
    return found


def _reader(column: str, kind: Any) -> Callable[[Any], Any]:
    if is_time(column):
        return row_times.to_iso
    if kind in (list, dict):
        return lambda value: value or kind()
    return lambda value: value


# What a field of an answer may hold, by name; each answer is added.
KINDS: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "object": dict[str, Any],
}


def answer(name: str, spec: str = "", /, *bases: Any, doc: Any = None, **fields: Any) -> Any:
    """Make the model of an answer. `spec` names its fields, with what they hold: `n:int`, `row:Row`
    for another answer, `title:str?` where it may be null (`?=`: or absent), `files:str[]` for a
    list, `counts:int{}` for an object of numbers. `fields` are those of other kinds."""
    made: Any = {
        key: kind if isinstance(kind, tuple) else (kind, ...) for key, kind in fields.items()
    }
    for word in spec.split():
        key, _, kind = word.partition(":")
        made[key] = _field_of(kind)
    KINDS[name] = create_model(name, __base__=bases or ApiAnswer, __doc__=doc, **made)
    return KINDS[name]


def _field_of(word: str) -> tuple[Any, Any]:
    kind = KINDS[word.rstrip("?=[]{}")]
    if "[]" in word or "{}" in word:
        kind = GenericAlias(*((list, kind) if "[]" in word else (dict, (str, kind))))
    return kind | None if "?" in word else kind, None if "=" in word else ...


def row_answer(name: str, table: sa.Table, spec: str = "*", /, **fields: Any) -> Any:
    """Make a row's answer. A field without a kind is a column; `*`: all columns."""
    columns = {public_name(column.name): _kind(column) for column in table.columns}
    words = spec.replace("*", " ".join(columns)).split()
    plain = [word for word in words if ":" in word]
    known = {word: columns[word] for word in words if word in columns and f" {word}:" not in spec}
    return answer(name, " ".join(plain), RowAnswer, **known, **fields)


def _kind(column: sa.Column[Any]) -> Any:
    if isinstance(column.type, Json):
        return dict[str, Any]
    is_number = isinstance(column.type, sa.Integer) and not is_time(column.name)
    kind: Any = int if is_number else str
    return kind | None if column.nullable else kind


def respond(content: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(content), status, media_type="application/json")


def paging(page: Page) -> dict[str, int]:
    """Return the page's fields: `count` of the rows on it, `total` of all rows."""
    return {
        "count": len(page.rows),
        "total": page.total,
        "limit": page.limit,
        "offset": page.offset,
    }


@dataclass(frozen=True)
class Noun:
    """A kind of row. Its answer stands under `name`, in a list under `plural`."""

    router: Router
    path: str
    name: str
    plural: str
    row: type[RowAnswer]
    bare: bool = False  # answered without `name` and `success` around it
    key: Any = IdPath

    def create(self, body: type[Body], make: Callable[..., Row], words: str, **more: Any) -> None:
        """`make(connection, given, now_ms)` returns the row."""

        def post(connection: sa.Connection, body: Body) -> dict[str, Any]:
            return self._made(make(connection, body.given, row_times.now_ms()))

        self.router.add(
            "POST", self.path, self._model, post, {"body": body}, words, 201, writes=True, **more
        )

    def list(
        self,
        find: Callable[..., Page],
        words: str,
        *,
        row: type[RowAnswer] | None = None,
        most: Any = Limit,
        usual: int = 100,
        **filters: Any,
    ) -> None:
        """`find(connection, limit, offset, **filters)` returns a page; a filter that is not given
        is None. `row`: the answer of a listed row, where it is another."""
        row = row or self.row

        def listed(connection: sa.Connection, **asked: Any) -> dict[str, Any]:
            page = find(connection, **asked)
            return {self.plural: row.of_each(page.rows), **paging(page)}

        model = answer(f"{row.__name__}List", f"{self.plural}:{row.__name__}[]", Paged)
        given: dict[str, Any] = {
            name: (Annotated[kind | None, Query()], None) for name, kind in filters.items()
        }
        given |= {"limit": (most, usual), "offset": (Offset, 0)}
        self.router.add("GET", self.path, model, listed, given, words)

    def get(
        self,
        find: Callable[[sa.Connection, str], Row],
        below: Callable[[sa.Connection, str], Iterable[Row]],
        plural: str,
        row: type[RowAnswer],
        words: str,
    ) -> None:
        """`find(connection, id)` returns the row, `below(connection, id)` what stands in it."""

        def get(connection: sa.Connection, **which: Any) -> dict[str, Any]:
            [row_id] = map(str, which.values())
            found = self.row.of(find(connection, row_id))
            found[plural] = row.of_each(below(connection, row_id))
            return found if self.bare else {self.name: found}

        name = f"{self.row.__name__}With{plural.title()}"
        whole = answer(name, f"{plural}:{row.__name__}[]", self.row)
        model = whole if self.bare else answer(f"{self.name.title()}Found", **{self.name: whole})
        self.router.add("GET", self._one, model, get, self._key, words)

    def change(self, body: type[Body], make: Callable[..., Row], words: str) -> None:
        """`make(connection, id, given, now_ms)` returns the row."""

        def patch(connection: sa.Connection, body: Body, **which: Any) -> dict[str, Any]:
            [row_id] = map(str, which.values())
            return self._made(make(connection, row_id, body.given, row_times.now_ms()))

        given = {**self._key, "body": body}
        self.router.add("PATCH", self._one, self._model, patch, given, words, writes=True)

    def remove(self, delete: Callable[..., Any], words: str) -> None:
        """`delete(connection, id, now_ms)`."""

        def remove(connection: sa.Connection, **which: Any) -> None:
            delete(connection, *map(str, which.values()), row_times.now_ms())

        self.router.add("DELETE", self._one, None, remove, self._key, words, 204, writes=True)

    @property
    def _key(self) -> dict[str, Any]:
        return {f"{self.name}_id": self.key}

    @property
    def _one(self) -> str:
        kind = "" if self.key is IdPath else ":text"
        return f"{self.path}/{{{self.name}_id{kind}}}"

    @property
    def _model(self) -> Any:
        made = f"success:bool {self.name}:{self.row.__name__}"
        return self.row if self.bare else answer(f"{self.name.title()}Made", made)

    def _made(self, row: Row) -> dict[str, Any]:
        shown = self.row.of(row)
        return shown if self.bare else {"success": True, self.name: shown}
