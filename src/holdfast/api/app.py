"""The application: routes, and one database behind them. `serve` puts the gate in front.

To add a route: a module in `routes/`, and its router in `ROUTERS` here."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

import holdfast
from holdfast.api import pages, responses
from holdfast.api.database import Database
from holdfast.api.event_listeners import Hub
from holdfast.api.gate import Token
from holdfast.api.login_tickets import Tickets
from holdfast.api.message_handout import MessageHandout
from holdfast.api.route_table import Listed, RouteTable
from holdfast.hub.board.messages import known_topics
from holdfast.hub.store.store import Store
from holdfast.settings import load

if TYPE_CHECKING:  # older releases of FastAPI have no telemetry
    from fastapi.telemetry import TelemetryConfig

ROUTERS = (  # in the order in which they are tried and described
    Listed("actions:router", "/api/actions"),
    Listed("messages:router", "/api/messages"),
    Listed("team:exchange_router", "/api/messages"),
    Listed("health:router", "/health", "/api/server", "/stats", "/api/cleanup"),
    Listed("health:metrics_router", "/metrics"),
    Listed("projects:router", "/api/projects"),
    # before the sessions, whose ids may hold a slash
    Listed("machine.readings:router", "/api/sessions"),
    Listed("machine.session_view:router", "/api/sessions"),
    Listed("sessions:router", "/api/sessions"),
    Listed("sessions:active_router", "/api/active-sessions"),
    Listed("requests:router", "/api/requests"),
    Listed("tasks:router", "/api/tasks"),
    Listed("subtasks:router", "/api/subtasks"),
    Listed("projects:hierarchy_router", "/api/hierarchy"),
    Listed("tasks:wave_router", "/api/waves"),
    Listed("compact:router", "/api/compact"),
    Listed("machine.compactions:router", "/api/compactions"),
    Listed("machine.checkpoints:router", "/api/checkpoints"),
    Listed("machine.search:router", "/api/search"),
    Listed("machine.settings:router", "/api/settings", "/api/log"),
    Listed("machine.budget:router", "/api/budget"),
    Listed("machine.today:router", "/api/today"),
    Listed("login:router", "/api/login"),
    Listed("capacity:router", "/api/tokens", "/api/capacity", "/api/context"),
    Listed("agent_contexts:context_router", "/api/context"),
    Listed("agent_contexts:router", "/api/agent-contexts"),
    Listed("events:audit_router", "/api/audit"),
    Listed("subscriptions:router", "/api/subscribe", "/api/subscriptions", "/api/unsubscribe"),
    Listed("blocking:router", "/api/blocking", "/api/unblock"),
    Listed("claims:router", "/api/claims"),
    Listed("events:router", "/api/events"),
    Listed("team:router", "/api/intake"),
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
    app.state.route_table = RouteTable(ROUTERS)
    app.router.routes.append(app.state.route_table)
    pages.join(app)
    app.state.tickets = Tickets(token)
    return app


def put_behind(app: FastAPI, store: Store) -> None:
    """Attach the database and everything else that routes use."""
    app.state.database = Database(store)
    app.state.handing = MessageHandout(store)
    app.state.hub = Hub(store)
    app.state.topics = known_topics(load.load().word("topics"))
