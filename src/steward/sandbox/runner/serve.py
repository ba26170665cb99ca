"""Runs one request inside the walls and says what came of it."""

import sys

import duckdb

from steward.sandbox.contract import Answer, Envelope, Refusal
from steward.sandbox.refused import Refused
from steward.sandbox.runner import engine, run_python, run_sql


def answer(envelope: Envelope, scratch: str) -> Answer:
    """Every way a request can end that leaves the process alive."""
    request = envelope.request
    try:
        connection = engine.prepare(request, scratch)
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

