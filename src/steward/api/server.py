"""Runs the HTTP application; one process, stopped cleanly by a signal."""

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Final

import uvicorn
from fastapi import FastAPI

from steward.api import create_api
from steward.api.connections import EndedSocket, TimedConnection
from steward.app import Shutdown, Steward, end_children
from steward.core import FairThreads, HttpSettings, Misconfigured, keep_loaded, share_processor
from steward.runs import WorkerThread

GRACE_SECONDS = 3
"""For answers that are on their way when the server is stopped."""
_LARGEST_MESSAGE: Final = 4096
"""Bytes of a message that a web socket sends to us."""
_PING_SECONDS: Final = 10.0
_PONG_SECONDS: Final = 5.0
"""A reader of a web socket that says nothing to a ping for so long is gone, or takes nothing: its connection ends."""
_THREADS: Final = 4 + (os.cpu_count() or 1)
_RESERVE: Final = 16
"""Threads for people of whom nothing runs, whatever the others do."""


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started
        self._stopping = Shutdown()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # Changes by hand are driven in this loop: long ones of one person must leave threads for everyone else.
        asyncio.get_running_loop().set_default_executor(FairThreads(_THREADS, _RESERVE, "server"))
        await super().startup(sockets)
        if not self.should_exit:
            self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self._stopping.begin()
        # Uvicorn would raise the signal again after a clean stop; stopping on request is no failure.
        if self.should_exit:
            self.force_exit = True
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Streams end by themselves, so that stopping does not wait for every open browser tab.
        context = self.config.app.state.context  # type: ignore[union-attr]
        context.stopping.set()
        context.steward.bus.wake_all()
        if context.mcp is not None:
            context.mcp.close()
        await super().shutdown(sockets)
        # Threads that wait for one of them end now; the loop waits for these threads.
        end_children()


def serve(steward: Steward, on_started: Callable[[str], None]) -> None:
    """Listens until stopped; `on_started` gets the address once requests are answered."""
    http = steward.settings.http
    listener = _listen(http.host, http.port)
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    config = server_config(create_api(steward), http)
    server = _Server(config, lambda: on_started(f"http://{shown}:{port}"))
    keep_loaded()
    share_processor()
    with _driving(steward):
        server.run(sockets=[listener])


def server_config(api: FastAPI, http: HttpSettings) -> uvicorn.Config:
    return uvicorn.Config(
        api,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        lifespan="off",
        ws=EndedSocket,
        # Readers of figures say nothing, and what is pushed to them is small: no memory for either.
        ws_max_size=_LARGEST_MESSAGE,
        ws_per_message_deflate=False,
        ws_ping_interval=_PING_SECONDS,
        ws_ping_timeout=_PONG_SECONDS,
        # A partial passes for the class that the server calls.
        http=partial(TimedConnection, header_seconds=http.header_seconds),  # type: ignore[arg-type]
    )


@contextmanager
def _driving(steward: Steward) -> Iterator[None]:
    """Runs are driven beside the server, in a thread with a loop of its own."""
    runs = steward.settings.runs
    if not runs.in_server:
        yield
        return
    worker = WorkerThread(steward.runs.worker(concurrency=runs.concurrency, lease=runs.lease))
    worker.start()
    try:
        yield
    finally:
        worker.stop()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise Misconfigured(
            f"Cannot listen on {host}:{port} ({error.strerror}). Stop what uses it, or choose another "
            "with PORT= (or --port)."
        ) from None
    listener.set_inheritable(False)
    return listener
