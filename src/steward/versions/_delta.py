"""A version as a Delta table: a log over the same Parquet files, for engines beyond this machine.

Parts are hard-linked where the file system allows it and copied otherwise. Only patched parts, and tables with types
that Delta does not have, are written anew.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import duckdb

from steward.core import Conflict
from steward.tables import literal, quote
from steward.versions._manifest import Manifest, Segment, StoredColumn
from steward.versions._read import Locate, Reading, select

_SIMPLE: Final = {
    "BOOLEAN": "boolean",
    "TINYINT": "byte",
    "SMALLINT": "short",
    "INTEGER": "integer",
    "BIGINT": "long",
    "FLOAT": "float",
    "DOUBLE": "double",
    "VARCHAR": "string",
    "BLOB": "binary",
    "DATE": "date",
    "TIMESTAMP": "timestamp_ntz",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
}
# Delta has no unsigned numbers: the next wider type holds all their values.
_WIDENED: Final = {
    "UTINYINT": "SMALLINT",
    "USMALLINT": "INTEGER",
    "UINTEGER": "BIGINT",
    "UBIGINT": "DECIMAL(20,0)",
    "HUGEINT": "DECIMAL(38,0)",
    "TIMESTAMP_S": "TIMESTAMP",
    "TIMESTAMP_MS": "TIMESTAMP",
}
_DECIMAL: Final = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_COMPARABLE: Final = {"byte", "short", "integer", "long", "string", "date"}


@dataclass(frozen=True)
class Exported:
    path: Path
    rows: int
    files: int
    linked: int
    """Files shared with the store rather than written."""


def export_delta(
    connection: duckdb.DuckDBPyConnection,
    manifest: Manifest,
    locate: Locate,
    target: Path,
    *,
    name: str,
    now: datetime,
) -> Exported:
    """Writes a Delta table into a new or empty folder."""
    if target.exists() and any(target.iterdir()):
        raise Conflict(f"{target} is not empty. Choose another folder; nothing was overwritten.")
    log = target / "_delta_log"
    log.mkdir(parents=True)
    as_is = all(column.is_plain and delta_type(column.type) for column in manifest.columns)
    moment = int(now.timestamp() * 1000)
    adds, linked = [], 0
    for index, segment in enumerate(manifest.segments):
        path = target / f"part-{index:05d}-{segment.digest[:16]}.parquet"
        if as_is and segment.patch is None:
            linked += link(locate(segment.digest), path)
        else:
            rewrite(connection, manifest, locate, index, path, _converted)
        adds.append(_add(manifest, segment, path, moment))
    actions = [_protocol(manifest), _metadata(manifest, name, moment), *adds]
    text = "".join(json.dumps(action, separators=(",", ":")) + "\n" for action in actions)
    (log / f"{0:020d}.json").write_text(text)
    return Exported(target, manifest.rows, len(adds), linked)


def delta_type(kind: str) -> str | None:
    """Delta's name of a DuckDB type; None where it has to be converted."""
    decimal = _DECIMAL.fullmatch(kind)
    return f"decimal({decimal[1]},{decimal[2]})" if decimal else _SIMPLE.get(kind)


def _converted(column: StoredColumn) -> str:
    """The DuckDB type to export a column as: nested and exotic ones become text."""
    return column.type if delta_type(column.type) else _WIDENED.get(column.type, "VARCHAR")


def link(source: Path, target: Path) -> int:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
        return 0
    return 1


def rewrite(
    connection: duckdb.DuckDBPyConnection,
    manifest: Manifest,
    locate: Locate,
    index: int,
    path: Path,
    converted: Callable[[StoredColumn], str],
) -> None:
    """Writes the live rows of one part, each column as the type that the other format has for it."""
    fields = ", ".join(
        f"CAST({quote(column.name)} AS {converted(column)}) AS {quote(column.name)}"
        for column in manifest.columns
    )
    rows = select(manifest, locate, Reading(only=(index,)))
    connection.execute(
        f"COPY (SELECT {fields} FROM ({rows})) TO {literal(str(path))} "
        "(FORMAT parquet, COMPRESSION zstd)"
    )


def _protocol(manifest: Manifest) -> dict[str, Any]:
    if any(_converted(column) == "TIMESTAMP" for column in manifest.columns):
        features = ["timestampNtz"]
        return {
            "protocol": {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": features,
                "writerFeatures": features,
            }
        }
    return {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}


def _metadata(manifest: Manifest, name: str, moment: int) -> dict[str, Any]:
    fields: list[dict[str, Any]] = [
        {
            "name": column.name,
            "type": delta_type(_converted(column)),
            "nullable": True,
            "metadata": {},
        }
        for column in manifest.columns
    ]
    return {
        "metaData": {
            "id": _uuid(manifest.id),
            "name": name,
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps({"type": "struct", "fields": fields}),
            "partitionColumns": [],
            "configuration": {"steward.version": manifest.id},
            "createdTime": moment,
        }
    }


def _add(manifest: Manifest, segment: Segment, path: Path, moment: int) -> dict[str, Any]:
    stats: dict[str, Any] = {"numRecords": segment.live_rows}
    comparable = [
        column.name
        for column in manifest.columns
        if column.name in segment.stats and delta_type(column.type) in _COMPARABLE
    ]
    if comparable:
        stats["minValues"] = {name: segment.stats[name][0] for name in comparable}
        stats["maxValues"] = {name: segment.stats[name][1] for name in comparable}
    return {
        "add": {
            "path": path.name,
            "partitionValues": {},
            "size": path.stat().st_size,
            "modificationTime": moment,
            "dataChange": True,
            "stats": json.dumps(stats),
        }
    }


def _uuid(digest: str) -> str:
    parts: Sequence[str] = (digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32])
    return "-".join(parts)
