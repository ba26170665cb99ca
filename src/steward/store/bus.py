"""The doorbell: tells listeners that something changed; what changed is read from SQL.

Ringing is best effort. A listener that misses a ring reads a little later, never less.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import sqlalchemy as sa

from steward.store.database import EVERYWHERE, Database, Transaction

Listener = Callable[[], None]
_CHANNEL = "steward_bus"
_MAX_TOPIC = 200
_FOLLOWED = "follow "
_FOLLOWED_SECONDS = 20.0


class Bus:
    """Within one process; enough for SQLite."""

    is_shared = False
    """Whether rings may come from other processes."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Listener]] = defaultdict(list)
        self._lock = threading.Lock()

    def ring(self, transaction: Transaction, topic: str) -> None:
        """Wakes the topic's listeners once the transaction is durable."""
        self.ring_all(transaction, [topic])

    def ring_all(self, transaction: Transaction, topics: Sequence[str]) -> None:
        def wake_each() -> None:
            for topic in topics:
                self.wake(topic)

        transaction.after_commit(wake_each)

    def wanted(self, topics: Sequence[str]) -> list[str]:
        """Those of the topics that somebody is known to listen to: the rest need not be rung."""
        return [topic for topic in topics if topic in self._listeners]

    def follow(self, topic: str) -> None:
        """Says to all processes that somebody here listens, for some seconds; say it again before they are over."""

    def wake(self, topic: str) -> None:
        if topic not in self._listeners:
            return
        with self._lock:
            listeners = list(self._listeners.get(topic, ()))
        for listener in listeners:
            listener()

    def wake_all(self) -> None:
        with self._lock:
            topics = list(self._listeners)
        for topic in topics:
            self.wake(topic)

    @contextmanager
    def listening(self, topic: str, listener: Listener) -> Iterator[None]:
        with self._lock:
            self._listeners[topic].append(listener)
        try:
            yield
        finally:
            with self._lock:
                self._listeners[topic].remove(listener)
                if not self._listeners[topic]:
                    del self._listeners[topic]

    def close(self) -> None:
        """Nothing to release."""


class PostgresBus(Bus):
    """Across processes, by LISTEN and NOTIFY, which PostgreSQL sends at commit by itself."""

    is_shared = True

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self._followed: dict[str, float] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="steward-bus", daemon=True)
        self._thread.start()

    def ring(self, transaction: Transaction, topic: str) -> None:
        transaction.execute_as_written(
            sa.text("SELECT pg_notify(:channel, :topic)"),
            {"channel": _CHANNEL, "topic": topic[:_MAX_TOPIC]},
        )

    def ring_all(self, transaction: Transaction, topics: Sequence[str]) -> None:
        if topics:
            transaction.execute_as_written(
                sa.text(
                    "SELECT count(pg_notify(:channel, topic))"
                    " FROM unnest(CAST(:topics AS text[])) AS topic"
                ),
                {"channel": _CHANNEL, "topics": [topic[:_MAX_TOPIC] for topic in topics]},
            )

    def wanted(self, topics: Sequence[str]) -> list[str]:
        now = time.monotonic()
        return [
            topic
            for topic in topics
            if topic in self._listeners or self._followed.get(topic, 0.0) > now
        ]

    def follow(self, topic: str) -> None:
        with self._database.write(EVERYWHERE) as transaction:
            self.ring(transaction, _FOLLOWED + topic)

    def _heard(self, payload: str) -> None:
        if not payload.startswith(_FOLLOWED):
            self.wake(payload)
            return
        now = time.monotonic()
        # A new table each time: those who look meanwhile see the old one.
        known = {topic: until for topic, until in self._followed.items() if until > now}
        self._followed = {**known, payload.removeprefix(_FOLLOWED): now + _FOLLOWED_SECONDS}

    def _listen(self) -> None:
        import psycopg

        url = self._database.url.set(drivername="postgresql").render_as_string(hide_password=False)
        while not self._stopping.is_set():
            try:
                with psycopg.connect(url, autocommit=True) as connection:
                    connection.execute(f"LISTEN {_CHANNEL}")
                    # Rings were missed while the connection was away: let everyone look once.
                    self.wake_all()
                    while not self._stopping.is_set():
                        for note in connection.notifies(timeout=0.25):
                            self._heard(note.payload)
            except psycopg.OperationalError:
                self._stopping.wait(1.0)

    def close(self) -> None:
        self._stopping.set()
        self._thread.join(timeout=5)
