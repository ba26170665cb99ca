"""A server that speaks OpenAI's chat completions and responses over HTTP, as strictly as the real one where it matters.

It answers from a list of replies, or from a function of the request, and keeps what was asked.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from tests.models import openai_wire as wire

KEY = "sk-test-0123456789abcdef"
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}


@dataclass(frozen=True)
class Asked:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def streams(self) -> bool:
        return bool(self.body.get("stream"))


@dataclass(frozen=True)
class Reply:
    """One answer: pieces of text, then calls; or an error; or something that goes wrong on the way."""

    text: Sequence[str] = ()
    calls: Sequence[tuple[str, str]] = ()
    """Names of tools and their arguments, as text: a model may write anything."""
    reasoning: str = ""
    finish: str | None = None
    cached_tokens: int = 0
    usage: bool = True
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    stall_after: int | None = None
    """Falls silent after so many events; 0: before the first."""
    humming: bool = False
    """Whether a stalled stream sends comments, as proxies do to keep a line open."""
    cut_after: int | None = None
    """Hangs up after so many events."""
    broken: bool = False
    """What comes is not JSON."""


def failing(status: int, message: str = "No.", code: str | None = None, **headers: str) -> Reply:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    error = {"message": message, "type": "error", "param": None, "code": code}
    return Reply(status=status, error=error, headers=sent)


class OpenAiServer:
    """Serves on a loopback port from a thread of its own, so that any event loop may call it."""

    def __init__(
        self,
        replies: Sequence[Reply] | Callable[[Asked], Reply],
        *,
        models: Sequence[str] = ("small", "large", "gpt-5"),
    ) -> None:
        self._replies = replies
        self._models = models
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._ready = threading.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.asked: list[Asked] = []
        self.refused: list[Asked] = []
        """Requests of strangers, such as clients of other providers."""
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._run())
        self._loop.close()

    async def _run(self) -> None:
        self._stopping = asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (asked := await _read(reader)) is not None:
                if not await self._answer(asked, reader, writer):
                    break
        except ConnectionError:
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(
        self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Whether the line is still good."""
        refused = self._refused(asked)
        if refused is not None:
            self.refused.append(asked)
            return await _send(writer, refused.status, {"error": refused.error}, refused.headers)
        self.asked.append(asked)
        reply = self._next(asked)
        if reply.error is not None:
            return await _send(writer, reply.status, {"error": reply.error}, reply.headers)
        if asked.streams:
            return await self._stream(asked, reply, reader, writer)
        if reply.stall_after is not None:
            await reader.read()  # until the other side gives up
            return False
        whole = wire.whole(asked.path, asked.body, reply)
        return await _send(writer, 200, whole, reply.headers, broken=reply.broken)

    def _next(self, asked: Asked) -> Reply:
        if callable(self._replies):
            return self._replies(asked)
        number = len(self.asked) - 1
        if number >= len(self._replies):
            return failing(400, "The test gave this server no further reply.")
        return self._replies[number]

    def _refused(self, asked: Asked) -> Reply | None:
        if asked.headers.get("authorization") != f"Bearer {KEY}":
            given = asked.headers.get("authorization", "")
            return failing(401, f"Incorrect API key provided: {given}", "invalid_api_key")
        if asked.path not in {wire.CHAT, wire.RESPONSES}:
            return failing(404, f"Unknown path {asked.path}.")
        if asked.body.get("model") not in self._models:
            named = asked.body.get("model")
            return failing(404, f"The model `{named}` does not exist.", "model_not_found")
        wrong = wire.mistake(asked.path, asked.body)
        return None if wrong is None else failing(400, wrong, "invalid_request_error")

    async def _stream(
        self,
        asked: Asked,
        reply: Reply,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        for number, event in enumerate(_events(asked, reply)):
            if reply.stall_after == number:
                await writer.drain()
                await _until_hung_up(reader, writer, humming=reply.humming)
                return False
            if reply.cut_after == number:
                await writer.drain()
                writer.transport.abort()
                return False
            writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


async def _until_hung_up(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, humming: bool
) -> None:
    gone = asyncio.ensure_future(reader.read())
    while not (await asyncio.wait({gone}, timeout=0.05 if humming else None))[0]:
        writer.write(b"9\r\n: still\n\n\r\n")
        await writer.drain()
    await gone


def _events(asked: Asked, reply: Reply) -> Iterator[bytes]:
    for number, event in enumerate(wire.events(asked.path, asked.body, reply)):
        if reply.broken and number == 1:
            yield b'data: {"choices": [{"del\n\n'
        elif asked.path == wire.RESPONSES:
            yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        else:
            yield f"data: {json.dumps(event)}\n\n".encode()
    if asked.path == wire.CHAT:
        yield b"data: [DONE]\n\n"


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = await reader.readline()
        if not line:
            return None
        head += line
    first, *lines = head.decode().strip().split("\r\n")
    pairs = (line.split(":", 1) for line in lines)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(first.split(" ")[1], headers, json.loads(body or b"{}"))


async def _send(
    writer: asyncio.StreamWriter,
    status: int,
    document: Any,
    headers: dict[str, str],
    *,
    broken: bool = False,
) -> bool:
    body = json.dumps(document).encode()
    body = body[: len(body) // 2] if broken else body
    sent = {"content-type": "application/json", "content-length": str(len(body)), **headers}
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}"]
    lines += [f"{name}: {value}" for name, value in sent.items()]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()
    return True
