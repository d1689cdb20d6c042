"""The application: routes, and one database behind them. `serve` puts the gate in front.

To add a route: in a module of `routes/`, whose addresses are listed in `ROUTERS`. A module of
routes is imported at the first request for one of its addresses: importing all of them took a third
of the time in which `serve` starts.
"""

from __future__ import annotations

import importlib
import time
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

import holdfast
from holdfast.api import pages, responses, routes
from holdfast.api.database import Database, Hub
from holdfast.api.gate import Token
from holdfast.api.login import Tickets
from holdfast.hub.store.store import Store

if TYPE_CHECKING:  # older releases of FastAPI have no telemetry
    from fastapi.telemetry import TelemetryConfig


class Listed(BaseRoute):
    """The routes of a module in `routes/`, and their addresses: the first two parts of their
    paths. For the framework it is one route, which hands each request to the one that it is for."""

    def __init__(self, name: str, *addresses: str) -> None:
        self.name = name
        self.addresses = addresses

    @property
    def routes(self) -> list[BaseRoute]:
        router = importlib.import_module(f"{routes.__name__}.{self.name}").router
        assert isinstance(router, responses.Router)
        return router.routes

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return the first route that fits, else the first that fits but for its method."""
        fitting: tuple[Match, Scope] = Match.NONE, {}
        if "/".join(scope["path"].split("/", 3)[:3]) not in self.addresses:
            return fitting
        for route in self.routes:
            match, child_scope = route.matches(scope)
            if match is Match.FULL:
                return match, child_scope
            if fitting[0] is Match.NONE:
                fitting = match, child_scope
        return fitting

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """`scope["route"]` is what `matches` found."""
        await scope["route"].handle(scope, receive, send)


ROUTERS = (  # in the order in which they are tried and described
    # before the sessions, whose ids may hold a slash
    Listed("machine.readings", "/api/sessions"),
    Listed("machine.session_view", "/api/sessions"),
    Listed("sessions", "/api/sessions", "/api/active-sessions", "/api/actions"),
    Listed(
        "tree",
        *("/api/projects", "/api/requests", "/api/tasks", "/api/subtasks"),
        *("/api/hierarchy", "/api/waves"),
    ),
    Listed(
        "board",
        *("/api/messages", "/api/subscribe", "/api/subscriptions", "/api/unsubscribe"),
        *("/api/blocking", "/api/unblock", "/api/claims"),
    ),
    # before the contexts, of whose agents none is called "health"
    Listed("capacity", "/api/tokens", "/api/capacity", "/api/context"),
    Listed("contexts", "/api/compact", "/api/context", "/api/agent-contexts"),
    Listed("events", "/api/events", "/api/audit", "/api/intake"),
    Listed("server", "/health", "/api/server", "/stats", "/api/cleanup", "/metrics", "/api/login"),
    Listed("machine.compactions", "/api/compactions"),
    Listed("machine.checkpoints", "/api/checkpoints"),
    Listed("machine.search", "/api/search"),
    Listed("machine.settings", "/api/settings", "/api/log"),
    Listed("machine.budget", "/api/budget"),
    Listed("machine.today", "/api/today"),
    Listed("machine.history", "/api/history", "/api/usage"),
    Listed("machine.health", "/api/machine"),
)


# FastAPI can report every request to a collector that the environment names: nothing of ours does.
NO_TELEMETRY: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "auto_configure": False,
}


class Application(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """Describe all routes, which imports them."""
        if not self.openapi_schema:
            self.openapi_schema = get_openapi(
                title=self.title,
                version=self.version,
                summary=self.summary,
                routes=[route for router in ROUTERS for route in router.routes],
            )
        return self.openapi_schema


def create(store: Store, token: Token | None = None) -> FastAPI:
    """Create the application. `token` is the one the gate checks; a login ticket is exchanged
    for it."""
    app = Application(
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
    app.router.routes += ROUTERS
    pages.join(app)
    app.state.tickets = Tickets(token)
    return app


def put_behind(app: FastAPI, store: Store) -> None:
    """Attach the database and everything else that routes use."""
    app.state.database = Database(store)
    app.state.hub = Hub(store)
