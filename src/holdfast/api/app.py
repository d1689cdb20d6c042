"""The application: routes, and one database behind them. `serve` puts the gate in front.

To add a route: in a module of `routes/`, which is listed in `MODULES`.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

import holdfast
from holdfast.api import responses
from holdfast.api.database import Database, Hub
from holdfast.api.gate import PLACE, START, Token
from holdfast.api.login import Tickets
from holdfast.api.routes import board, capacity, contexts, events, server, sessions, tree
from holdfast.api.routes.machine import (
    budget,
    checkpoints,
    compactions,
    health,
    history,
    readings,
    search,
    session_view,
)
from holdfast.hub.store.store import Store

if TYPE_CHECKING:  # older releases of FastAPI have no telemetry
    from fastapi.telemetry import TelemetryConfig

MODULES = (  # in the order in which they are tried and described
    # before the sessions, whose ids may hold a slash
    *(readings, session_view, sessions, tree, board),
    # before the contexts, of whose agents none is called "health"
    *(capacity, contexts, events, server),
    *(compactions, checkpoints, search, budget, history, health),
)
ROUTES = [route for module in MODULES for route in module.router.routes]

# FastAPI can report every request to a collector that the environment names: nothing of ours does.
NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "auto_configure": False,
}


def create(store: Store, token: Token | None = None) -> FastAPI:
    """Create the application. `token`: the gate checks it, and a ticket is exchanged for it."""
    app = FastAPI(
        title="Holdfast",
        version=holdfast.__version__,
        summary="What sessions and agents of Claude Code know together",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=NO_TELEMETRY,
    )
    app.state.started = time.monotonic()
    put_behind(app, store)
    responses.install(app)
    app.router.routes += ROUTES
    join_pages(app)
    app.state.tickets = Tickets(token)
    return app


def put_behind(app: FastAPI, store: Store) -> None:
    """Attach the database and everything else that routes use."""
    app.state.database = Database(store)
    app.state.hub = Hub(store)


FOLDER = Path(__file__).parent / "dashboard"
FOR_A_YEAR = "public, max-age=31536000, immutable"
MISSING = "<!doctype html><title>Holdfast</title><p>Not found"
NOT_BUILT = (
    "<!doctype html><title>Holdfast</title><p>The dashboard is not part of this installation. "
    "In a checkout, <code>make dashboard</code> builds it."
)


class Files(StaticFiles):
    """Files with a hash in their names may be cached for a year."""

    async def answer(self, request: Request) -> Response:
        name = request.path_params["path"] or "index.html"
        try:
            response = await self.get_response(name, request.scope)
        except HTTPException:
            is_built = self.lookup_path("index.html")[1] is not None
            return HTMLResponse(MISSING if is_built else NOT_BUILT, 404)
        is_hashed = name.startswith("assets/")
        response.headers["Cache-Control"] = FOR_A_YEAR if is_hashed else "no-cache"
        return response


def join_pages(app: FastAPI, folder: Path = FOLDER) -> None:
    """Add the dashboard's pages. They hold no data, so they need no token, and the API description
    leaves them out."""
    methods, files = ["GET", "HEAD"], Files(directory=folder, check_dir=False)
    app.router.routes += [
        Route(START, _to_page, methods=methods),
        Route(PLACE[:-1], _to_page, methods=methods),
        Route(f"{PLACE}{{path:path}}", files.answer, methods=methods),
    ]


async def _to_page(_request: Request) -> Response:
    return RedirectResponse(PLACE)
