"""How commands speak: text for people, `--json` for programs, one clear line for an error."""

import json
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, ParamSpec, TypeVar

import typer

from steward.core import StewardError

if TYPE_CHECKING:
    from steward.app import Steward
    from steward.core import Settings

_TURNING: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that turn the direction of writing: what is approved must read as it is."""
P = ParamSpec("P")
R = TypeVar("R")

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]


def say(text: str = "") -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def plain(text: str) -> str:
    """Without what would steer the terminal: data and models must not move its cursor or set its title."""
    return "".join(
        char
        for char in text
        if char in "\n\t" or (unicodedata.category(char) != "Cc" and char not in _TURNING)
    )


def progress(text: str) -> None:
    """Goes to the error stream, so that a command's output stays clean."""
    sys.stderr.write(f"  · {text}\n")
    sys.stderr.flush()


def show(document: Any, *, as_json: bool, text: Callable[[], str]) -> None:
    say(json.dumps(document, indent=2, default=str, ensure_ascii=False) if as_json else text())


def show_table(
    document: Any,
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    empty: str,
    as_json: bool,
) -> None:
    """The document for programs, and a table for people."""
    show(document, as_json=as_json, text=lambda: table(headings, rows, empty=empty))


def table(headings: Sequence[str], rows: Sequence[Sequence[Any]], *, empty: str) -> str:
    if not rows:
        return empty
    cells = [[str(heading) for heading in headings], *([_cell(c) for c in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headings))]
    lines = [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells
    ]
    return "\n".join([lines[0], "  ".join("─" * width for width in widths), *lines[1:]])


def fail(message: str, code: str, *, as_json: bool) -> NoReturn:
    if as_json:
        say(json.dumps({"error": {"code": code, "message": message}}, ensure_ascii=False))
    sys.stderr.write(f"steward: {message}\n")
    raise typer.Exit(1)


def command(function: Callable[P, R]) -> Callable[P, R]:
    """Turns our errors and the machine's into one line and exit code 1; the rest is a bug and shows itself."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except StewardError as error:
            fail(error.message, error.specific_code, as_json=bool(kwargs.get("as_json")))
        except OSError as error:
            # A folder that cannot be written, a full disk: the machine's trouble, said in one line.
            place = f": {error.filename}" if error.filename else ""
            message = f"{error.strerror or type(error).__name__}{place}"
            fail(message, "machine", as_json=bool(kwargs.get("as_json")))

    return run


@contextmanager
def installation(settings: "Settings | None" = None) -> "Iterator[Steward]":
    """The installation of STEWARD_HOME, for one command."""
    # Imported here: a command that opens nothing answers at once.
    from steward.app import open_steward
    from steward.core import LogSettings, load_settings
    from steward.trace import configure_logs
    from steward.versions import calls_only

    configure_logs(LogSettings(level="warning"))
    steward = open_steward(settings or load_settings())
    try:
        with calls_only():
            yield steward
    finally:
        steward.close()


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(plain(str(value)).split("\n"))
