"""A version as an Iceberg table: metadata over the same Parquet files, and a small catalogue in SQLite beside it.

The table is written in a local folder as if it were already at the place where engines will find it.
"""

import logging
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from steward.core import Conflict, Misconfigured
from steward.versions._delta import Exported, link, rewrite
from steward.versions._manifest import Manifest, StoredColumn
from steward.versions._read import Locate

if TYPE_CHECKING:
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.schema import Schema

CATALOGUE: Final = "catalog.db"
NAMESPACE: Final = "steward"
_SIMPLE: Final = {
    "BOOLEAN": "boolean",
    "INTEGER": "int",
    "BIGINT": "long",
    "FLOAT": "float",
    "DOUBLE": "double",
    "VARCHAR": "string",
    "BLOB": "binary",
    "DATE": "date",
    "TIME": "time",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "timestamptz",
}
# Iceberg has no small and no unsigned numbers: the next wider type holds all their values.
_WIDENED: Final = {
    "TINYINT": "INTEGER",
    "SMALLINT": "INTEGER",
    "UTINYINT": "INTEGER",
    "USMALLINT": "INTEGER",
    "UINTEGER": "BIGINT",
    "UBIGINT": "DECIMAL(20,0)",
    "HUGEINT": "DECIMAL(38,0)",
    "TIMESTAMP_S": "TIMESTAMP",
    "TIMESTAMP_MS": "TIMESTAMP",
}


def conversions(manifest: Manifest) -> dict[str, tuple[str, str]]:
    """The columns whose type Iceberg does not have, each with its type and the one it is written as."""
    return {
        column.name: (column.type, _converted(column))
        for column in manifest.columns
        if _converted(column) != column.type
    }


def export_iceberg(
    connection: duckdb.DuckDBPyConnection,
    manifest: Manifest,
    locate: Locate,
    target: Path,
    *,
    name: str,
    location: str,
) -> tuple[Exported, str]:
    """Writes data and metadata into a new folder; also the metadata's address, below `location`."""
    if target.exists() and any(target.iterdir()):
        raise Conflict(f"{target} is not empty. Choose another folder; nothing was overwritten.")
    (target / "data").mkdir(parents=True)
    as_is = all(c.is_plain and _converted(c) == c.type for c in manifest.columns)
    files, linked = [], 0
    for index, segment in enumerate(manifest.segments):
        file = f"data/part-{index:05d}-{segment.digest[:16]}.parquet"
        files.append(f"{location}/{file}")
        if as_is and segment.patch is None:
            linked += link(locate(segment.digest), target / file)
        else:
            rewrite(connection, manifest, locate, index, target / file, _converted)
    catalogue = open_catalogue(f"sqlite:///{target / CATALOGUE}", target, location)
    try:
        catalogue.create_namespace_if_not_exists(NAMESPACE)
        table = catalogue.create_table((NAMESPACE, name), _schema(manifest), location=location)
        if files:
            table.add_files(files, {"steward.version": manifest.id}, check_duplicate_files=False)
        address = table.metadata_location
    finally:
        catalogue.close()
    hint = address.rpartition("/")[2].removesuffix(".metadata.json")
    (target / "metadata" / "version-hint.text").write_text(hint)
    return Exported(target, manifest.rows, len(files), linked), address


def open_catalogue(uri: str, folder: Path, location: str, **more: str) -> "SqlCatalog":
    """A catalogue in SQL that finds what is below `location` in a local folder."""
    if find_spec("pyiceberg") is None:
        raise Misconfigured(
            'Iceberg needs the package pyiceberg: install "steward[iceberg]" and restart.'
        )
    from pyiceberg.catalog.sql import SqlCatalog

    logging.getLogger("pyiceberg").setLevel(logging.ERROR)
    properties = {
        "uri": uri,
        "py-io-impl": "steward.versions._iceberg_files.MovedFiles",
        "steward.folder": str(folder),
        "steward.location": location,
    }
    return SqlCatalog(NAMESPACE, **{**properties, **more})


def _converted(column: StoredColumn) -> str:
    kind = column.type
    if kind in _SIMPLE or kind.startswith("DECIMAL("):
        return kind
    return _WIDENED.get(kind, "VARCHAR")


def _schema(manifest: Manifest) -> "Schema":
    from pyiceberg.schema import Schema
    from pyiceberg.types import NestedField

    fields: list[dict[str, Any]] = []
    for number, column in enumerate(manifest.columns, start=1):
        kind = _converted(column)
        name = _SIMPLE.get(kind) or kind.lower()
        fields.append({"id": number, "name": column.name, "type": name, "required": False})
    return Schema(*(NestedField.model_validate(field) for field in fields))
