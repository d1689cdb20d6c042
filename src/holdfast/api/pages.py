"""The dashboard's files under `/ui/`, and the policy that every answer carries.

The files hold no data, so they are served without a token. Browsers may cache files with a hash in
their names (`assets/`) for a year; the others are checked each time. If the build made compressed
copies, they are used.
"""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

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
TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".txt": "text/plain",
}
PACKED = {"br": ".br", "gzip": ".gz"}  # the better one first
NOT_BUILT = (
    "<!doctype html><title>Holdfast</title><p>The dashboard is not part of this installation. "
    "In a checkout, <code>make dashboard</code> builds it."
)


def is_page(path: str) -> bool:
    """Whether this is the address of a page or one of its files; these need no token."""
    return path in (START, PLACE[:-1]) or path.startswith(PLACE)


def join(app: FastAPI, folder: Path = FOLDER) -> None:
    """Add the page routes. They answer no data, so the API description leaves them out."""
    methods = ["GET", "HEAD"]

    async def file(request: Request) -> Response:
        accepted = request.headers.get("accept-encoding", "")
        return _file(folder, request.path_params["path"], accepted)

    app.router.routes += [
        Route(START, _to_page, methods=methods),
        Route(PLACE[:-1], _to_page, methods=methods),
        Route(f"{PLACE}{{path:path}}", file, methods=methods),
    ]


async def _to_page(_request: Request) -> Response:
    return RedirectResponse(PLACE)


def _file(folder: Path, name: str, accepted: str) -> Response:
    path = _find_file(folder, name or "index.html")
    if path is None:
        return _missing(folder, name)
    kept = "public, max-age=31536000, immutable" if name.startswith("assets/") else "no-cache"
    headers = {"Cache-Control": kept, "Vary": "Accept-Encoding"}
    for encoding, suffix in PACKED.items():
        packed = path.with_name(path.name + suffix)
        if encoding in accepted and packed.is_file():
            headers["Content-Encoding"] = encoding
            return FileResponse(packed, headers=headers, media_type=TYPES[path.suffix])
    return FileResponse(path, headers=headers, media_type=TYPES[path.suffix])


def _find_file(folder: Path, name: str) -> Path | None:
    """Find a file of ours: of a known kind, and no link or `..` leads out of the folder."""
    try:
        path = (folder / name).resolve()
        inside = path.is_relative_to(folder.resolve()) and path.suffix in TYPES
        return path if inside and path.is_file() else None
    except (OSError, ValueError):  # a name no file can have
        return None


def _missing(folder: Path, name: str) -> Response:
    if name in ("", "index.html") and not (folder / "index.html").is_file():
        return HTMLResponse(NOT_BUILT, 404)
    return HTMLResponse("<!doctype html><title>Holdfast</title><p>Not found", 404)
