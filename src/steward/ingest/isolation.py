"""Reads files in a process of their own, so that a hostile one hurts nothing but its own reading.

The reader (`reader.py`, forked by `reader_process.py`) gets one request and answers with lines of JSON:
progress, then one result or one error. Whatever ends it otherwise becomes an error that says so. Its
scratch folder belongs to the caller, who removes it even after a kill.
"""

import atexit
import contextlib
import json
import re
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter

from steward.core import (
    Invalid,
    NetworkLevel,
    StewardError,
    TooLarge,
    Unavailable,
    error_from_json,
    levels_to_json,
    work,
)
from steward.ingest.findings import Inspection, Loaded
from steward.ingest.job import Progress, no_progress
from steward.ingest.options import DEFAULT_LIMITS, DEFAULT_OPTIONS, Limits, Options
from steward.ingest.reader import STDERR
from steward.isolation import CannotStart, ForkServer, Line

if TYPE_CHECKING:
    from steward.ingest.querying import Asked

_INSPECTION = TypeAdapter(Inspection)
_LOADED = TypeAdapter(Loaded)
_OPTIONS = TypeAdapter(Options)
_LONGEST_LINE = 256 << 20
_GRACE_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 0.2
_openers: Final = ThreadPoolExecutor(thread_name_prefix="steward-reader")

_ENVIRONMENT: Final = {
    "LC_ALL": "C.UTF-8",
    # Arrow's own allocator begins by reserving a gigabyte, which would count against the limit unused.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    # A thread that waits for sums to add up would be lost in a fork.
    "OPENBLAS_NUM_THREADS": "1",
}
"""Nothing of the caller's environment reaches a reader: no secrets, no settings."""

stem = ForkServer("steward.ingest.reader_process", _ENVIRONMENT)
"""What all readings of this process are forked from."""
atexit.register(stem.close)


def inspect(
    path: Path,
    name: str,
    options: Options | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    scratch: Path | None = None,
    progress: Progress = no_progress,
) -> Inspection:
    """`steward.ingest.inspect`, isolated."""
    request = {"do": "inspect", "path": str(path.resolve()), "name": name}
    return _INSPECTION.validate_python(_ask(request, name, options, limits, scratch, progress))


def load(
    path: Path,
    options: Options | None,
    out_dir: Path,
    limits: Limits = DEFAULT_LIMITS,
    *,
    name: str | None = None,
    scratch: Path | None = None,
    progress: Progress = no_progress,
) -> Loaded:
    """`steward.ingest.load`, isolated; what a failed reading wrote is removed."""
    known = name or path.name
    request = {
        "do": "load",
        "path": str(path.resolve()),
        "name": known,
        "out": str(out_dir.resolve()),
    }
    with _cleared_on_failure(out_dir):
        return _LOADED.validate_python(_ask(request, known, options, limits, scratch, progress))


def inspect_server(
    url: str,
    options: Options | None = None,
    *,
    private: bool = False,
    levels: Sequence[NetworkLevel] = (),
    limits: Limits = DEFAULT_LIMITS,
    scratch: Path | None = None,
    progress: Progress = no_progress,
) -> Inspection:
    """`steward.ingest.inspect_server`, isolated; the URL is passed where no one can list it."""
    request = {"do": "inspect-server", "url": url, **_reach(private, levels)}
    return _INSPECTION.validate_python(
        _ask(request, "the server", options, limits, scratch, progress)
    )


def load_server(
    url: str,
    options: Options | None,
    out_dir: Path,
    limits: Limits = DEFAULT_LIMITS,
    *,
    private: bool = False,
    levels: Sequence[NetworkLevel] = (),
    scratch: Path | None = None,
    progress: Progress = no_progress,
) -> Loaded:
    """`steward.ingest.load_server`, isolated."""
    out = str(out_dir.resolve())
    request = {"do": "load-server", "url": url, **_reach(private, levels), "out": out}
    with _cleared_on_failure(out_dir):
        return _LOADED.validate_python(
            _ask(request, "the server", options, limits, scratch, progress)
        )


def query(
    source: Path | str,
    name: str,
    sql: str | None,
    most: int,
    *,
    private: bool = False,
    levels: Sequence[NetworkLevel] = (),
    limits: Limits = DEFAULT_LIMITS,
    scratch: Path | None = None,
) -> "Asked":
    """`steward.ingest.reading.query`, isolated; `name` is what messages call the source."""
    from steward.ingest.querying import Asked

    request = {
        "do": "query",
        "path": str(source.resolve()) if isinstance(source, Path) else None,
        "url": None if isinstance(source, Path) else source,
        "name": name,
        "sql": sql,
        "most": most,
        **_reach(private, levels),
    }
    answer = _ask(request, name, None, limits, scratch, no_progress)
    return TypeAdapter(Asked).validate_python(answer)


