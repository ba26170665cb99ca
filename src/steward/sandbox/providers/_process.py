"""Talks the contract with a runner that is a program of its own: JSON in, JSON out, both bounded."""

import time
from collections.abc import Callable, Mapping, Sequence

from pydantic import ValidationError

from steward.core import Unavailable
from steward.isolation import CannotStart, converse, start_program
from steward.sandbox.contract import Envelope, Limits, Response, Timings


def run_runner(
    command: Sequence[str],
    envelope: Envelope,
    cancelled: int,
    *,
    environment: Mapping[str, str] | None,
    folder: str,
    start_seconds: float,
    name: str,
    cleaned: Callable[[bytes], bytes] = bytes,
) -> tuple[Response, bytes]:
    """The response of a runner, and what it wrote besides."""
    started = time.monotonic()
    limits = envelope.request.limits
    try:
        process = start_program(command, environment, folder)
    except CannotStart as problem:
        raise Unavailable(f"{name} cannot be started: {problem}") from None
    said = converse(
        process,
        envelope.model_dump_json().encode(),
        seconds=limits.wall_seconds + start_seconds,
        most=limits.output_bytes * 8 + limits.files_bytes * 2,
        cancelled=cancelled,
    )
    total = (time.monotonic() - started) * 1000
    return understood(said.out, cleaned(said.err), said.late, limits, total), said.err


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
