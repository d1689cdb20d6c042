"""The application: routes, and one database behind them. `serve` puts the gate in front.

To add a route: a module in `routes/`, and its router in `ROUTERS` here."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fastapi import FastAPI

import holdfast
from holdfast.api import pages, responses
from holdfast.api.database import Database
from holdfast.api.event_listeners import Hub
from holdfast.api.gate import Token
from holdfast.api.routes import (
    actions,
    agent_contexts,
    blocking,
    capacity,
    claims,
    compact,
    events,
    health,
    login,
    messages,
    projects,
    requests,
    sessions,
    subscriptions,
    subtasks,
    tasks,
    team,
)
from holdfast.api.routes.machine import (
    budget,
    checkpoints,
    compactions,
    readings,
    search,
    session_view,
    settings,
    today,
)
from holdfast.api.routes.messages import MessageHandout
from holdfast.hub.board.messages import known_topics
from holdfast.hub.store.store import Store
from holdfast.settings import load

if TYPE_CHECKING:  # older releases of FastAPI have no telemetry
    from fastapi.telemetry import TelemetryConfig

ROUTERS = (
    actions.router,  # the most frequent first: routes are tried in order, 2 µs each
    messages.router,
    team.exchange_router,
    health.router,
    health.metrics_router,
    projects.router,
    readings.router,  # before the sessions, whose ids may hold a slash
    session_view.router,
    sessions.router,
    sessions.active_router,
    requests.router,
    tasks.router,
    subtasks.router,
    projects.hierarchy_router,
    tasks.wave_router,
    compact.router,
    compactions.router,
    checkpoints.router,
    search.router,
    settings.router,
    budget.router,
    today.router,
    login.router,
    capacity.router,
    agent_contexts.context_router,
    agent_contexts.router,
    events.audit_router,
    subscriptions.router,
    blocking.router,
    claims.router,
    events.router,
    team.router,
)

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
        openapi_url="/openapi.json",
        redirect_slashes=False,
        telemetry=NO_TELEMETRY,
    )
    app.state.started = time.monotonic()
    put_behind(app, store)
    responses.install(app)
    for router in ROUTERS:
        router.join(app)
    pages.join(app)
    app.state.tickets = login.Tickets(token)
    return app


def put_behind(app: FastAPI, store: Store) -> None:
    """Attach the database and everything else that routes use."""
    app.state.database = Database(store)
    app.state.handing = MessageHandout(store)
    app.state.hub = Hub(store)
    app.state.topics = known_topics(load.load().word("topics"))
