"""`steward data`: datasets from the terminal."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from steward.cli.adding import (
    Wanted,
    add_file,
    add_table,
    inspect_file,
    is_server,
    with_password,
)
from steward.cli.direct import call, committed
from steward.cli.file_readings import inspection_lines, other_readings, parse_reading
from steward.cli.output import AsJson, installation, show, table
from steward.cli.projects import Group, Here
from steward.core import Conflict, Invalid, NotFound
from steward.flows import DirectCall
from steward.identity import Role
from steward.store import Scope
from steward.workbench import Datasets, Format

app = Group()

Name = Annotated[str, typer.Argument(help="Name of the dataset.")]
Read = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        help="How to read it, as KEY=VALUE: header_row=3, delimiter=tab, ragged=pad, "
        "columns.Price.type=DOUBLE. Repeat it for several.",
    ),
]
At = Annotated[str, typer.Option("--at", help="Branch, snapshot or commit.")]
_FORMATS: Final[dict[str, Format]] = {
    ".csv": "csv",
    ".xlsx": "xlsx",
    ".parquet": "parquet",
    ".delta.zip": "delta",
    ".iceberg.zip": "iceberg",
}


def _datasets(here: Here) -> Datasets:
    here.access.require(Role.viewer)
    return here.steward.workbench.datasets


def _who(here: Here) -> tuple[Scope, str]:
    return here.scope, here.access.user_id


@app.in_project("ls")
def list_datasets(
    here: Here,
    *,
    branch: Annotated[str, typer.Option(help="Branch to list.")] = "main",
) -> None:
    """List the datasets of a project."""
    cards = _datasets(here).page(*_who(here), branch)
    here.show_table(
        [asdict(card) for card in cards],
        ["Name", "Rows", "Columns", "Changed", "By"],
        [
            (
                f"{c.name} (stays at {c.stays_at})" if c.stays_at else c.name,
                f"{c.rows:,}",
                len(c.columns),
                _when(c.changed_at),
                c.operation,
            )
            for c in cards
        ],
        empty="No datasets. Add one with 'steward data add FILE'.",
    )


@app.in_project("add")
def add(
    here: Here,
    source: Annotated[
        str,
        typer.Argument(
            help="CSV, TSV, JSON, Parquet, Excel, SQLite or DuckDB file; or postgresql://… or mysql://…; or "
            "secret:NAME of a secret that holds such an address."
        ),
    ],
    *,
    name: Annotated[
        str | None, typer.Option(help="Name of the dataset; unset: the file's or the table's.")
    ] = None,
    table_name: Annotated[
        str | None, typer.Option("--table", help="Table or sheet, where there are several.")
    ] = None,
    password_stdin: Annotated[
        bool,
        typer.Option("--password-stdin", help="Read the server's password from standard input."),
    ] = False,
    read: Read = None,
    branch: Annotated[str, typer.Option(help="Branch to commit to.")] = "main",
) -> None:
    """Load a file or a server's table as a dataset, or as a new version of it."""
    wanted = Wanted(name, table_name, branch, parse_reading(read or ()))
    if is_server(source):
        url = with_password(source, from_stdin=password_stdin)
        done = add_table(here, url, wanted)
    else:
        path = Path(source)
        if not path.is_file():
            raise NotFound(f"There is no file {path}.")
        done = add_file(here, path, wanted)

    def text() -> str:
        lines = [f"Loaded {done['rows']:,} of {done['records']:,} records as {done['dataset']!r}."]
        if done["rejected"]:
            lines.append(f"{done['rejected']:,} did not fit; see '{done['dataset']} (rejects)'.")
        notes = [f"Note: {warning}" for warning in done["warnings"]]
        return "\n".join([*lines, *notes, *other_readings(done["alternatives"] or ())])

    here.show(done, text)


@app.in_project("register")
def register(
    here: Here,
    connection: Annotated[str, typer.Argument(help="Name of a connection to PostgreSQL.")],
    table_name: Annotated[str, typer.Argument(metavar="TABLE", help="Table, such as shop.orders.")],
    name: Name,
    *,
    branch: Annotated[str, typer.Option(help="Branch to commit to.")] = "main",
) -> None:
    """Make a table of a database a dataset without copying it."""
    arguments = {"connection": connection, "table": table_name, "dataset": name, "stay": True}
    _commit(here, DirectCall("load_from_connection", arguments, branch=branch))


