"""The dashboard's files under `/ui/`, and the policy that every answer carries.

The files hold no data, so they are served without a token.
"""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

FOLDER = Path(__file__).parent / "dashboard"
START, PLACE = "/", "/ui/"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types svelte-trusted-html"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
FOR_A_YEAR = "public, max-age=31536000, immutable"
MISSING = "<!doctype html><title>Holdfast</title><p>Not found"
NOT_BUILT = (
    "<!doctype html><title>Holdfast</title><p>The dashboard is not part of this installation. "
    "In a checkout, <code>make dashboard</code> builds it."
)


def is_page(path: str) -> bool:
    """Whether this is the address of a page or one of its files; these need no token."""
    return path in (START, PLACE[:-1]) or path.startswith(PLACE)


class Files(StaticFiles):
    """Files with a hash in their names may be cached for a year; the others are checked each
    time."""

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


def join(app: FastAPI, folder: Path = FOLDER) -> None:
    """Add the page routes. They answer no data, so the API description leaves them out."""
    methods, files = ["GET", "HEAD"], Files(directory=folder, check_dir=False)
    app.router.routes += [
        Route(START, _to_page, methods=methods),
        Route(PLACE[:-1], _to_page, methods=methods),
        Route(f"{PLACE}{{path:path}}", files.answer, methods=methods),
    ]


async def _to_page(_request: Request) -> Response:
    return RedirectResponse(PLACE)
