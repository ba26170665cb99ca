"""A small proxy on loopback that loses connections and holds back bytes, as bad networks do."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

Opened = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class Proxy:
    """Passes bytes both ways; `cut` ends every connection and takes no new one, `stall` lets nothing through."""

    def __init__(self, opened: Opened) -> None:
        """`opened` connects to what lies behind."""
        self._opened = opened
        self._writers: set[asyncio.StreamWriter] = set()
        self._refusing = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._passing: asyncio.Event = self._do(self._made_event())
        self._server: asyncio.Server = self._do(
            asyncio.start_server(self._accepted, "127.0.0.1", 0)
        )
        self.port: int = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        self._do(self._cut(refusing=True))

    def stall(self) -> None:
        self._do(self._stall())

    def mend(self) -> None:
        """What was stalled ends: the other side has given up by then."""
        self._do(self._cut(refusing=False))

    def close(self) -> None:
        self._server.close()
        self._do(self._cut(refusing=True))
        self._do(self._ended())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _made_event(self) -> asyncio.Event:
        event = asyncio.Event()
        event.set()
        return event

    async def _stall(self) -> None:
        self._passing.clear()

    async def _cut(self, *, refusing: bool) -> None:
        self._refusing = refusing
        self._passing.set()
        for writer in self._writers:
            writer.transport.abort()

    async def _ended(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        there: asyncio.StreamWriter | None = None
        try:
            if self._refusing:
                return
            behind, there = await self._opened()
            self._writers.add(there)
            await asyncio.gather(self._pumped(reader, there), self._pumped(behind, writer))
        except OSError:
            return
        finally:
            for each in (writer, there):
                if each is not None:
                    self._writers.discard(each)
                    each.transport.abort()

    async def _pumped(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65_536):
            await self._passing.wait()
            sink.write(data)
            await sink.drain()
        if sink.can_write_eof():
            sink.write_eof()