@app.in_project("inspect")
def inspect(
    here: Here,
    file: Annotated[Path, typer.Argument(help="File to look at.")],
    *,
    table_name: Annotated[
        str | None, typer.Option("--table", help="Table or sheet, where there are several.")
    ] = None,
    read: Read = None,
) -> None:
    """Show how a file would be read, why, and how to choose another reading. Nothing is loaded."""
    if not file.is_file():
        raise NotFound(f"There is no file {file}.")
    wanted = Wanted(None, table_name, "main", parse_reading(read or ()))
    found = inspect_file(here, file, wanted)
    document = found.as_dict()
    here.show(
        document,
        lambda: "\n".join([*inspection_lines(found), *other_readings(document["alternatives"])]),
    )


@app.in_project("show")
def show_rows(
    here: Here,
    name: Name,
    *,
    limit: Annotated[int, typer.Option(help="Rows to show.")] = 20,
    offset: Annotated[int, typer.Option(help="Rows to skip.")] = 0,
    at: At = "main",
) -> None:
    """Show rows of a dataset."""
    datasets = _datasets(here)
    card = datasets.get(*_who(here), name, at)
    page = datasets.rows(here.scope, card.version, offset=offset, limit=limit)
    here.show(
        asdict(page),
        lambda: _grid([c.name for c in page.columns], page.rows, page.total),
    )


@app.in_project("profile")
def profile_dataset(
    here: Here,
    name: Name,
    *,
    at: At = "main",
) -> None:
    """Counts, distributions and quality notes of every column."""
    card = _datasets(here).get(*_who(here), name, at)
    document = here.steward.workbench.insights.known(here.scope, "profile", card.version)
    if document is None:
        arguments = {"dataset": name, "version": card.version}
        wanted = DirectCall("profile", arguments, f"Profile {name}")
        document = call(here, wanted, Role.viewer).value

    def text() -> str:
        rows = [
            (
                c["name"],
                c["type"],
                f"{c['nulls']:,}",
                c.get("distinct"),
                "; ".join(c.get("notes", [])[:2]),
            )
            for c in document["columns"]
        ]
        heading = f"{name}: {document['rows']:,} rows\n\n"
        return heading + table(
            ["Column", "Type", "Nulls", "Distinct", "Notes"], rows, empty="No columns."
        )

    here.show(document, text)


@app.in_project("history")
def history(
    here: Here,
    name: Annotated[str | None, typer.Argument(help="Dataset; unset: everything.")] = None,
    *,
    branch: Annotated[str, typer.Option(help="Branch.")] = "main",
    limit: Annotated[int, typer.Option(help="Commits to show.")] = 20,
) -> None:
    """Who did what, when; newest first."""
    commits = _datasets(here).history(*_who(here), name, branch=branch, limit=limit)
    here.show_table(
        [asdict(commit) for commit in commits],
        ["Commit", "When", "Operation", "Message"],
        [(c.id, _when(c.created_at), c.operation, c.message) for c in commits],
        empty="Nothing has been done here yet.",
    )


@app.in_project("diff")
def diff(
    here: Here,
    name: Name,
    before: Annotated[str, typer.Argument(help="Branch, snapshot or commit.")],
    after: Annotated[str, typer.Argument(help="Branch, snapshot or commit.")] = "main",
    *,
    limit: Annotated[int, typer.Option(help="Rows to show.")] = 20,
) -> None:
    """What differs between two states of a dataset."""
    datasets = _datasets(here)
    old = datasets.get(*_who(here), name, before).version
    new = datasets.get(*_who(here), name, after).version
    counted = datasets.diff(here.scope, old, new)
    rows = datasets.diff_rows(here.scope, old, new, limit=limit)

    def text() -> str:
        sizes = f"{counted.rows_before:,} → {counted.rows_after:,} rows"
        moved = f"{counted.added:,} added, {counted.removed:,} removed, {counted.changed:,} changed"
        lines = [f"{sizes}: {moved}."]
        lines += [f"Column {c.name}: {c.kind}" for c in counted.columns]
        names = [column.name for column in rows.after_columns]
        for row in rows.rows:
            sign = {"added": "+", "removed": "-", "changed": "~"}[row.kind]
            lines.append(f"{sign} {_changes(row, names)}")
        return "\n".join(lines)

    here.show({"diff": asdict(counted), "rows": asdict(rows)}, text)


