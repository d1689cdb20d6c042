"""The application: routes, and one database behind them. `serve` puts the gate in front.

To add a route: in a module of `routes/`, which is listed in `MODULES`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fastapi import FastAPI

import holdfast
from holdfast.api import pages, responses
from holdfast.api.database import Database, Hub
from holdfast.api.gate import Token
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
    """Create the application. `token` is the one the gate checks; a login ticket is exchanged
    for it."""
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
    pages.join(app)
    app.state.tickets = Tickets(token)
    return app


def put_behind(app: FastAPI, store: Store) -> None:
    """Attach the database and everything else that routes use."""
    app.state.database = Database(store)
    app.state.hub = Hub(store)
