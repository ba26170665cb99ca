"""`steward data add`: files, and tables of servers, whose passwords are asked for and never shown."""

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit, urlunsplit

import typer

from steward.app import Steward
from steward.cli.output import progress
from steward.core.errors import Invalid
from steward.data.ingest import Loaded, Options
from steward.data.ingest.address import is_address
from steward.data.versions import Commit
from steward.identity import Access, Role

_SECRET: Final = "secret:"  # noqa: S105 - how an argument begins that names a secret


@dataclass(frozen=True)
class Wanted:
    name: str | None
    table: str | None
    branch: str


def is_server(source: str) -> bool:
    """Whether an argument means a database server: by its address, or by a secret that holds it."""
    return is_address(source) or source.startswith(_SECRET)


def add_file(steward: Steward, access: Access, file: Path, wanted: Wanted) -> dict[str, Any]:
    name = wanted.name or file.stem
    loaded, commit = steward.workbench.bringing.load(
        access.scope,
        access.user_id,
        file,
        file.name,
        name,
        Options(table=wanted.table),
        wanted.branch,
        report=_report,
    )
    return _document(name, loaded, commit)


def add_table(steward: Steward, access: Access, source: str, wanted: Wanted) -> dict[str, Any]:
    url = source
    if source.startswith(_SECRET):
        url = steward.secrets.get(access.scope, source.removeprefix(_SECRET))
    bringing = steward.workbench.bringing
    private = access.role >= Role.admin
    table = wanted.table
    if table is None:
        tables = bringing.inspect_server(url, private=private).tables
        if len(tables) != 1:
            listed = ", ".join(known.name for known in tables[:20])
            raise Invalid(f"Say which table with --table. There are: {listed}.", code="which-table")
        table = tables[0].name
    name = wanted.name or table
    loaded, commit = bringing.load_server(
        access.scope,
        access.user_id,
        url,
        name,
        Options(table=table),
        wanted.branch,
        private=private,
        report=_report,
    )
    return _document(name, loaded, commit)


def with_password(source: str, *, from_stdin: bool) -> str:
    """The address with its password: from standard input, or asked for where somebody could answer."""
    if source.startswith(_SECRET):
        return source
    if from_stdin:
        return _completed(source, sys.stdin.readline().rstrip("\n"))
    try:
        parts = urlsplit(source)
    except ValueError:
        # The address is wrong; whoever parses it says how.
        return source
    if parts.password is not None or not parts.username or not sys.stdin.isatty():
        return source
    return _completed(
        source, str(typer.prompt("Password of the server", hide_input=True, default="", err=True))
    )


def _completed(source: str, password: str) -> str:
    try:
        parts = urlsplit(source)
    except ValueError:
        return source
    user, _, host = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    place = f"{name}:{quote(password, safe='')}@{host}" if password else parts.netloc
    return urlunsplit(parts._replace(netloc=place))


def _report(doing: str, done: int, total: int | None) -> None:
    progress(f"{doing} {done:,} of {total:,}" if total else doing)


def _document(name: str, loaded: Loaded, commit: Commit) -> dict[str, Any]:
    return {
        "dataset": name,
        "commit": commit.id,
        "records": loaded.records,
        "rows": loaded.rows,
        "rejected": loaded.rejected,
        "columns": [asdict(column) for column in loaded.columns],
        "warnings": [note.message for note in loaded.warnings],
    }