def _reach(private: bool, levels: Sequence[NetworkLevel]) -> dict[str, Any]:
    return {"private": private, "levels": levels_to_json(levels)}


@contextlib.contextmanager
def _cleared_on_failure(out_dir: Path) -> Iterator[None]:
    from steward.ingest.findings import DATA, REJECTS

    try:
        yield
    except BaseException:
        for name in (DATA, REJECTS):
            (out_dir / name).unlink(missing_ok=True)
        raise


def _ask(
    request: dict[str, Any],
    name: str,
    options: Options | None,
    limits: Limits,
    scratch: Path | None,
    progress: Progress,
) -> Any:
    # The reader works in a folder of its own, where a relative path leads elsewhere.
    place = scratch.resolve() if scratch is not None else None
    with TemporaryDirectory(prefix="steward-reading-", dir=place) as folder:
        request |= {
            "scratch": folder,
            "options": _OPTIONS.dump_python(options or DEFAULT_OPTIONS, mode="json"),
            "limits": asdict(limits),
        }
        reading = _Reading(_line(limits.wall_seconds + _GRACE_SECONDS), folder, name, limits)
        try:
            with work.current().ended_by(reading.hang_up):
                return reading.run(json.dumps(request), progress)
        finally:
            reading.close()


def _line(patience: float) -> Line:
    """A line to a new reader. Starting the first one takes seconds, for which nobody waits who stops the work."""
    opening = _openers.submit(stem.line, patience)
    try:
        while not opening.done():
            wait([opening], timeout=_LOOK_SECONDS)
            work.current().check()
        return opening.result()
    except work.Stopped:
        opening.add_done_callback(_close)
        raise
    except CannotStart:
        raise Unavailable(
            "No process could be started to read the data: the machine is most likely short "
            "of memory or processes. Try again later."
        ) from None


def _close(opening: Future[Line]) -> None:
    if opening.exception() is None:
        opening.result().close()


class _Reading:
    """One conversation with a reader, and what its end means."""

    def __init__(self, line: Line, folder: str, name: str, limits: Limits) -> None:
        self._line = line
        self._name = name
        self._limits = limits
        self._late = False
        self._said = Path(folder) / STDERR

    def run(self, request: str, progress: Progress) -> Any:
        timer = threading.Timer(self._limits.wall_seconds, self._expire)
        timer.daemon = True
        timer.start()
        try:
            return self._talk(request, progress)
        except TimeoutError:
            self._late = True
            raise self._ended(None) from None
        finally:
            timer.cancel()

    def _talk(self, request: str, progress: Progress) -> Any:
        file = self._line.file
        with contextlib.suppress(BrokenPipeError):
            file.write(request.encode() + b"\n")
            file.flush()
        while line := file.readline(_LONGEST_LINE):
            try:
                message = json.loads(line)
            except ValueError:
                # A reader that dies may leave half a line; how it ended comes after that.
                continue
            if "progress" in message:
                progress(*message["progress"])
            elif "error" in message:
                raise error_from_json(message["error"])
            elif "ended" in message:
                raise self._ended(message["ended"])
            else:
                return message["result"]
        raise self._ended(None)

    def _expire(self) -> None:
        self._late = True
        self._line.hang_up()

    def hang_up(self) -> None:
        self._line.hang_up()

    def close(self) -> None:
        self._line.close()

    def _ended(self, status: int | None) -> StewardError:
        name, limits = self._name, self._limits
        if self._late:
            message = f"{name!r} took longer than {limits.wall_seconds} seconds to read."
            return TooLarge(message, code="reading-too-slow")
        if status == -signal.SIGXCPU:
            message = f"{name!r} took more than {limits.cpu_seconds} CPU seconds to read."
            return TooLarge(message, code="reading-too-slow")
        if status == -signal.SIGXFSZ:
            message = f"{name!r} grew beyond {limits.output_mb:,} MB while it was read."
            return TooLarge(message, code="reading-too-large")
        if status in (None, -signal.SIGKILL, -signal.SIGABRT):
            message = (
                f"Reading {name!r} was stopped, most likely for want of memory "
                f"(limit {limits.memory_mb:,} MB)."
            )
            return TooLarge(message, code="reading-stopped")
        message = (
            f"{name!r} made its reader crash{self._cause()}; it is damaged or made to do harm."
        )
        return Invalid(message, code="reader-crashed")

    def _cause(self) -> str:
        """The kind of the last exception; its text may hold rows of data and is not shown."""
        with contextlib.suppress(OSError), self._said.open("rb") as said:
            said.seek(max(self._said.stat().st_size - 4096, 0))
            last = said.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
            kind = re.match(r"[A-Za-z_][\w.]{2,80}(?=:|$)", last)
            return f" ({kind[0]})" if kind else ""
        return ""
