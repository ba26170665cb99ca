"""How many requests a connection sends: counted in the database, so that all workers share one limit."""

from typing import Final

import sqlalchemy as sa

from steward.connections.catalogue import _tables as tables
from steward.core import Clock, RateLimited
from steward.store import Database, Scope

_MINUTE: Final = 60_000_000
_COLUMNS: Final = tables.rates.c


class Rates:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def take(self, scope: Scope, connection_id: str, most: int) -> None:
        """Counts one request; refuses it past `most` within a minute, and says when to come back."""
        with self._database.write(scope) as tx:
            # Two workers must not both take the last place.
            tx.wait_for_turn(f"connection-rate:{connection_id}")
            now = int(self._clock.now().timestamp() * 1_000_000)
            row = tx.first(sa.select(tables.rates).where(_COLUMNS.connection_id == connection_id))
            recent = [each for each in (row.moments if row else ()) if each > now - _MINUTE]
            if len(recent) >= most:
                wait = max(1, round((recent[-most] + _MINUTE - now) / 1_000_000))
                raise RateLimited(
                    f"This connection allows {most} requests per minute. Try again in {wait} seconds.",
                    retry_after_seconds=wait,
                )
            moments = [*recent, now][-most:]
            if row is None:
                fresh = sa.insert(tables.rates)
                tx.execute(fresh.values(connection_id=connection_id, moments=moments))
            else:
                tx.execute(
                    sa.update(tables.rates)
                    .where(_COLUMNS.connection_id == connection_id)
                    .values(moments=moments)
                )