@app.in_project("undo")
def undo(
    here: Here,
    commit: Annotated[str | None, typer.Argument(help="Commit; unset: the last one.")] = None,
    *,
    branch: Annotated[str, typer.Option(help="Branch.")] = "main",
) -> None:
    """Take back a commit; undo that again with 'steward data redo'."""
    _commit(here, DirectCall("undo", {"commit": commit}, branch=branch))


@app.in_project("redo")
def redo(
    here: Here,
    *,
    branch: Annotated[str, typer.Option(help="Branch.")] = "main",
) -> None:
    """Take back the last undo."""
    _commit(here, DirectCall("redo", {}, branch=branch))


@app.in_project("restore")
def restore(
    here: Here,
    commit: Annotated[str, typer.Argument(help="Commit or snapshot to go back to.")],
    names: Annotated[list[str] | None, typer.Argument(help="Datasets; unset: everything.")] = None,
    *,
    branch: Annotated[str, typer.Option(help="Branch.")] = "main",
) -> None:
    """Bring datasets back to an earlier state, as a new commit."""
    _commit(here, DirectCall("restore", {"to": commit, "datasets": names or None}, branch=branch))


@app.in_project("export")
def export(
    here: Here,
    name: Name,
    target: Annotated[
        Path, typer.Argument(help="File: .csv, .xlsx, .parquet, .delta.zip or .iceberg.zip.")
    ],
    *,
    at: At = "main",
    several_sheets: Annotated[
        bool,
        typer.Option(
            "--several-sheets", help="For Excel: continue on further sheets where one is full."
        ),
    ] = False,
    convert_types: Annotated[
        bool,
        typer.Option(
            "--convert-types", help="For Iceberg: convert columns whose type it does not have."
        ),
    ] = False,
    location: Annotated[
        str | None, typer.Option(help="For Iceberg: where the unpacked table will be.")
    ] = None,
) -> None:
    """Write a dataset to a file."""
    kind = next((k for end, k in _FORMATS.items() if target.name.lower().endswith(end)), None)
    if kind is None:
        raise Invalid(f"{target.name} ends in none of {', '.join(_FORMATS)}.")
    if target.exists():
        raise Conflict(f"{target} exists already. Choose another name; nothing was overwritten.")
    card = _datasets(here).get(*_who(here), name, at)
    arguments = {
        "dataset": name,
        "format": kind,
        "version": card.version,
        "several_sheets": several_sheets,
        "convert_types": convert_types,
        "location": location,
    }
    wanted = DirectCall("export_dataset", arguments, f"Export {name}", subject="export")
    made = call(here, wanted, Role.viewer).value["file"]
    with target.open("xb") as file:
        file.writelines(here.steward.blobs.read(made["digest"]))
    here.show(
        {"path": str(target), "rows": card.rows},
        lambda: f"Wrote {card.rows:,} rows to {target}.",
    )


@app.on_machine("sweep")
def sweep(*, as_json: AsJson = False) -> None:
    """Remove stored data that nothing refers to any more; safe at any time."""
    with installation() as steward:
        report = steward.workbench.versions.sweep()
    show(
        asdict(report),
        as_json=as_json,
        text=lambda: f"Removed {report.blobs:,} blobs ({report.bytes:,} bytes).",
    )


def _commit(here: Here, wanted: DirectCall) -> None:
    """Makes a call that commits, and shows its commit."""
    commit = committed(here, wanted)
    here.show(asdict(commit), lambda: f"{commit.message} ({commit.id}).")


def _changes(row: Any, names: list[str]) -> str:
    if row.kind == "changed" and row.before and row.after:
        pairs = dict(zip(names, zip(row.before, row.after, strict=False), strict=False))
        return ", ".join(f"{n}: {pairs[n][0]} → {pairs[n][1]}" for n in row.changed if n in pairs)
    return " | ".join("–" if cell is None else cell for cell in (row.after or row.before or ()))


def _grid(names: list[str], rows: list[list[str | None]], total: int) -> str:
    shortened = [[None if c is None else c.replace("\n", "⏎")[:40] for c in row] for row in rows]
    return table(names, shortened, empty="No rows.") + f"\n{len(rows):,} of {total:,} rows"


def _when(moment: Any) -> str:
    return "–" if moment is None else moment.strftime("%Y-%m-%d %H:%M")
