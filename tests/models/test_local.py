"""Models of this machine: fetched, resumed and verified; run in a server that is started, limited and stopped."""

import asyncio
import hashlib
import http.server
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from steward.core.errors import Conflict, Denied, Invalid, Misconfigured, NotFound, Unavailable
from steward.core.settings import ModelChoice, ModelsSettings
from steward.models import Chosen, ConfiguredModels, Failed, Request, User
from steward.models.local import (
    LocalServers,
    Shelf,
    fetch,
    find_ollama,
    found_here,
    listed_weights,
)
from steward.models.local.ollama import pull_from_ollama
from tests.models.kit import Watcher

WEIGHTS = b"GGUF" + bytes(range(256)) * 4_000
DIGEST = hashlib.sha256(WEIGHTS).hexdigest()


class Files(http.server.BaseHTTPRequestHandler):
    """Serves the weights, and breaks off after `cut` bytes as long as there are cuts left."""

    cuts: list[int]
    ranges: list[str]
    content = WEIGHTS
    tag: str | None = '"1"'
    elsewhere = "/w"

    def do_GET(self) -> None:
        if self.path == "/api/tags":
            return self._whole(b'{"models": [{"name": "small:1b"}]}')
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("location", self.elsewhere)
            self.send_header("content-length", "0")
            return self.end_headers()
        asked = self.headers.get("range")
        if self.headers.get("if-range") not in {None, self.tag}:
            asked = None
        self.ranges.append(asked or "")
        begin = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
        rest = self.content[begin:]
        if asked and not rest:
            self.send_response(416)
            self.send_header("content-length", "0")
            return self.end_headers()
        self.send_response(206 if asked else 200)
        if asked:
            last, total = len(self.content) - 1, len(self.content)
            self.send_header("content-range", f"bytes {begin}-{last}/{total}")
        if self.tag is not None:
            self.send_header("etag", self.tag)
        self.send_header("content-length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest[: self.cuts.pop(0)] if self.cuts else rest)
        return None

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self._whole(
            b'{"status": "pulling", "total": 10, "completed": 4}\n'
            b'{"status": "pulling", "total": 10, "completed": 10}\n{"status": "success"}\n'
        )

    def _whole(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def files() -> Iterator[tuple[str, type[Files]]]:
    handler = type("Handler", (Files,), {"cuts": [], "ranges": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", handler
        server.shutdown()
        thread.join()


def test_a_download_that_breaks_off_goes_on_where_it_stopped(
    files: tuple[str, type[Files]], tmp_path: Path
) -> None:
    url, handler = files
    handler.cuts = [100_000, 300_000]
    seen: list[int] = []
    target = tmp_path / "models" / "small.gguf"
    found = asyncio.run(fetch(f"{url}/w", target, DIGEST, lambda done, _: seen.append(done)))
    assert (found.bytes, found.verified) == (len(WEIGHTS), True)
    assert handler.ranges == ["", "bytes=100000-", "bytes=400000-"]
    assert target.read_bytes() == WEIGHTS
    assert seen[-1] == len(WEIGHTS)
    assert not target.with_suffix(".part").exists()


def test_what_arrived_stays_for_the_next_try(
    files: tuple[str, type[Files]], tmp_path: Path
) -> None:
    url, handler = files
    handler.cuts = [10, 10, 10, 10]
    shelf = Shelf(tmp_path)
    with pytest.raises(Unavailable, match="What arrived is kept"):
        asyncio.run(fetch(f"{url}/w", shelf.path("small")))
    assert shelf.arrived("small") == 40
    assert asyncio.run(fetch(f"{url}/w", shelf.path("small"))).bytes == len(WEIGHTS)
    assert [each.name for each in shelf.kept()] == ["small"]


def test_a_file_that_is_not_the_expected_one_is_removed(
    files: tuple[str, type[Files]], tmp_path: Path
) -> None:
    url, handler = files
    target = tmp_path / "small.gguf"
    with pytest.raises(Conflict, match="do not use this source"):
        asyncio.run(fetch(f"{url}/w", target, "0" * 64))
    assert not any(each.suffix in {".gguf", ".part", ".json"} for each in tmp_path.iterdir())
    asyncio.run(fetch(f"{url}/w", target, DIGEST))
    handler.content = WEIGHTS + b"more"
    with pytest.raises(Conflict, match="not " + DIGEST):
        asyncio.run(fetch(f"{url}/w", target))
    handler.content = b"<html>Sign in</html>"
    with pytest.raises(Invalid, match="not a GGUF file"):
        asyncio.run(fetch(f"{url}/w", tmp_path / "other.gguf"))
    assert target.read_bytes() == WEIGHTS


def test_weights_of_an_unknown_digest_wait_until_somebody_confirms_it(
    files: tuple[str, type[Files]], tmp_path: Path
) -> None:
    url, handler = files
    shelf = Shelf(tmp_path)
    target = shelf.path("small")
    first = asyncio.run(fetch(f"{url}/w", target))
    assert (first.sha256, first.verified) == (DIGEST, False)
    (kept,) = shelf.kept()
    assert (kept.sha256, kept.confirmed) == (DIGEST, False)
    with pytest.raises(Conflict, match=DIGEST):
        shelf.get("small")
    handler.ranges.clear()
    assert found_here(target, "0" * 64) is None
    confirmed = found_here(target, DIGEST)
    assert confirmed is not None
    assert confirmed.verified
    assert handler.ranges == [], "nothing is fetched again"
    assert shelf.get("small") == target


def test_parts_of_two_files_are_never_put_together(
    files: tuple[str, type[Files]], tmp_path: Path
) -> None:
    """An unknown digest cannot tell them apart, so a fetch begins again unless the server says it is the same file."""
    url, handler = files
    other = b"GGUF" + bytes(reversed(range(256))) * 4_000
    target = tmp_path / "small.gguf"

    def begun() -> None:
        handler.content, handler.cuts = WEIGHTS, [50_000, 10, 10, 10]
        with pytest.raises(Unavailable):
            asyncio.run(fetch(f"{url}/w", target))
        handler.content = other

    begun()
    handler.tag = '"2"'
    asyncio.run(fetch(f"{url}/w", target))
    assert target.read_bytes() == other, "the file at the address has changed"
    begun()
    asyncio.run(fetch(f"{url}/elsewhere", target))
    assert target.read_bytes() == other, "another address"
    handler.tag = None
    begun()
    asyncio.run(fetch(f"{url}/w", target))
    assert target.read_bytes() == other, "a server that cannot tell"


def test_a_known_digest_goes_on_from_another_address(
    files: tuple[str, type[Files]], tmp_path: Path
) -> None:
    url, handler = files
    target = tmp_path / "small.gguf"
    handler.cuts = [50_000, 10, 10, 10]
    with pytest.raises(Unavailable):
        asyncio.run(fetch(f"{url}/w", target, DIGEST))
    handler.ranges.clear()
    found = asyncio.run(fetch(f"{url}/mirror", target, DIGEST))
    assert handler.ranges == ["bytes=50030-"]
    assert found.verified


def test_a_file_of_another_length_is_refused_before_it_is_fetched(
    files: tuple[str, type[Files]], tmp_path: Path
) -> None:
    url, _ = files
    target = tmp_path / "small.gguf"
    with pytest.raises(Conflict, match="Check the address"):
        asyncio.run(fetch(f"{url}/w", target, DIGEST, size=len(WEIGHTS) + 1))
    assert not target.with_suffix(".part").exists()


def test_one_model_is_fetched_by_one_at_a_time(
    files: tuple[str, type[Files]], tmp_path: Path
) -> None:
    url, _ = files
    target = tmp_path / "small.gguf"

    async def both() -> list[object]:
        fetches = [fetch(f"{url}/w", target, DIGEST) for _ in range(2)]
        return list(await asyncio.gather(*fetches, return_exceptions=True))

    ended = asyncio.run(both())
    assert [isinstance(each, Conflict) for each in ended] == [False, True]
    assert target.read_bytes() == WEIGHTS


@pytest.mark.parametrize("url", ["http://example.com/w", "file:///etc/passwd", "ftp://x/y"])
def test_weights_come_by_https_only(url: str, tmp_path: Path) -> None:
    with pytest.raises(Denied):
        asyncio.run(fetch(url, tmp_path / "x.gguf"))


def test_a_redirect_is_looked_at_before_it_is_followed(
    files: tuple[str, type[Files]], tmp_path: Path
) -> None:
    url, handler = files
    target = tmp_path / "small.gguf"
    handler.elsewhere = url.replace("127.0.0.1", "127.0.0.2") + "/w"
    with pytest.raises(Denied, match="by https only"):
        asyncio.run(fetch(f"{url}/moved", target))
    handler.elsewhere = "/w"
    assert asyncio.run(fetch(f"{url}/moved", target)).bytes == len(WEIGHTS)


def test_the_list_says_what_is_known_before_anything_is_fetched() -> None:
    for each in listed_weights():
        assert each.licence
        assert each.sha256
        assert each.url is not None
        assert "/resolve/main/" not in each.url, "a branch moves"
        assert each.memory_bytes > each.bytes > 5e7
    with pytest.raises(Invalid):
        Shelf(Path()).path("../evil")


def test_ollama_is_found_and_pulls_with_progress(files: tuple[str, type[Files]]) -> None:
    url, _ = files
    found = asyncio.run(find_ollama(url))
    assert found is not None
    assert found.names == ("small:1b",)
    seen: list[tuple[int, int | None]] = []
    asyncio.run(pull_from_ollama("small:1b", lambda *told: seen.append(told), url))
    assert seen == [(4, 10), (10, 10)]
    assert asyncio.run(find_ollama("http://127.0.0.1:9")) is None


SERVER = """
import http.server, json, os, resource, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        assert self.headers['authorization'] == 'Bearer ' + os.environ['API_KEY']
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        message = {'role': 'assistant', 'content': f'limited to {limit}'}
        choice = {'index': 0, 'message': message, 'finish_reason': 'stop'}
        body = json.dumps({'id': '1', 'object': 'chat.completion', 'created': 1, 'model': 'm', 'choices': [choice]}).encode()
        self.send_response(200)
        self.send_header('content-type', 'application/json')
        self.send_header('content-length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
"""


def serving(tmp_path: Path, idle: float = 60.0) -> LocalServers:
    shelf = Shelf(tmp_path)
    shelf.path("small").write_bytes(WEIGHTS)
    return LocalServers(
        shelf,
        idle_seconds=idle,
        command=lambda _, port: [sys.executable, "-c", SERVER, str(port)],
    )


def asked(servers: LocalServers) -> str:
    models = ConfiguredModels(ModelsSettings(), servers=servers)
    choice = ModelChoice(provider="local", name="small", stream=False)
    backend = models.backend(Chosen(choice))
    return asyncio.run(backend.answer(Request("explainer", (User("?"),)), Watcher())).text


def test_a_local_model_is_started_limited_and_stopped_when_it_rests(tmp_path: Path) -> None:
    servers = serving(tmp_path, idle=0.2)
    assert servers.names() == []
    assert asked(servers) == f"limited to {len(WEIGHTS) * 2 + (3 << 30)}"
    until = time.monotonic() + 20
    while servers.names() and time.monotonic() < until:
        threading.Event().wait(0.02)
    assert servers.names() == [], "it rests"
    assert asked(servers).startswith("limited"), "and comes back"
    servers.close()
    assert servers.names() == []


def test_a_server_that_does_not_start_says_so(tmp_path: Path) -> None:
    servers = serving(tmp_path)
    servers._command = lambda *_: [sys.executable, "-c", "raise SystemExit(3)"]
    with pytest.raises(Failed, match="ended with 3 while it started"):
        asked(servers)
    with pytest.raises(Failed) as failed:
        asked(LocalServers(Shelf(tmp_path / "empty")))
    assert isinstance(failed.value.error, NotFound | Misconfigured)
