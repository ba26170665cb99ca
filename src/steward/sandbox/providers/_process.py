"""Talks the contract with a runner that is a program of its own: JSON in, JSON out, both bounded."""

import contextlib
import os
import select
import subprocess
import time
from typing import IO, Final

from pydantic import ValidationError

from steward.core import Unavailable
from steward.sandbox.contract import Envelope, Limits, Response, Timings

_PIECE: Final = 1 << 16
_START_SECONDS: Final = 60.0


def converse(
    process: "subprocess.Popen[bytes]",
    envelope: Envelope,
    cancelled: int,
    start_seconds: float = _START_SECONDS,
) -> tuple[bytes, bytes, str]:
    """Feeds and drains until the program ends, time is over, or someone calls it off."""
    pending = memoryview(envelope.model_dump_json().encode())
    limits = envelope.request.limits
    kept = {_open(process.stdout): bytearray(), _open(process.stderr): bytearray()}
    most = limits.output_bytes * 8 + limits.files_bytes * 2
    feed = _open(process.stdin)
    deadline = time.monotonic() + limits.wall_seconds + start_seconds
    open_ends = set(kept)
    while open_ends:
        left = deadline - time.monotonic()
        if left <= 0:
            return b"", bytes(kept[_open(process.stderr)]), "timeout"
        writing = [feed] if pending else []
        ready, writable, _ = select.select([*open_ends, cancelled], writing, [], left)
        if cancelled in ready:
            return b"", b"", "cancelled"
        if writable:
            pending = _feed(process, feed, pending)
        for descriptor in open_ends & set(ready):
            piece = os.read(descriptor, _PIECE)
            kept[descriptor] += piece[: max(most - len(kept[descriptor]), 0)]
            if not piece:
                open_ends.discard(descriptor)
    return bytes(kept[_open(process.stdout)]), bytes(kept[_open(process.stderr)]), ""


def _open(stream: IO[bytes] | None) -> int:
    if stream is None:
        raise Unavailable("The runner was started without pipes.")
    return stream.fileno()


def _feed(process: "subprocess.Popen[bytes]", feed: int, pending: memoryview) -> memoryview:
    try:
        pending = pending[os.write(feed, pending[:4096]) :]
    except BrokenPipeError:
        pending = pending[:0]
    if not pending and process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    return pending


def understood(said: bytes, words: bytes, late: str, limits: Limits, total: float) -> Response:
    """What the program said as a response; no answer at all is an error."""
    timings = Timings(total_ms=round(total, 3))
    if late == "cancelled":
        return Response(status="cancelled", message="It was cancelled.", timings=timings)
    if late:
        message = f"It ran longer than {limits.wall_seconds:g} seconds."
        return Response(status="timeout", message=message, timings=timings)
    try:
        response = Response.model_validate_json(said)
    except (ValidationError, RecursionError):
        last = words.decode("utf-8", "replace").strip().rpartition("\n")[2][:500]
        raise Unavailable(
            f"The runner gave no answer: {last or 'it ended without a word'}"
        ) from None
    return response.model_copy(update={"timings": timings})
