"""Notices of a PostgreSQL server, as somebody else's program sends them with NOTIFY."""

from dataclasses import dataclass
from typing import Any

from steward.core import Misconfigured, Unavailable


@dataclass(frozen=True)
class Notice:
    channel: str
    payload: str
    pid: int


class Notices:
    """Listens to one channel. What is sent while nobody listens is lost: PostgreSQL keeps no notices."""

    def __init__(self, url: str, address: str | None, channel: str) -> None:
        """`address` is where the connection goes, whatever the name in the URL leads to by then; unset: by the name."""
        self._url = url
        self._address = address
        self._channel = channel
        self._connection: Any = None

    async def next(self, seconds: float, most: int) -> list[Notice]:
        """Those that came since the last call; waits so long for the first one at most."""
        try:
            import psycopg
            from psycopg import sql
        except ModuleNotFoundError:
            raise Misconfigured(
                "PostgreSQL needs Steward's 'postgres' extra; install it first."
            ) from None
        try:
            if self._connection is None:
                there: dict[str, Any] = {}
                if self._address is not None:
                    there["hostaddr"] = self._address
                self._connection = await psycopg.AsyncConnection.connect(
                    self._url, autocommit=True, connect_timeout=10, **there
                )
                listen = sql.SQL("LISTEN {}").format(sql.Identifier(self._channel))
                await self._connection.execute(listen)
            found = [
                Notice(each.channel, each.payload, each.pid)
                async for each in self._connection.notifies(timeout=seconds, stop_after=1)
            ]
            if found:
                rest = self._connection.notifies(timeout=0.05, stop_after=most - 1)
                found += [Notice(each.channel, each.payload, each.pid) async for each in rest]
        except psycopg.Error as problem:
            await self.close()
            lines = str(problem).splitlines()
            said = lines[0][:200] if lines else type(problem).__name__
            raise Unavailable(f"PostgreSQL did not answer: {said}") from None
        return found

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()
