"""The report document: sections of text, figures, tables, charts, maps and differences, with where it all comes from.

A report is plain data that can be stored, compared and rendered again; `html` and `pdf` draw it. It says nothing about
the present: the time of making and the versions of the data are given by whoever makes it.
"""

import hashlib
import json
from typing import Annotated, Any, Literal, Self

import duckdb
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from steward.core import Invalid
from steward.output import formats, locales
from steward.output.formats import Format, Value
from steward.tables import Column, Table, quote

Line = Annotated[str, Field(max_length=500)]
Prose = Annotated[str, Field(max_length=50_000)]
MAX_ROWS = 2_000
MAX_NODES = 150
_MAX_CELL = 1_000


class _Part(BaseModel):
    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid")


class Text(_Part):
    """Paragraphs in a small Markdown; see `markdown`."""

    kind: Literal["text"] = "text"
    markdown: Prose


class Callout(_Part):
    """A remark that must not be overlooked."""

    kind: Literal["callout"] = "callout"
    tone: Literal["note", "good", "warning", "bad"] = "note"
    markdown: Prose


class Tile(_Part):
    """One figure with its name and, where there is one, its change and whether that is welcome."""

    label: Line
    value: Value
    format: Format = formats.TEXT
    change: Value = None
    change_format: Format | None = None
    welcome: bool | None = None
    note: Line = ""


class Metrics(_Part):
    kind: Literal["metrics"] = "metrics"
    tiles: tuple[Tile, ...] = Field(min_length=1, max_length=24)


class TableColumn(_Part):
    title: Line
    format: Format = formats.TEXT


class TablePart(_Part):
    """Rows of typed cells; `total_rows` is how many there are, if these are only the first."""

    kind: Literal["table"] = "table"
    caption: Line = ""
    columns: tuple[TableColumn, ...] = Field(min_length=1, max_length=40)
    rows: tuple[tuple[Value, ...], ...] = Field(max_length=MAX_ROWS)
    total_rows: int | None = Field(default=None, ge=0)
    totals: tuple[Value, ...] | None = Field(default=None, description="A last row of sums.")

    @model_validator(mode="after")
    def _rectangular(self) -> Self:
        width = len(self.columns)
        if any(len(row) != width for row in (*self.rows, self.totals or self.columns)):
            raise ValueError(f"every row of the table has {width} cells, one per column")
        return self


class ChartPart(_Part):
    """A Vega-Lite specification with its data; it is validated before it is drawn."""

    kind: Literal["chart"] = "chart"
    spec: dict[str, Any]
    caption: Line = ""


class MapNode(_Part):
    id: Line
    label: Line
    detail: Line = ""
    kind: Literal["dataset", "operation", "result"] = "dataset"


class MapEdge(_Part):
    source: Line
    target: Line


class LineageMap(_Part):
    """Where data came from: datasets and operations, drawn in layers from source to result."""

    kind: Literal["lineage"] = "lineage"
    caption: Line = ""
    nodes: tuple[MapNode, ...] = Field(min_length=1, max_length=MAX_NODES)
    edges: tuple[MapEdge, ...] = Field(default=(), max_length=4 * MAX_NODES)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        known = {node.id for node in self.nodes}
        if len(known) != len(self.nodes):
            raise ValueError("every node of the map has an id of its own")
        for edge in self.edges:
            for end in (edge.source, edge.target):
                if end not in known:
                    raise ValueError(f"an edge names {end[:60]!r}, which is no node of the map")
        return self


class CellChange(_Part):
    """One cell before and after; `key` says which row."""

    key: Line
    column: Line
    before: Value
    after: Value


class Difference(_Part):
    """What changed between two versions: counts first, then schema changes and some of the cells."""

    kind: Literal["difference"] = "difference"
    caption: Line = ""
    added: int = Field(ge=0)
    removed: int = Field(ge=0)
    changed: int = Field(ge=0)
    unchanged: int = Field(ge=0)
    schema_changes: tuple[Line, ...] = Field(default=(), max_length=200)
    cells: tuple[CellChange, ...] = Field(default=(), max_length=500)


Part = Annotated[
    Text | Callout | Metrics | TablePart | ChartPart | LineageMap | Difference,
    Field(discriminator="kind"),
]


class Section(_Part):
    heading: Line = ""
    parts: tuple[Part, ...] = Field(max_length=100)


class SourceVersion(_Part):
    """A dataset as it was read: its name, version, the commit that holds it, rows and content hash."""

    dataset: Line
    version: Line
    commit: Line = ""
    rows: int | None = Field(default=None, ge=0)
    content_hash: Line = ""


class Step(_Part):
    """One operation that led here."""

    operation: Line
    summary: Line = ""
    by: Line = ""


class Provenance(_Part):
    sources: tuple[SourceVersion, ...] = Field(default=(), max_length=200)
    steps: tuple[Step, ...] = Field(default=(), max_length=500)
    run: Line = ""


class Report(_Part):
    schema_version: Literal[1] = 1
    title: Line
    subtitle: Line = ""
    author: Line = ""
    confidentiality: Line = ""
    locale: str = "en-GB"
    generated_at: AwareDatetime
    summary: Prose = ""
    sections: tuple[Section, ...] = Field(default=(), max_length=100)
    provenance: Provenance = Provenance()

    @model_validator(mode="after")
    def _known_locale(self) -> Self:
        try:
            locales.locale(self.locale)
        except Invalid as problem:
            raise ValueError(problem.message) from problem
        return self

    def digest(self) -> str:
        """The SHA-256 of the content, without the time of making: equal content has equal digests."""
        content = self.model_dump(mode="json", exclude={"generated_at"})
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def table_part(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    *,
    limit: int = 50,
    caption: str = "",
    column_formats: dict[str, Format] | None = None,
) -> TablePart:
    """The first rows of a table, with the number of all of them."""
    if not 1 <= limit <= MAX_ROWS:
        raise Invalid(f"A table in a report has 1 to {MAX_ROWS} rows, not {limit}.")
    wanted = column_formats or {}
    names = ", ".join(_cell_sql(column) for column in table.columns)
    rows = connection.execute(f"SELECT {names} FROM {table.source} LIMIT {limit}").fetchall()
    counted = connection.execute(f"SELECT count(*) FROM {table.source}").fetchone()
    return TablePart(
        caption=caption,
        columns=tuple(
            TableColumn(
                title=column.name[:500],
                format=wanted.get(column.name) or formats.format_of(column),
            )
            for column in table.columns
        ),
        rows=tuple(tuple(formats.as_json(cell) for cell in row) for row in rows),
        total_rows=int(counted[0]) if counted else None,
    )


def _cell_sql(column: Column) -> str:
    """Texts are cut in the database: a page has no room for a cell of a megabyte. Dates travel as text, because
    Python has no infinity and no year 10000."""
    name = quote(column.name)
    kind = formats.format_of(column).kind
    if kind in {"text", "date", "datetime"}:
        return f"left(CAST({name} AS VARCHAR), {_MAX_CELL})"
    return name
