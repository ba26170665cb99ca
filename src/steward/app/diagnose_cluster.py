"""Checks of what several machines share: the bus, the blob store and the workers, each proven by use."""

import asyncio
import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from secrets import token_bytes
from typing import Final, Literal

from steward.app.findings import Finding
from steward.app.foundation import open_blobs, open_database
from steward.core import Misconfigured, Settings, StewardError, SystemClock
from steward.runs import Presence, WorkerSeen
from steward.store import BlobStore, Database, PostgresBus, latest_revision, schema_revision

_ANSWER_SECONDS: Final = 5.0
_FAR: Final = timedelta(days=1)
"""Also those whose clocks are far off."""


def check_bus(settings: Settings) -> Finding:
    """Sends a message through NATS and hears it back."""
    url = settings.runs.nats_url
    if settings.database.url is None:
        return Finding("bus", "ok", "within the one process that SQLite allows")
    if url is None:
        return Finding("bus", "ok", "notifications of PostgreSQL")
    try:
        found = asyncio.run(_prove_nats(url.get_secret_value()))
    except StewardError as error:
        return Finding("bus", "failed", error.message, "Check STEWARD_RUNS__NATS_URL.")
    return Finding("bus", "ok", found)


async def _prove_nats(url: str) -> str:
    try:
        from steward.runs import prove
    except ModuleNotFoundError:
        raise Misconfigured("NATS needs Steward's 'nats' extra; install it first.") from None
    found = await prove(url)
    return (
        f"NATS {found.version} with JetStream ({found.streams} streams): "
        f"a message came back in {found.milliseconds:.0f} ms"
    )


def check_blobs(settings: Settings) -> Finding:
    """Writes a few random bytes, reads them back and removes them."""
    if settings.blobs.url is None:
        return Finding("blob store", *_shared_files(settings))
    place = f"S3 at {settings.blobs.endpoint or settings.blobs.region}, {settings.blobs.url}"
    try:
        _prove_blobs(open_blobs(settings))
    except StewardError as error:
        return Finding("blob store", "failed", error.message, "Check STEWARD_BLOBS__*.")
    return Finding("blob store", "ok", f"{place}: wrote, read and removed a test object")


def _shared_files(settings: Settings) -> tuple[Literal["ok", "warning"], str, str]:
    if settings.database.url is None:
        return "ok", "files in the home folder", ""
    return (
        "warning",
        "files in the home folder, which servers and workers on other machines cannot read",
        "Set STEWARD_BLOBS__URL, or share the folder between all machines.",
    )


def _prove_blobs(blobs: BlobStore) -> None:
    content = token_bytes(32)
    blob = blobs.put([content])
    try:
        if b"".join(blobs.read(blob.digest)) != content:
            raise Misconfigured("The blob store returned other bytes than were written.")
    finally:
        blobs.delete(blob.digest)


def check_workers(settings: Settings) -> Finding:
    """Asks every worker for an answer over the bus, and compares the clocks of all machines with this one."""
    if settings.database.url is None:
        return Finding("workers", "ok", "the server drives runs itself")
    try:
        database = open_database(settings)
        try:
            if schema_revision(database) != latest_revision():
                return Finding("workers", "info", "unknown until the database is migrated")
            return _roll_call(settings, database)
        finally:
            database.close()
    except StewardError as error:
        return Finding("workers", "failed", error.message, "Check STEWARD_DATABASE__URL.")


def _roll_call(settings: Settings, database: Database) -> Finding:
    clock = SystemClock()
    presence = Presence(database, clock)
    known = {worker.holder: worker for worker in presence.seen()}
    if not known:
        return Finding(
            "workers",
            "info" if settings.runs.in_server else "failed",
            "none runs at present",
            "Start 'steward worker', or set STEWARD_RUNS__IN_SERVER=true and start the server.",
        )
    bus = PostgresBus(database)
    try:
        rung, there = presence.call(bus)
    finally:
        bus.close()
    apart = {"PostgreSQL": _apart(there, rung, clock.now())}
    began = clock.monotonic()
    silent = dict(known)
    while silent and clock.monotonic() - began < _ANSWER_SECONDS:
        time.sleep(0.05)
        for worker in presence.seen(_FAR):
            before = silent.get(worker.holder)
            if before is not None and worker.seen_at != before.seen_at:
                del silent[worker.holder]
                name = _machine_of(worker)
                found = _apart(worker.seen_at, rung, clock.now())
                apart[name] = max(apart.get(name, found), found, key=abs)
    seen = list(known.values())
    if silent:
        names = ", ".join(sorted(_machine_of(worker) for worker in silent.values()))
        return Finding(
            "workers",
            "failed",
            f"{len(silent)} of {len(seen)} did not answer within {_ANSWER_SECONDS:.0f} seconds ({names})",
            "Look at the logs of these workers. One that was killed is forgotten after 45 seconds.",
        )
    wrong = {
        name: by for name, by in apart.items() if abs(by) > settings.runs.lease.total_seconds() / 2
    }
    if wrong:
        words = ", ".join(f"{name} {by:+.1f} s" for name, by in sorted(wrong.items()))
        return Finding(
            "workers",
            "warning",
            f"clocks differ from this machine's by more than half a lease: {words}",
            "Synchronise the clocks of all machines with NTP. Workers with wrong clocks take runs from each other.",
        )
    return Finding("workers", "ok", _described(seen, clock.monotonic() - began, apart))


def _described(seen: list[WorkerSeen], seconds: float, apart: Mapping[str, float]) -> str:
    queues = sorted({queue for worker in seen for queue in worker.queues})
    room = sum(worker.concurrency for worker in seen)
    versions = sorted({worker.version for worker in seen})
    names = ", ".join(_machine_of(worker) for worker in seen)
    most = max(abs(by) for by in apart.values())
    return (
        f"{len(seen)} seen ({names}), version {' and '.join(versions)}, "
        f"serving {' and '.join(queues)}, {room} runs at a time; all answered within {seconds:.1f} s, "
        f"clocks differ by at most {most:.1f} s"
    )


def _machine_of(worker: WorkerSeen) -> str:
    return worker.holder.partition("/")[0]


def _apart(there: datetime, first: datetime, last: datetime) -> float:
    """Seconds by which another clock is wrong at least, if it was read between two moments here."""
    if there > last:
        return (there - last).total_seconds()
    return min(0.0, (there - first).total_seconds())
