"""Changing datasets: every operation is planned and shown with counts and a diff before it is committed."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from duckdb import DuckDBPyConnection
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from steward.analysis import Cipher, Method, Mode, decrypt, encrypt, redact, turn, unlock
from steward.analysis.clean import catalogue, clean
from steward.analysis.consolidate import join, union
from steward.core import Invalid, Problem, in_words, mistakes
from steward.ingest import retype
from steward.store import Scope
from steward.tables import (
    Cell,
    Change,
    Preview,
    Table,
    changed_cells,
    leftovers,
    preview,
    session,
)
from steward.versions import MAIN, Commit, Dataset, Draft, Versions

_PREVIEW_ROWS = 50
_PREVIEW_CELLS = 200


class _Arguments(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid")


class JoinArguments(_Arguments):
    """Joins the datasets to the first one, on pairs of columns."""

    on: list[tuple[str, str]] = Field(
        min_length=1, description="Pairs: column of the first, column of the others."
    )
    how: str = Field("left", description="left, inner, right, full, semi or anti.")
    key_normalisation: str = Field(
        "exact", description="How keys are compared: exact, or a normalisation."
    )
    provenance: str | None = Field(
        None, description="Name of a column that says which tables a row comes from."
    )


class UnionArguments(_Arguments):
    """Puts the rows of the datasets under one another."""

    mapping: dict[str, dict[str, str]] | None = Field(
        None, description="Output column → dataset → its column; unset: by name and content."
    )
    distinct: bool = Field(False, description="Leave out rows equal to an earlier one.")
    provenance: str | None = Field(None, description="Name of a column for the source.")


class RedactArguments(_Arguments):
    """Masks, hashes (with the project's key) or drops columns."""

    columns: dict[str, Method] = Field(
        min_length=1, description="Column → {method: mask, hash or drop, …}."
    )


class EncryptArguments(_Arguments):
    """Encrypts columns with the project's key: their values are shown only to people who may decrypt."""

    columns: dict[str, Mode] = Field(
        min_length=1,
        description="Column → deterministic (equal values still join and group) or random.",
    )
    new_key: bool = Field(
        False, description="Use a new key of the project from now on. Older values stay readable."
    )


class DecryptArguments(_Arguments):
    """Stores the plain values of encrypted columns again, for everyone in the project."""

    columns: list[str] = Field(min_length=1, description="Names of encrypted columns.")


class RetypeArguments(_Arguments):
    """Changes the type of a column; refused where values do not fit."""

    column: str
    type: str
    format: str | None = None
    decimal_mark: str | None = None
    thousands: str | None = None
    null_markers: list[str] = []
    misfits: str = Field(
        "refuse", description="refuse, or null: values that do not fit become empty."
    )


@dataclass(frozen=True)
class OperationInfo:
    name: str
    title: str
    description: str
    datasets: str
    """`one` or `several`."""
    arguments: dict[str, Any]
    """JSON Schema, from which the form is made."""


@dataclass(frozen=True)
class Planned:
    """What would happen, before anything does."""

    operation: str
    arguments: dict[str, Any]
    summary: str
    counts: dict[str, int]
    warnings: tuple[str, ...]
    target: str
    preview: Preview
    cells: tuple[Cell, ...]
    leftovers: tuple[Cell, ...]
    rows_before: int | None
    base: str
    """The commit that was read; give it back to apply exactly this."""


class Operations:
    def __init__(
        self,
        versions: Versions,
        hashing_key: Callable[[Scope], bytes],
        cipher: Callable[[Scope, bool], Cipher],
    ) -> None:
        """`cipher` has the keys of a project's columns, a new one first where that is asked for."""
        self._versions = versions
        self._hashing_key = hashing_key
        self._cipher = cipher

    def catalogue(self) -> list[OperationInfo]:
        cleaning = [
            OperationInfo(name, item.title, item.description, "one", item.schema())
            for name, item in catalogue()
        ]
        own = [
            OperationInfo(
                name, title, (model.__doc__ or "").strip(), datasets, model.model_json_schema()
            )
            for name, (title, datasets, model, _) in _OWN.items()
        ]
        return sorted([*cleaning, *own], key=lambda info: info.title)

    def plan(
        self,
        scope: Scope,
        author: str,
        operation: str,
        datasets: Sequence[str],
        arguments: Mapping[str, Any],
        *,
        target: str | None = None,
        branch: str = MAIN,
    ) -> Planned:
        """Previews an operation; reads everything it must, writes nothing."""
        with _Desk(self._versions, scope, author, datasets, branch) as desk:
            change = desk.plan(operation, arguments)
            desk.unlock(change, self._hashing_key)
            return Planned(
                operation=operation,
                arguments=dict(arguments),
                summary=change.summary,
                counts=change.counts,
                warnings=change.warnings + _what_stays(desk, change, target, branch),
                target=_target(operation, datasets, target),
                preview=preview(desk.connection, change, _PREVIEW_ROWS),
                cells=changed_cells(desk.connection, change, _PREVIEW_CELLS),
                leftovers=leftovers(desk.connection, change, _PREVIEW_CELLS),
                rows_before=desk.sources[0].rows,
                base=desk.base,
            )

    def apply(
        self,
        scope: Scope,
        author: str,
        operation: str,
        datasets: Sequence[str],
        arguments: Mapping[str, Any],
        *,
        target: str | None = None,
        branch: str = MAIN,
        base: str | None = None,
        run_id: str | None = None,
    ) -> Commit:
        """Carries out an operation as one commit; refused when its inputs changed since `base`."""
        name = _target(operation, datasets, target)
        with _Desk(self._versions, scope, author, datasets, branch) as desk:
            change = desk.plan(operation, arguments)
            desk.unlock(change, self._hashing_key)
            if operation in {"encrypt_columns", "decrypt_columns"}:
                new = bool(arguments.get("new_key"))
                turn(desk.connection, change, self._cipher(scope, new))
            same_rows = change.cells_sql is not None and name == datasets[0]
            keeps_rows = same_rows and not any("removed" in key for key in change.counts)
            version = self._versions.write(
                scope,
                change.sql,
                rows_of=desk.sources[0].version if keeps_rows else None,
                connection=desk.connection,
            )
            draft = Draft(
                message=change.summary,
                operation=operation,
                arguments={"datasets": list(datasets), **dict(arguments)},
                datasets={name: version.id},
                inputs={name: [source.version for source in desk.sources]},
                lineage={
                    name: {
                        "operation": operation,
                        "inputs": list(datasets),
                        "columns": [asdict(column) for column in change.lineage],
                    }
                },
            )
            workspace = self._versions.workspace(scope, author, run_id=run_id)
            return workspace.commit(draft, branch, base=base or desk.base, unchanged=list(datasets))


def _what_stays(desk: "_Desk", change: Change, target: str | None, branch: str) -> tuple[str, ...]:
    """Where plain values can still be read after an encryption, and by whom."""
    if change.operation == "decrypt_columns":
        return ("Everyone who may look at the project's data can read the values afterwards.",)
    if change.operation != "encrypt_columns":
        return ()
    dataset = desk.sources[0].name
    found = desk.workspace.exposure(dataset, list(change.arguments["columns"]))
    if target not in (None, dataset):
        said = f"{dataset!r} itself keeps the plain values."
    elif branch != MAIN:
        said = f"Earlier versions are closed once this is on the branch {MAIN!r}."
    else:
        said = (
            f"Versions of the dataset that hold the plain values: {found.versions:,}. From now on, only people "
            "who may decrypt can read or restore them. Undo brings the plain values back and needs the same "
            "permission. Retention removes old versions for good."
        )
    files = "Loaded files, results of earlier runs, chats and backups do not change."
    if not found.related:
        return (said, files)
    named = ", ".join(map(repr, found.related[:20])) + (" and more" if found.related[20:] else "")
    return (said, f"Related datasets may hold the same values: {named}.", files)


class _Desk:
    """The inputs of one operation, open in one DuckDB session."""

    def __init__(
        self, versions: Versions, scope: Scope, author: str, datasets: Sequence[str], branch: str
    ) -> None:
        if not datasets:
            raise Invalid("Name at least one dataset.")
        self.workspace = versions.workspace(scope, author)
        self.base = self.workspace.commit_at(branch).id
        self.sources: list[Dataset] = [self.workspace.dataset(name, self.base) for name in datasets]
        self._tables = [versions.table(scope, each.version, each.name) for each in self.sources]
        self._scope = scope
        self._open = ExitStack()

    def __enter__(self) -> "_Desk":
        self.connection = self._open.enter_context(session())
        return self

    def __exit__(self, *details: Any) -> None:
        self._open.__exit__(*details)

    def unlock(self, change: Change, key: Callable[[Scope], bytes]) -> None:
        """Hands the project's key to SQL that hashes with it, until the desk is left."""
        if change.variables:
            self._open.enter_context(unlock(self.connection, key(self._scope)))

    def plan(self, operation: str, arguments: Mapping[str, Any]) -> Change:
        if operation not in _OWN:
            if len(self._tables) != 1:
                raise Invalid(f"{operation} changes one dataset at a time.")
            return clean(self.connection, self._tables[0], operation, arguments)
        title, takes, model, plan = _OWN[operation]
        try:
            checked = model.model_validate(dict(arguments))
        except ValidationError as error:
            found = mistakes(error, "/arguments")
            raise Invalid(
                f"The arguments of {operation} do not fit: {in_words(found)}.", problems=found
            ) from None
        if takes == "one":
            if len(self._tables) != 1:
                raise Invalid(f"{title}: this takes one dataset.")
            return plan(self.connection, self._tables[0], **dict(checked))
        if len(self._tables) < 2:
            raise Invalid(f"A {operation} needs two datasets or more.")
        return plan(self.connection, self._tables, **dict(checked))


def _encrypted(
    connection: DuckDBPyConnection, table: Table, columns: Mapping[str, Mode], **_new_key: bool
) -> Change:
    return encrypt(connection, table, columns)


_OWN: dict[str, tuple[str, str, type[_Arguments], Callable[..., Change]]] = {
    "join": ("Join datasets", "several", JoinArguments, join),
    "union": ("Put datasets under one another", "several", UnionArguments, union),
    "redact": ("Redact personal data", "one", RedactArguments, redact),
    "encrypt_columns": ("Encrypt columns", "one", EncryptArguments, _encrypted),
    "decrypt_columns": ("Decrypt columns", "one", DecryptArguments, decrypt),
    "retype": ("Change a column's type", "one", RetypeArguments, retype),
}


def _target(operation: str, datasets: Sequence[str], target: str | None) -> str:
    """Where the result goes: back into the dataset, or, made from several, under a new name."""
    if target is not None:
        return target
    if operation in {"join", "union"}:
        raise Invalid(
            "Say under which name the result is kept.",
            problems=[Problem("/target", "needed for a join or a union")],
        )
    return datasets[0]
