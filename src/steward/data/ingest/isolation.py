"""Reads files in a process of their own, so that a hostile one hurts nothing but its own reading.

The child gets a request on its standard input, lowers its own limits, and answers with lines of
JSON: progress, then one result or one error. Whatever ends it otherwise becomes an error that says
so. Its scratch folder belongs to the parent, which removes it even after a kill.

Run as `python -m steward.data.ingest.isolation`.
"""

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any

from pydantic import TypeAdapter

from steward.core import errors as core_errors
from steward.core.errors import Bug, Invalid, StewardError, TooLarge
from steward.data.ingest.findings import Inspection, Loaded
from steward.data.ingest.job import Progress, no_progress
from steward.data.ingest.options import DEFAULT_LIMITS, DEFAULT_OPTIONS, Limits, Options

if TYPE_CHECKING:
    from steward.data.ingest.querying import Asked

_INSPECTION = TypeAdapter(Inspection)
_LOADED = TypeAdapter(Loaded)
_OPTIONS = TypeAdapter(Options)
_LIMITS = TypeAdapter(Limits)
_LONGEST_LINE = 256 << 20
_MODULE = "steward.data.ingest.isolation"
# Arrow's own allocator begins by reserving a gigabyte, which would count against the limit unused.
_ALLOCATOR = {"ARROW_DEFAULT_MEMORY_POOL": "system"}


def inspect(
    path: Path,
    name: str,
    options: Options | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    scratch: Path | None = None,
    progress: Progress = no_progress,
) -> Inspection:
    """`steward.data.ingest.inspect`, isolated."""
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
    """`steward.data.ingest.load`, isolated; what a failed reading wrote is removed."""
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
    limits: Limits = DEFAULT_LIMITS,
    scratch: Path | None = None,
    progress: Progress = no_progress,
) -> Inspection:
    """`steward.data.ingest.inspect_server`, isolated; the URL is passed where no one can list it."""
    request = {"do": "inspect-server", "url": url, "private": private}
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
    scratch: Path | None = None,
    progress: Progress = no_progress,
) -> Loaded:
    """`steward.data.ingest.load_server`, isolated."""
    out = str(out_dir.resolve())
    request = {"do": "load-server", "url": url, "private": private, "out": out}
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
    limits: Limits = DEFAULT_LIMITS,
    scratch: Path | None = None,
) -> "Asked":
    """`steward.data.ingest.reading.query`, isolated; `name` is what messages call the source."""
    from steward.data.ingest.querying import Asked

    request = {
        "do": "query",
        "path": str(source.resolve()) if isinstance(source, Path) else None,
        "url": None if isinstance(source, Path) else source,
        "name": name,
        "sql": sql,
        "most": most,
        "private": private,
    }
    answer = _ask(request, name, None, limits, scratch, no_progress)
    return TypeAdapter(Asked).validate_python(answer)


@contextlib.contextmanager
def _cleared_on_failure(out_dir: Path) -> Iterator[None]:
    from steward.data.ingest.writing import DATA, REJECTS

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
    # The child works in a folder of its own, where a relative path leads elsewhere.
    place = scratch.resolve() if scratch is not None else None
    with TemporaryDirectory(prefix="steward-reading-", dir=place) as folder:
        request |= {
            "scratch": folder,
            "options": _OPTIONS.dump_python(options or DEFAULT_OPTIONS, mode="json"),
            "limits": asdict(limits),
        }
        child = _Child(folder, name, limits)
        try:
            return child.run(json.dumps(request), progress)
        finally:
            child.kill()


