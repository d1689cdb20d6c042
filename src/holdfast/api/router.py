"""A router of ours: what every route may answer, and large bodies taken aside.

Its routes stand in the application itself, one after the other: routers within routers are asked
each in turn, which took longer than all the rest of a request.

A large body is parsed, validated and looked through for secrets on another thread: megabytes of
bait may take a second, and nobody else is to wait for that. One thread for all of them, which
nothing else uses: however many come, they wait for each other.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.types import Scope

LARGE_BYTES = 64 << 10  # less than this is done before a thread has woken
_ASIDE = ThreadPoolExecutor(1, "holdfast-large")


JSON = (b"content-type", b"application/json")


class Route(APIRoute):
    """As any other, for a body that is a model of ours (`fields.Body`).

    Every body is read as JSON, whatever its type is called: curl calls it a form unless told, and
    scripts that hide its output would not see that their save was refused. The gate has turned
    away what pages of other origins send.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle, field = super().get_route_handler(), self.body_field
        if field is None:
            return handle

        async def handled(request: Request) -> Response:
            try:
                return await handle(_Request(_as_json(request.scope), request.receive, field))
            except HTTPException as error:  # as which everything is told that json() raises
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
        """A large one comes as the model it is: validating that again is looking at its type."""
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
_SLIP = {"application/json": {"schema": {"$ref": "#/components/schemas/Slip"}}}
COMMON: dict[int | str, dict[str, Any]] = {
    400: {"description": "Something about the request does not fit", "content": _SLIP},
    401: {"description": "No token, or not the right one", "content": _SLIP},
    429: {"description": "Too many requests: `Retry-After`", "content": _SLIP},
    503: {"description": "The database does not answer", "content": _SLIP},
}


class Router(APIRouter):
    def __init__(self, prefix: str = "", *, tags: list[str]) -> None:
        super().__init__(prefix=prefix, tags=[*tags], responses=COMMON, route_class=Route)

    def join(self, app: FastAPI) -> None:
        app.router.routes.extend(self.routes)
