"""A router of ours: what every route may answer, and large bodies taken aside.

Its routes stand in the application itself, one after the other: routers within routers are asked
each in turn, which took longer than all the rest of a request.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, FastAPI

from holdfast.api.large_bodies import Route

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
