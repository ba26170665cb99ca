"""Checks of what several machines share: the bus, the blob store and the workers, each proven by use."""

import asyncio
from secrets import token_bytes
from typing import Literal

from steward.app.findings import Finding
from steward.app.foundation import open_blobs, open_database
from steward.core import Misconfigured, Settings, StewardError, SystemClock
from steward.runs import Presence
from steward.store import BlobStore, latest_revision, schema_revision


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
    """Workers that gave a sign of life in the last seconds."""
    if settings.database.url is None:
        return Finding("workers", "ok", "the server drives runs itself")
    try:
        database = open_database(settings)
        try:
            if schema_revision(database) != latest_revision():
                return Finding("workers", "info", "unknown until the database is migrated")
            seen = Presence(database, SystemClock()).seen()
        finally:
            database.close()
    except StewardError as error:
        return Finding("workers", "failed", error.message, "Check STEWARD_DATABASE__URL.")
    if not seen:
        return Finding(
            "workers",
            "info" if settings.runs.in_server else "failed",
            "none runs at present",
            "Start 'steward worker', or set STEWARD_RUNS__IN_SERVER=true and start the server.",
        )
    queues = sorted({queue for worker in seen for queue in worker.queues})
    room = sum(worker.concurrency for worker in seen)
    versions = sorted({worker.version for worker in seen})
    names = ", ".join(worker.holder.partition("/")[0] for worker in seen)
    return Finding(
        "workers",
        "ok",
        f"{len(seen)} seen ({names}), version {' and '.join(versions)}, "
        f"serving {' and '.join(queues)}, {room} runs at a time",
    )
