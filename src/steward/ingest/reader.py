"""What one reader does, in the process that was forked for it: one request, one answer, then it is gone."""

import json
import os
import socket
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Final, NoReturn

from pydantic import TypeAdapter

from steward.core import StewardError, TooLarge, error_to_json, levels_from_json
from steward.ingest.job import Progress
from steward.ingest.options import Limits, Options
from steward.ingest.reach import Reach
from steward.isolation import lower_limits

STDERR: Final = "stderr"
"""The file in the scratch folder for everything that a library prints."""

_OPTIONS = TypeAdapter(Options)
_LIMITS = TypeAdapter(Limits)


def serve(line: socket.socket) -> NoReturn:
    """Reads a request from the line and answers it there."""
    with line.makefile("rb") as incoming:
        request = json.loads(incoming.readline())
    _settle(request["scratch"])
    limits = _LIMITS.validate_python(request["limits"])
    memory = limits.memory_mb << 20
    lower_limits(
        {
            "CORE": 0,
            # Address space is not memory: libraries reserve more than they use.
            "AS": memory + (4 << 30),
            "DATA": memory,
            "CPU": limits.cpu_seconds,
            "FSIZE": limits.output_mb << 20,
            "NOFILE": 256,
        },
        cpu_grace=5,
    )
    with line.makefile("w", encoding="utf-8") as out:
        print(json.dumps(answer(request, limits, _reporter(out))), file=out, flush=True)
    # Some libraries crash while they are torn down; the answer is out, nothing else matters.
    os._exit(0)


def _settle(scratch: str) -> None:
    """Makes the scratch folder this process's place for everything."""
    os.chdir(scratch)
    tempfile.tempdir = scratch
    for name in ("HOME", "TMPDIR"):
        # For what is not Python; the rest asks `tempfile`.
        os.putenv(name, scratch)
    said = os.open(STDERR, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for descriptor in (1, 2):
        os.dup2(said, descriptor)
    os.close(said)


def answer(request: dict[str, Any], limits: Limits, progress: Progress) -> dict[str, Any]:
    """The result, or the error that names what was wrong with the source."""
    import duckdb

    try:
        return _serve(request, limits, progress)
    except (MemoryError, duckdb.OutOfMemoryException):
        message = f"{request.get('name', 'The source')!r} needs more than {limits.memory_mb:,} MB to read."
        return {"error": error_to_json(TooLarge(message, code="reading-too-large"))}
    except StewardError as problem:
        return {"error": error_to_json(problem)}


def _serve(request: dict[str, Any], limits: Limits, progress: Progress) -> dict[str, Any]:
    from steward.ingest import reading

    options = _OPTIONS.validate_python(request["options"])
    scratch = Path(request["scratch"])
    common: dict[str, Any] = {"scratch": scratch, "progress": progress}
    doing: dict[str, Callable[[], Any]] = {
        "inspect": lambda: reading.inspect(
            Path(request["path"]), request["name"], options, limits=limits, **common
        ),
        "load": lambda: reading.load(
            Path(request["path"]),
            options,
            Path(request["out"]),
            limits,
            name=request["name"],
            **common,
        ),
        "inspect-server": lambda: reading.inspect_server(
            request["url"], options, reach=_reach(request), limits=limits, **common
        ),
        "load-server": lambda: reading.load_server(
            request["url"],
            options,
            Path(request["out"]),
            limits,
            reach=_reach(request),
            **common,
        ),
        "query": lambda: reading.query(
            Path(request["path"]) if request["path"] is not None else request["url"],
            request["name"],
            request["sql"],
            request["most"],
            reach=_reach(request),
            limits=limits,
            scratch=scratch,
        ),
    }
    return {"result": asdict(doing[request["do"]]())}


def _reach(request: dict[str, Any]) -> Reach:
    return Reach(request["private"], levels_from_json(request["levels"]))


def _reporter(out: IO[str]) -> Progress:
    def report(doing: str, done: int, total: int | None) -> None:
        print(json.dumps({"progress": [doing, done, total]}), file=out, flush=True)

    return report
