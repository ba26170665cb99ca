"""Runs one request inside the walls and says what came of it."""

import sys
from typing import Final

import duckdb

from steward.sandbox.contract import Answer, Envelope, Refusal, Request
from steward.sandbox.refused import Refused
from steward.sandbox.runner import engine, run_python, run_sql

_REHEARSED: Final = Envelope(
    request=Request(kind="python", code="result = {'a': [str(one) for one in (1, 2.5)]}"),
    scratch="",
)


def rehearse(scratch: str) -> None:
    """Walks the path of a request once, so that the pages it touches are the child's own by then."""
    engine.settle(scratch, _REHEARSED.request.limits)
    envelope = Envelope.model_validate_json(_REHEARSED.model_dump_json().encode())
    run_sql.rehearse(engine.connection())
    run_python.fresh_randomness()
    said = answer(envelope, scratch)
    if said.status != "done":
        raise OSError(f"the rehearsal failed: {said.message}")
    said.model_dump_json()


def answer(envelope: Envelope, scratch: str) -> Answer:
    """Every way a request can end that leaves the process alive."""
    request = envelope.request
    try:
        connection = engine.prepare(request)
        if request.only_check:
            check = run_sql.check if request.kind == "sql" else run_python.check
            check(connection, request)
            return Answer(status="done")
        if request.kind == "sql":
            return run_sql.run(connection, request, guarded=envelope.guarded)
        return run_python.run(connection, request, scratch, guarded=envelope.guarded)
    except Refused as refused:
        refusals = [Refusal(**vars(one)) for one in refused.findings]
        return Answer(status="refused", message=str(refused), refusals=refusals)
    except (MemoryError, duckdb.OutOfMemoryException):
        limit = request.limits.memory_bytes >> 20
        return Answer(
            status="out_of_memory",
            message=f"It needed more than the {limit} MB of memory it may use.",
        )
    except duckdb.Error as problem:
        return Answer(status="failed", message=str(problem)[:4000])
    except RecursionError:
        return Answer(status="failed", message="It is nested too deeply.")
    except run_python.CodeFailed as failed:
        return Answer(status="failed", message=str(failed)[:4000])
    finally:
        flush()


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            # The code may have closed or replaced it; that is its own loss.
            continue
