"""The routes that are the same for every noun: create, list, get, change, delete.

A routes module says which function of `hub` does the work, which models body and answer have, and
what the route is for; it adds what only its noun can do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy.engine import Connection

from holdfast.api.fields import Body, IdPath, Limit, Offset
from holdfast.api.responses import Paged, Router, RowAnswer, answer, paging
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

    def create(self, body: type[Body], make: Callable[..., Row], words: str, **more: Any) -> None:
        """`make(connection, given, now_ms)` returns the row."""

        def post(connection: Connection, body: Body) -> dict[str, Any]:
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

        def listed(connection: Connection, **asked: Any) -> dict[str, Any]:
            page = find(connection, **asked)
            return {self.plural: row.of_each(page.rows), **paging(page)}

        model = answer(f"{row.__name__}List", Paged, **{self.plural: [row]})
        given: dict[str, Any] = {
            name: (Annotated[kind | None, Query()], None) for name, kind in filters.items()
        }
        given |= {"limit": (most, usual), "offset": (Offset, 0)}
        self.router.add("GET", self.path, model, listed, given, words)

    def get(self, whole: Any, read: Callable[[Connection, str], Row], words: str) -> None:
        """`read(connection, id)` returns the answer: the row with what belongs to it."""

        def get(connection: Connection, **which: Any) -> dict[str, Any]:
            found = read(connection, *map(str, which.values()))
            return found if self.bare else {self.name: found}

        model = whole if self.bare else answer(f"{self.name.title()}Found", **{self.name: whole})
        self.router.add("GET", self._one, model, get, self._key, words)

    def change(self, body: type[Body], make: Callable[..., Row], words: str) -> None:
        """`make(connection, id, given, now_ms)` returns the row."""

        def patch(connection: Connection, body: Body, **which: Any) -> dict[str, Any]:
            [row_id] = map(str, which.values())
            return self._made(make(connection, row_id, body.given, row_times.now_ms()))

        given = {**self._key, "body": body}
        self.router.add("PATCH", self._one, self._model, patch, given, words, writes=True)

    def remove(self, delete: Callable[..., Any], words: str) -> None:
        """`delete(connection, id, now_ms)`."""

        def remove(connection: Connection, **which: Any) -> None:
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
        made = {"success": bool, self.name: self.row}
        return self.row if self.bare else answer(f"{self.name.title()}Made", **made)

    def _made(self, row: Row) -> dict[str, Any]:
        shown = self.row.of(row)
        return shown if self.bare else {"success": True, self.name: shown}
