"""The application: routes, and one database behind them. `serve` puts the gate in front."""

from __future__ import annotations

import time

from fastapi import FastAPI

import holdfast
from holdfast.api import (
    actions,
    active,
    agent_contexts,
    audit,
    blocking,
    capacity,
    claims,
    compact,
    context,
    events,
    exchange,
    health,
    hierarchy,
    intake,
    messages,
    metrics,
    projects,
    requests,
    sessions,
    slips,
    subscriptions,
    subtasks,
    tasks,
    waves,
)
from holdfast.api.database import Database
from holdfast.api.handing import Handing
from holdfast.api.listening import Hub
from holdfast.settings import load
from holdfast.store.store import Store
from holdfast.work import topics

ROUTERS = (
    actions.router,  # first what comes most: each route is asked in turn, some 2 µs each
    messages.router,
    exchange.router,
    health.router,
    metrics.router,
    projects.router,
    sessions.router,
    active.router,
    requests.router,
    tasks.router,
    subtasks.router,
    hierarchy.router,
    waves.router,
    compact.router,
    capacity.router,
    context.router,
    agent_contexts.router,
    audit.router,
    subscriptions.router,
    blocking.router,
    claims.router,
    events.router,
    intake.router,
)


def create(store: Store) -> FastAPI:
    app = FastAPI(
        title="Holdfast",
        version=holdfast.__version__,
        summary="What sessions and agents of Claude Code know together",
        docs_url=None,
        redoc_url=None,
        openapi_url="/openapi.json",
        redirect_slashes=False,
    )
    app.state.started = time.monotonic()
    put_behind(app, store)
    slips.install(app)
    for router in ROUTERS:
        router.join(app)
    return app


def put_behind(app: FastAPI, store: Store) -> None:
    """What routes ask for, on this database."""
    app.state.database = Database(store)
    app.state.handing = Handing(store)
    app.state.hub = Hub(store)
    app.state.topics = topics.known(load.load().word("topics"))
