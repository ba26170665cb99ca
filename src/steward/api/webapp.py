"""Serves the built web app: immutable assets, pre-compressed, and one page for every address."""

from importlib.resources import files
from pathlib import Path

from anyio import to_thread
from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

WEB_ROOT = Path(str(files("steward.api"))) / "web"
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
_YEAR = "public, max-age=31536000, immutable"
_NOT_BUILT = """<!doctype html><html lang="en"><title>Steward</title>
<h1>The web app is not built</h1>
<p>Run <code>make up</code> in the checkout, which builds it. The API works: see
<a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</p></html>"""


def install(api: FastAPI, root: Path = WEB_ROOT) -> None:
    """Answers what no route knows: pages of the web app, and 404 for everything else."""

    async def fallback(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
            return
        path = scope["path"].lstrip("/")
        if path.startswith("api/") or scope["method"] not in {"GET", "HEAD"}:
            raise HTTPException(404)
        response = await to_thread.run_sync(_serve, Request(scope), root, path)
        await response(scope, receive, send)

    api.router.default = fallback


def _serve(request: Request, root: Path, path: str) -> Response:
    index = root / "index.html"
    if not index.is_file():
        return HTMLResponse(_NOT_BUILT, status_code=503)
    wanted = (root / path).resolve()
    if not wanted.is_relative_to(root.resolve()):
        raise HTTPException(404)
    if path and wanted.is_file():
        cache = _YEAR if path.startswith("assets/") else "no-cache"
        return _file(request, wanted, cache)
    if path.startswith("assets/"):
        raise HTTPException(404)
    return _file(request, index, "no-cache")


def _file(request: Request, path: Path, cache: str) -> Response:
    headers = {"Cache-Control": cache, "Vary": "Accept-Encoding"}
    media_type = _media_type(path)
    accepted = request.headers.get("accept-encoding", "")
    for encoding, suffix in _ENCODINGS:
        packed = path.with_name(path.name + suffix)
        if encoding in accepted and packed.is_file():
            headers["Content-Encoding"] = encoding
            return FileResponse(packed, headers=headers, media_type=media_type)
    return FileResponse(path, headers=headers, media_type=media_type)


def _media_type(path: Path) -> str:
    # Not guessed from the machine's own table: it differs between systems.
    known = {
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".svg": "image/svg+xml",
        ".png": "image/png",
        ".ico": "image/x-icon",
        ".json": "application/json",
        ".woff2": "font/woff2",
        ".txt": "text/plain; charset=utf-8",
        ".webmanifest": "application/manifest+json",
    }
    return known.get(path.suffix, "application/octet-stream")