class _Child:
    """The process, and what its end means."""

    def __init__(self, folder: str, name: str, limits: Limits) -> None:
        self._name = name
        self._limits = limits
        self._late = False
        self._said = Path(folder) / "stderr"
        # Nothing of the server's environment reaches the child: no secrets, no settings.
        environment = {"TMPDIR": folder, "HOME": folder, "LC_ALL": "C.UTF-8", **_ALLOCATOR}
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-I", "-X", "utf8", "-m", _MODULE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )

    def run(self, request: str, progress: Progress) -> Any:
        timer = threading.Timer(self._limits.wall_seconds, self._expire)
        timer.daemon = True
        timer.start()
        try:
            answer = self._talk(request, progress)
            status = None if answer is not None else self._process.wait()
        finally:
            timer.cancel()
        if status is not None:
            raise self._ended(status)
        return answer

    def _talk(self, request: str, progress: Progress) -> Any:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise Bug("The reading process was started without pipes.")
        with contextlib.suppress(BrokenPipeError):
            stdin.write(request.encode())
            stdin.close()
        while line := stdout.readline(_LONGEST_LINE):
            try:
                message = json.loads(line)
            except ValueError:
                # A process that dies may leave half a line.
                return None
            if "progress" in message:
                progress(*message["progress"])
            elif "error" in message:
                raise _error_from(message["error"])
            else:
                return message["result"]
        return None

    def _expire(self) -> None:
        self._late = True
        self._signal()

    def _signal(self) -> None:
        """Ends the whole process group; harmless when it has ended already."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def kill(self) -> None:
        self._signal()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _ended(self, status: int) -> StewardError:
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
        if status in (-signal.SIGKILL, -signal.SIGABRT):
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


def _error_from(error: dict[str, Any]) -> StewardError:
    """The child's error as the class it was raised as."""
    kind = getattr(core_errors, str(error["class"]), Invalid)
    if not (isinstance(kind, type) and issubclass(kind, StewardError)):
        kind = Invalid
    known: StewardError = kind(str(error["message"]), code=str(error["code"]))
    return known


# The child


def main() -> None:
    """Serves one request; everything a library prints goes elsewhere."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.loads(sys.stdin.read())
    limits = _LIMITS.validate_python(request["limits"])
    _lower(limits)
    import duckdb

    try:
        answer = _serve(request, limits, _reporter(out))
    except (MemoryError, duckdb.OutOfMemoryException):
        answer = _error(
            TooLarge(
                f"{request.get('name', 'The source')!r} needs more than {limits.memory_mb:,} MB to read.",
                code="reading-too-large",
            )
        )
    except StewardError as problem:
        answer = _error(problem)
    print(json.dumps(answer), file=out, flush=True)
    # Some libraries crash while they are torn down; the answer is out, nothing else matters.
    os._exit(0)


def _serve(request: dict[str, Any], limits: Limits, progress: Progress) -> dict[str, Any]:
    from steward.data.ingest import reading

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
            request["url"], options, private=request["private"], limits=limits, **common
        ),
        "load-server": lambda: reading.load_server(
            request["url"],
            options,
            Path(request["out"]),
            limits,
            private=request["private"],
            **common,
        ),
        "query": lambda: reading.query(
            Path(request["path"]) if request["path"] is not None else request["url"],
            request["name"],
            request["sql"],
            request["most"],
            private=request["private"],
            limits=limits,
            scratch=scratch,
        ),
    }
    return {"result": asdict(doing[request["do"]]())}


def _error(problem: StewardError) -> dict[str, Any]:
    return {
        "error": {
            "class": type(problem).__name__,
            "code": problem.specific_code,
            "message": problem.message,
        }
    }


def _reporter(out: IO[str]) -> Progress:
    def report(doing: str, done: int, total: int | None) -> None:
        print(json.dumps({"progress": [doing, done, total]}), file=out, flush=True)

    return report


def _lower(limits: Limits) -> None:
    """Lowers the process's limits where the system has them; macOS lacks some."""
    memory = limits.memory_mb << 20
    wanted = {
        "RLIMIT_CORE": 0,
        # Address space is not memory: libraries reserve more than they use.
        "RLIMIT_AS": memory + (4 << 30),
        "RLIMIT_DATA": memory,
        "RLIMIT_CPU": limits.cpu_seconds,
        "RLIMIT_FSIZE": limits.output_mb << 20,
        "RLIMIT_NOFILE": 256,
    }
    for name, value in wanted.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        _, hard = resource.getrlimit(kind)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # At the hard limit of CPU time the system kills without saying why.
        firm = most + 5 if name == "RLIMIT_CPU" and hard == resource.RLIM_INFINITY else most
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, firm))


if __name__ == "__main__":
    main()
