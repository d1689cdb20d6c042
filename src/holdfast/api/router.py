"""A router of ours: what every route may answer, and large bodies taken aside.

Its routes stand in the application itself, one after the other: routers within routers are asked
each in turn, which took longer than all the rest of a request.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, FastAPI

from holdfast.api import errors
from holdfast.api.large_bodies import Route

COMMON: dict[int | str, dict[str, Any]] = {
    400: {"description": "Something about the request does not fit", "model": errors.Slip},
    401: {"description": "No token, or not the right one", "model": errors.Slip},
    429: {"description": "Too many requests: `Retry-After`", "model": errors.Slip},
    503: {"description": "The database does not answer", "model": errors.Slip},
}


class Router(APIRouter):
    def __init__(self, prefix: str = "", *, tags: list[str]) -> None:
        super().__init__(prefix=prefix, tags=[*tags], responses=COMMON, route_class=Route)

    def join(self, app: FastAPI) -> None:
        app.router.routes.extend(self.routes)
