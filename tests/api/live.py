"""The application on a real socket, in a thread of the test: for streams and real HTTP clients."""

import threading
from collections.abc import Callable, Collection
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from steward.api.server import server_config
from steward.testing import Installation


class LiveServer:
    """`with LiveServer(installation) as address:` serves it on a free port."""

    def __init__(
        self, installation: Installation, around: Callable[[ASGIApp], ASGIApp] | None = None
    ) -> None:
        config = server_config(installation.api, installation.steward.settings.http)
        if around is not None:
            config.app = around(installation.api)
        config.port = 0
        self._server = uvicorn.Server(config)
        self._started = threading.Event()
        startup = self._server.startup

        async def announce(*args: Any, **kwargs: Any) -> None:
            await startup(*args, **kwargs)
            self._started.set()

        self._server.startup = announce  # type: ignore[method-assign]
        self._thread = threading.Thread(target=self._server.run)
        self._context = installation.api.state.context
        self._bus = installation.steward.bus

    def __enter__(self) -> str:
        self._thread.start()
        assert self._started.wait(30)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    @property
    def connections(self) -> Collection[Any]:
        """Those that are open, as uvicorn keeps them."""
        return self._server.server_state.connections

    def __exit__(self, *_: object) -> None:
        self._context.stopping.set()
        self._bus.wake_all()
        self._server.should_exit = True
        self._thread.join(30)
        assert not self._thread.is_alive()
