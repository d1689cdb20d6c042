"""The application: routes, one database behind them, and the answer to every error: `{"error": …}`,
with the fields at fault. No request causes a 500. `serve` puts the gate in front.

To add a route: in a module of `routes/`, which is listed in `MODULES`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

import holdfast
from holdfast.api.gate import PLACE, START, Token
from holdfast.api.login import Tickets
from holdfast.api.responses import Database
from holdfast.api.routes import board, capacity, contexts, events, server, sessions, tree
from holdfast.api.routes.events import Crowded, Hub
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
from holdfast.hub.errors import AlreadyThere, NotThere, Refused
from holdfast.hub.store.rows import Row
from holdfast.hub.store.store import Store
from holdfast.wire import log
from holdfast.wire.errors import HoldfastError

MODULES = (  # in the order in which they are tried and described
    # before the sessions, whose ids may hold a slash
    *(readings, session_view, sessions, tree, board),
    # before the contexts, of whose agents none is called "health"
    *(capacity, contexts, events, server),
    *(compactions, checkpoints, search, budget, history, health),
)
ROUTES = [route for module in MODULES for route in module.router.routes]

# FastAPI can report every request to a collector that the environment names: nothing of ours does.
NO_TELEMETRY: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}


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
        exception_handlers=dict.fromkeys(HANDLED, _on_error),
    )
    app.state.started = time.monotonic()
    put_behind(app, store)
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


HANDLED = (RequestValidationError, RecursionError, HoldfastError, HTTPException, Exception)


async def _on_error(_request: Request, error: Any) -> Response:
    status, words, more, headers = _describe_error(error)
    return JSONResponse({"error": words, **more}, status, headers=headers)


def _describe_error(error: Exception) -> tuple[int, str, Row, Mapping[str, str] | None]:
    """Return the status, the words, further fields and headers of an error."""
    match error:
        case RequestValidationError():
            return 400, *_invalid_fields(error), None
        case RecursionError():
            return 400, "Validation failed", {"details": {"body": ["nested too deep"]}}, None
        case Refused():
            details = {"details": {error.field: [str(error)]}} if error.field else {}
            return 400, str(error), details, None
        case NotThere():
            return 404, str(error), {}, None
        case AlreadyThere():
            return 409, str(error), {"id": error.which, **error.more}, None
        case Crowded():
            return 503, str(error), {}, {"Retry-After": "5"}
        case HoldfastError():  # the database or the disk failed; the error says how
            log.add("ERROR", "api", str(error))
            return 503, str(error), {"try_next": error.hint}, None
        case HTTPException():  # its words are "Not Found", "Method Not Allowed"
            return error.status_code, str(error.detail).capitalize(), {}, error.headers
    first = str(error).partition("\n")[0]  # below it PostgreSQL quotes the row
    log.add("ERROR", "api", f"{type(error).__name__}: {first}"[:300])
    return 500, "Something went wrong; holdfast log says what", {}, None


# A part of a location that is a field, and not pydantic's own (`function-after[…]`).
FIELD = re.compile(r"(?!constrained-)[\w-]+")


def _invalid_fields(failure: RequestValidationError) -> tuple[str, dict[str, Any]]:
    details: dict[str, list[str]] = {}
    for error in failure.errors():
        where, *rest = (str(part) for part in error["loc"] if FIELD.fullmatch(str(part)))
        name = ".".join(rest) if rest and error["type"] != "json_invalid" else where
        details.setdefault(name, []).append(str(error["msg"]))
    query_only = all(str(error["loc"][0]) == "query" for error in failure.errors())
    words = "Invalid query parameters" if query_only else "Validation failed"
    return words, {"details": details}
