"""`steward data`: datasets from the terminal."""

import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from steward.app import Steward
from steward.cli.adding import Wanted, add_file, add_table, is_server, with_password
from steward.cli.output import AsJson, command, installation, show, table
from steward.cli.projects import ProjectOption, UserOption, enter
from steward.core.errors import Conflict, Invalid, NotFound
from steward.data.versions import Commit
from steward.data.workbench import Task
from steward.identity import Access, Role

app = typer.Typer(no_args_is_help=True)
T = TypeVar("T")

Name = Annotated[str, typer.Argument(help="Name of the dataset.")]
At = Annotated[str, typer.Option("--at", help="Branch, snapshot or commit.")]


@dataclass(frozen=True)
class _Place:
    steward: Steward
    access: Access

    @property
    def who(self) -> tuple[Any, str]:
        return self.access.scope, self.access.user_id


def _in_project(
    user: str | None, project: str | None, work: Callable[[_Place], T], role: Role = Role.viewer
) -> T:
    with installation() as steward:
        access = enter(steward, user, project)
        access.require(role)
        return work(_Place(steward, access))


@app.command("ls")
@command
def list_datasets(
    *,
    branch: Annotated[str, typer.Option(help="Branch to list.")] = "main",
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """List the datasets of a project."""
    cards = _in_project(user, project, lambda p: p.steward.workbench.datasets.page(*p.who, branch))
    show(
        [asdict(card) for card in cards],
        as_json=as_json,
        text=lambda: table(
            ["Name", "Rows", "Columns", "Changed", "By"],
            [
                (c.name, f"{c.rows:,}", len(c.columns), _when(c.changed_at), c.operation)
                for c in cards
            ],
            empty="No datasets. Add one with 'steward data add FILE'.",
        ),
    )


@app.command("add")
@command
def add(
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
    branch: Annotated[str, typer.Option(help="Branch to commit to.")] = "main",
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Load a file or a server's table as a dataset, or as a new version of it."""
    wanted = Wanted(name, table_name, branch)
    if is_server(source):
        url = with_password(source, from_stdin=password_stdin)
        done = _in_project(
            user, project, lambda p: add_table(p.steward, p.access, url, wanted), Role.editor
        )
    else:
        path = Path(source)
        if not path.is_file():
            raise NotFound(f"There is no file {path}.")
        done = _in_project(
            user, project, lambda p: add_file(p.steward, p.access, path, wanted), Role.editor
        )

    def text() -> str:
        lines = [f"Loaded {done['rows']:,} of {done['records']:,} records as {done['dataset']!r}."]
        if done["rejected"]:
            lines.append(f"{done['rejected']:,} did not fit; see '{done['dataset']} (rejects)'.")
        return "\n".join([*lines, *(f"Note: {warning}" for warning in done["warnings"])])

    show(done, as_json=as_json, text=text)


@app.command("show")
@command
def show_rows(
    name: Name,
    *,
    limit: Annotated[int, typer.Option(help="Rows to show.")] = 20,
    offset: Annotated[int, typer.Option(help="Rows to skip.")] = 0,
    at: At = "main",
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Show rows of a dataset."""

    def work(place: _Place) -> Any:
        datasets = place.steward.workbench.datasets
        card = datasets.get(*place.who, name, at)
        return datasets.rows(place.access.scope, card.version, offset=offset, limit=limit)

    page = _in_project(user, project, work)
    show(
        asdict(page),
        as_json=as_json,
        text=lambda: _grid([c.name for c in page.columns], page.rows, page.total),
    )


@app.command("profile")
@command
def profile_dataset(
    name: Name,
    *,
    at: At = "main",
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Counts, distributions and quality notes of every column."""

    def work(place: _Place) -> dict[str, Any]:
        workbench = place.steward.workbench
        card = workbench.datasets.get(*place.who, name, at)
        found = workbench.insights.profile(*place.who, name, card.version)
        return _awaited(place, found)

    document = _in_project(user, project, work)

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

    show(document, as_json=as_json, text=text)


@app.command("history")
@command
def history(
    name: Annotated[str | None, typer.Argument(help="Dataset; unset: everything.")] = None,
    *,
    branch: Annotated[str, typer.Option(help="Branch.")] = "main",
    limit: Annotated[int, typer.Option(help="Commits to show.")] = 20,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Who did what, when; newest first."""
    commits = _in_project(
        user,
        project,
        lambda p: p.steward.workbench.datasets.history(*p.who, name, branch=branch, limit=limit),
    )
    show(
        [asdict(commit) for commit in commits],
        as_json=as_json,
        text=lambda: table(
            ["Commit", "When", "Operation", "Message"],
            [(c.id, _when(c.created_at), c.operation, c.message) for c in commits],
            empty="Nothing has been done here yet.",
        ),
    )


@app.command("diff")
@command
def diff(
    name: Name,
    before: Annotated[str, typer.Argument(help="Branch, snapshot or commit.")],
    after: Annotated[str, typer.Argument(help="Branch, snapshot or commit.")] = "main",
    *,
    limit: Annotated[int, typer.Option(help="Rows to show.")] = 20,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """What differs between two states of a dataset."""

    def work(place: _Place) -> tuple[Any, Any]:
        datasets = place.steward.workbench.datasets
        old = datasets.get(*place.who, name, before).version
        new = datasets.get(*place.who, name, after).version
        scope = place.access.scope
        return datasets.diff(scope, old, new), datasets.diff_rows(scope, old, new, limit=limit)

    counted, rows = _in_project(user, project, work)

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

    show({"diff": asdict(counted), "rows": asdict(rows)}, as_json=as_json, text=text)


@app.command("undo")
@command
def undo(
    commit: Annotated[str | None, typer.Argument(help="Commit; unset: the last one.")] = None,
    *,
    branch: Annotated[str, typer.Option(help="Branch.")] = "main",
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Take back a commit; undo that again with 'steward data redo'."""
    done = _in_project(
        user,
        project,
        lambda p: p.steward.workbench.datasets.undo(*p.who, commit, branch),
        Role.editor,
    )
    _committed(done, as_json=as_json)


@app.command("redo")
@command
def redo(
    *,
    branch: Annotated[str, typer.Option(help="Branch.")] = "main",
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Take back the last undo."""
    done = _in_project(
        user, project, lambda p: p.steward.workbench.datasets.redo(*p.who, branch), Role.editor
    )
    _committed(done, as_json=as_json)


@app.command("restore")
@command
def restore(
    commit: Annotated[str, typer.Argument(help="Commit or snapshot to go back to.")],
    names: Annotated[list[str] | None, typer.Argument(help="Datasets; unset: everything.")] = None,
    *,
    branch: Annotated[str, typer.Option(help="Branch.")] = "main",
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Bring datasets back to an earlier state, as a new commit."""
    done = _in_project(
        user,
        project,
        lambda p: p.steward.workbench.datasets.restore(
            *p.who, commit, branch=branch, datasets=names or None
        ),
        Role.editor,
    )
    _committed(done, as_json=as_json)


@app.command("export")
@command
def export(
    name: Name,
    target: Annotated[Path, typer.Argument(help="File: .csv, .xlsx, .parquet or .delta.zip.")],
    *,
    at: At = "main",
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Write a dataset to a file."""
    kinds = {".csv": "csv", ".xlsx": "xlsx", ".parquet": "parquet", ".zip": "delta"}
    kind = kinds.get(target.suffix.lower())
    if kind is None:
        raise Invalid(f"{target.name} ends in none of .csv, .xlsx, .parquet, .delta.zip.")
    if target.exists():
        raise Conflict(f"{target} exists already. Choose another name; nothing was overwritten.")

    def work(place: _Place) -> int:
        workbench = place.steward.workbench
        card = workbench.datasets.get(*place.who, name, at)
        with workbench.outputs.export(place.access.scope, name, card.version, kind) as exported:  # type: ignore[arg-type]
            shutil.copyfile(exported.path, target)
        return card.rows

    rows = _in_project(user, project, work)
    show(
        {"path": str(target), "rows": rows},
        as_json=as_json,
        text=lambda: f"Wrote {rows:,} rows to {target}.",
    )


@app.command("sweep")
@command
def sweep(*, as_json: AsJson = False) -> None:
    """Remove stored data that nothing refers to any more; safe at any time."""
    with installation() as steward:
        report = steward.workbench.versions.sweep()
    show(
        asdict(report),
        as_json=as_json,
        text=lambda: f"Removed {report.blobs:,} blobs ({report.bytes:,} bytes).",
    )


def _awaited(place: _Place, found: dict[str, Any] | Task) -> dict[str, Any]:
    if not isinstance(found, Task):
        return found
    tasks = place.steward.workbench.tasks
    tasks.wait(found.id)
    ended = tasks.get(place.access.scope, found.id)
    if ended.result is None:
        raise Conflict(ended.error or "It was cancelled.", code=ended.error_code)
    return ended.result


def _committed(commit: Commit, *, as_json: bool) -> None:
    show(asdict(commit), as_json=as_json, text=lambda: f"{commit.message} ({commit.id}).")


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
