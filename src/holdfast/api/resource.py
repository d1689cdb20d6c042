"""The routes that are the same for every noun: create, list, get, change, delete.

A routes module says which function of `hub` does the work, which models body and answer have, and
what the route is for; it adds what only its noun can do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Annotated, Any

from fastapi import Query, Response
from sqlalchemy.engine import Connection

from holdfast.api.database import Database, Db
from holdfast.api.fields import Body, IdPath, Limit, Offset
from holdfast.api.responses import (
    NOT_FOUND,
    Paged,
    Router,
    RowAnswer,
    answer,
    no_content,
    paging,
    respond,
)
from holdfast.hub import row_times
from holdfast.hub.store.rows import Page, Row


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

    def create(
        self,
        body: type[Body],
        make: Callable[..., Row],
        words: str,
        responses: Mapping[int | str, dict[str, Any]] = NOT_FOUND,
    ) -> None:
        """`make(connection, given, now_ms)` returns the row."""

        async def post(db: Database, body: Body) -> Response:
            now = row_times.now_ms()
            return respond(self._made(await db.write(lambda c: make(c, body.given, now))), 201)

        model = self._model
        given = {"body": body}
        add_route(self.router, "POST", self.path, post, words, model, given, 201, responses)

    def list(self, find: Callable[..., Page], words: str, **filters: Any) -> None:
        add_list(self.router, self.path, self.plural, self.row, find, words, **filters)

    def get(self, whole: Any, read: Callable[[Connection, str], Row], words: str) -> None:
        """`read(connection, id)` returns the answer: the row with what belongs to it."""

        async def get(db: Database, **which: Any) -> Response:
            found = await db.read(lambda c: read(c, *map(str, which.values())))
            return respond(found if self.bare else {self.name: found})

        model = whole if self.bare else answer(f"{self._title}Found", **{self.name: whole})
        self._add_for_one("GET", get, words, model)

    def change(self, body: type[Body], make: Callable[..., Row], words: str) -> None:
        """`make(connection, id, given, now_ms)` returns the row."""

        async def patch(db: Database, body: Body, **which: Any) -> Response:
            now, [row_id] = row_times.now_ms(), map(str, which.values())
            return respond(self._made(await db.write(lambda c: make(c, row_id, body.given, now))))

        self._add_for_one("PATCH", patch, words, self._model, body=body)

    def remove(self, delete: Callable[..., Any], words: str) -> None:
        """`delete(connection, id, now_ms)`."""

        async def remove(db: Database, **which: Any) -> Response:
            now, [row_id] = row_times.now_ms(), map(str, which.values())
            await db.write(lambda c: delete(c, row_id, now))
            return no_content()

        self._add_for_one("DELETE", remove, words, None, 204)

    @property
    def _title(self) -> str:
        return self.name.title()

    @property
    def _model(self) -> Any:
        made = {"success": bool, self.name: self.row}
        return self.row if self.bare else answer(f"{self._title}Made", **made)

    def _made(self, row: Row) -> dict[str, Any]:
        shown = self.row.of(row)
        return shown if self.bare else {"success": True, self.name: shown}

    def _add_for_one(
        self,
        method: str,
        call: Callable[..., Awaitable[Response]],
        words: str,
        model: Any,
        status: int = 200,
        **body: Any,
    ) -> None:
        key = f"{self.name}_id"
        path = f"{self.path}/{{{key}}}" if self.key is IdPath else f"{self.path}/{{{key}:text}}"
        given = {key: self.key, **body}
        add_route(self.router, method, path, call, words, model, given, status)


def add_list(
    router: Router,
    path: str,
    plural: str,
    row: type[RowAnswer],
    find: Callable[..., Page],
    words: str,
    *,
    most: Any = Limit,
    usual: int = 100,
    **filters: Any,
) -> None:
    """Add a list with pages. `find(connection, limit, offset, **filters)` returns a page; a filter
    that is not given is None."""

    async def listed(db: Database, limit: int, offset: int, **wanted: Any) -> Response:
        page = await db.read(lambda c: find(c, limit, offset, **wanted))
        return respond({plural: row.of_each(page.rows), **paging(page)})

    model = answer(f"{row.__name__}List", Paged, **{plural: [row]})
    given: dict[str, Any] = {
        name: (Annotated[kind | None, Query()], None) for name, kind in filters.items()
    }
    given |= {"limit": (most, usual), "offset": (Offset, 0)}
    add_route(router, "GET", path, listed, words, model, given)


def add_route(
    router: Router,
    method: str,
    path: str,
    call: Callable[..., Awaitable[Response]],
    words: str,
    model: Any,
    parameters: Mapping[str, Any],
    status: int = 200,
    responses: Mapping[int | str, dict[str, Any]] = NOT_FOUND,
) -> None:
    """Add a route whose parameters are known only now: each is what it may hold, with its default
    if it has one. The call also gets the database."""

    async def handler(**values: Any) -> Response:
        return await call(**values)

    taken = [Parameter("db", Parameter.KEYWORD_ONLY, annotation=Db)]
    for name, kind in parameters.items():
        kind, default = kind if isinstance(kind, tuple) else (kind, Parameter.empty)
        taken.append(Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default))
    handler.__signature__ = Signature(taken)  # type: ignore[attr-defined]
    router.add_api_route(
        path,
        handler,
        methods=[method],
        name=call.__name__,
        description=words,
        status_code=status,
        response_model=model,
        response_class=Response,
        responses={**responses},
    )
