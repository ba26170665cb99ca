"""Serves what was built: the web app, one page for every address, and the documentation under /docs; pre-compressed."""

from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from anyio import to_thread
from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

WEB_ROOT = Path(str(files("steward.api"))) / "web"
DOCS_ROOT = Path(str(files("steward.api"))) / "docs"
_ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
_YEAR = "public, max-age=31536000, immutable"
_NOT_BUILT = """<!doctype html><html lang="en"><title>Steward</title>
<h1>The web app is not built</h1>
<p>Run <code>make up</code> in the checkout, which builds it. The API works: see
<a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</p></html>"""
_NO_DOCS = """<!doctype html><html lang="en"><title>Documentation - Steward</title>
<h1>The documentation is not built</h1>
<p>Run <code>make up</code> in the checkout, which builds it. The same pages are Markdown files in its folder
<code>docs</code>.</p><p><a href="/">Back to Steward</a></p></html>"""


def install(api: FastAPI, root: Path = WEB_ROOT, docs: Path = DOCS_ROOT) -> None:
    """Answers what no route knows: pages of the web app and of the documentation, and 404 for everything else."""

    async def fallback(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketClose()(scope, receive, send)
            return
        path = scope["path"].lstrip("/")
        if path.startswith("api/") or scope["method"] not in {"GET", "HEAD"}:
            raise HTTPException(404)
        first, _, rest = path.partition("/")
        if first == "docs":
            response = await to_thread.run_sync(_serve_docs, Request(scope), docs, rest)
        else:
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
    if path and _exists(wanted):
        cache = _YEAR if path.startswith("assets/") else "no-cache"
        return _file(request, wanted, cache)
    if path.startswith("assets/"):
        raise HTTPException(404)
    return _file(request, index, "no-cache")


def _serve_docs(request: Request, root: Path, path: str) -> Response:
    """A page of the site is a folder; its links count on the slash at the end of the address."""
    if not (root / "index.html").is_file():
        return HTMLResponse(_NO_DOCS, status_code=503)
    wanted = (root / path).resolve()
    if not wanted.is_relative_to(root.resolve()):
        raise HTTPException(404)
    if _exists(wanted / "index.html"):
        if not request.url.path.endswith("/"):
            return RedirectResponse(f"/docs/{quote(path)}".rstrip("/") + "/", status_code=308)
        return _file(request, wanted / "index.html", "no-cache")
    if _exists(wanted):
        return _file(request, wanted, _YEAR if path.startswith("assets/") else "no-cache")
    lost = _file(request, root / "404.html", "no-cache")
    lost.status_code = 404
    return lost


def _exists(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # The system refuses names that are too long to be those of a file.
        return False


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
        ".xml": "application/xml",
        ".ico": "image/x-icon",
        ".json": "application/json",
        ".woff2": "font/woff2",
        ".txt": "text/plain; charset=utf-8",
        ".webmanifest": "application/manifest+json",
    }
    return known.get(path.suffix, "application/octet-stream")
