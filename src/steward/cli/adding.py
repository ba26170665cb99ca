"""`steward data add`: files, and tables of servers, whose passwords are asked for and never shown."""

import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit, urlunsplit

import typer

from steward.cli.direct import call
from steward.cli.projects import Here
from steward.core import Invalid, reaching_for
from steward.flows import DirectCall
from steward.identity import Role
from steward.ingest import Inspection, is_address
from steward.tools import FileOptions, keep_address, server_name

_CHUNK: Final = 1 << 20
_SECRET: Final = "secret:"  # noqa: S105 - how an argument begins that names a secret


@dataclass(frozen=True)
class Wanted:
    name: str | None
    table: str | None
    branch: str
    reading: FileOptions

    @property
    def options(self) -> dict[str, Any]:
        """How it is read, in the form of the tool's argument."""
        chosen = {} if self.table is None else {"table": self.table}
        return {**self.reading.model_dump(exclude_unset=True), **chosen}


def inspect_file(here: Here, file: Path, wanted: Wanted) -> Inspection:
    """What a file holds; nothing of it stays."""
    here.access.require(Role.editor)
    bringing = here.steward.workbench.bringing
    with file.open("rb") as opened:
        upload = bringing.take(here.scope, file.name, iter(partial(opened.read, _CHUNK), b""))
    options = FileOptions.model_validate(wanted.options).options()
    try:
        return bringing.inspect(here.scope, upload.id, options)
    finally:
        bringing.abandon(here.scope, upload.id)


def is_server(source: str) -> bool:
    """Whether an argument means a database server: by its address, or by a secret that holds it."""
    return is_address(source) or source.startswith(_SECRET)


def add_file(here: Here, file: Path, wanted: Wanted) -> dict[str, Any]:
    here.access.require(Role.editor)
    bringing = here.steward.workbench.bringing
    with file.open("rb") as opened:
        upload = bringing.take(here.scope, file.name, iter(partial(opened.read, _CHUNK), b""))
    arguments = {
        "dataset": wanted.name or file.stem,
        "upload": upload.id,
        "reading": wanted.options,
    }
    return _loaded(
        here, DirectCall("ingest", arguments, f"Load {file.name}", wanted.branch, seen=True)
    )


def add_table(here: Here, source: str, wanted: Wanted) -> dict[str, Any]:
    here.access.require(Role.editor)
    steward, access = here.steward, here.access
    secret = source.removeprefix(_SECRET) if source.startswith(_SECRET) else None
    url = source if secret is None else steward.secrets.get(access.scope, secret)
    table = wanted.table
    if table is None:
        private = access.role >= Role.admin
        with reaching_for(access.scope):
            tables = steward.workbench.bringing.inspect_server(url, private=private).tables
        if len(tables) != 1:
            listed = ", ".join(known.name for known in tables[:20])
            raise Invalid(f"Say which table with --table. There are: {listed}.", code="which-table")
        table = tables[0].name
    place = server_name(url)
    arguments = {
        "server": place,
        "secret": secret or keep_address(steward.secrets, access, url),
        "dataset": wanted.name or table,
        "reading": {**wanted.options, "table": table},
    }
    return _loaded(
        here,
        DirectCall("load_from_server", arguments, f"Load from {place}", wanted.branch, seen=True),
    )


def _loaded(here: Here, wanted: DirectCall) -> dict[str, Any]:
    done = call(here, wanted)
    value = done.value
    card = here.steward.workbench.datasets.get(
        here.scope, here.access.user_id, value["dataset"], wanted.branch
    )
    return {
        "dataset": value["dataset"],
        "commit": value["commit"],
        "run": done.run.id,
        "records": value["records"],
        "rows": value["rows"],
        "rejected": value["rejected"],
        "columns": [asdict(column) for column in card.columns],
        "warnings": [note["message"] for note in value["warnings"]],
        "alternatives": value["alternatives"],
    }


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
