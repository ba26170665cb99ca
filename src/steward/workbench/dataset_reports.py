"""A standard report about datasets: what is in them, how good it is, where it comes from."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import duckdb

from steward.core import Clock, work
from steward.store import Scope
from steward.tables import Table, session, type_word
from steward.versions import MAIN, Commit, Dataset, Draft, Versions
from steward.workbench.insights import Insights

if TYPE_CHECKING:
    from steward.output import LineageMap, Part, Report, Section

FOLDER = "reports"
Format = Literal["html", "pdf"]
Contents = Literal["profile", "rows"]
_CHARTS = 3
_STEPS = 50
_OVERLAPS = 30
_PAGE_COLUMNS = 10
_MOST_ROWS = 2_000


class DatasetReports:
    def __init__(self, versions: Versions, insights: Insights, clock: Clock) -> None:
        self._versions = versions
        self._insights = insights
        self._clock = clock

    def write(
        self,
        scope: Scope,
        author: str,
        title: str,
        datasets: Sequence[str],
        *,
        locale: str = "en-GB",
        branch: str = MAIN,
        contents: Contents = "profile",
    ) -> Commit:
        """Writes the report as HTML and PDF into the project's files, in one commit."""
        from steward.output import html, pdf

        workspace = self._versions.workspace(scope, author)
        sources = [workspace.dataset(name, branch) for name in datasets]
        report = self._report(scope, author, title, sources, locale, branch, contents)
        work.report("Laying it out")
        stem = f"{FOLDER}/{_plain(title)}"
        files = [
            self._versions.put_file(scope, f"{stem}.html", [html(report)]),
            self._versions.put_file(scope, f"{stem}.pdf", [pdf(report)]),
        ]
        work.report("Committing")
        draft = Draft(
            message=f"Report {title}",
            operation="report",
            arguments={
                "datasets": list(datasets),
                "digest": report.digest(),
                "files": [file.path for file in files],
            },
            files={file.path: file.digest for file in files},
        )
        return workspace.commit(draft, branch)

    def _report(
        self,
        scope: Scope,
        author: str,
        title: str,
        sources: Sequence[Dataset],
        locale: str,
        branch: str,
        contents: Contents,
    ) -> "Report":
        from steward.output import Provenance, Report, Section, SourceVersion, Step

        workspace = self._versions.workspace(scope, author)
        head = workspace.commit_at(branch)
        sections: list[Section] = []
        with session() as connection:
            for number, source in enumerate(sources):
                work.report("Looking at the data", number, len(sources))
                table = self._versions.table(scope, source.version, source.name)
                sections.append(
                    _rows_section(connection, table)
                    if contents == "rows"
                    else self._section(connection, table, locale)
                )
        overlap = self._overlap(scope, author, [source.name for source in sources], branch)
        if overlap is not None and contents == "profile":
            sections.insert(0, overlap)
        lineage = self._lineage(scope, author, branch)
        if lineage is not None:
            sections.append(Section(heading="Lineage", parts=(lineage,)))
        history: list[Commit] = []
        for source in sources:
            history += workspace.history(source.name, branch, limit=_STEPS)
        return Report(
            title=title,
            locale=locale,
            generated_at=self._clock.now(),
            sections=tuple(sections),
            provenance=Provenance(
                sources=tuple(
                    SourceVersion(
                        dataset=source.name,
                        version=source.version,
                        commit=head.id,
                        rows=source.rows,
                        content_hash=source.version,
                    )
                    for source in sources
                ),
                steps=tuple(
                    Step(operation=commit.operation, summary=commit.message[:500], by=commit.author)
                    for commit in reversed(history)
                ),
            ),
        )

    def _section(
        self, connection: duckdb.DuckDBPyConnection, table: Table, locale: str
    ) -> "Section":
        from steward.analysis.profile import profile
        from steward.output import (
            ChartPart,
            Metrics,
            Section,
            TableColumn,
            TablePart,
            Tile,
            chart,
            suggest,
            table_part,
        )

        found = profile(connection, table)
        parts: list[Part] = [
            Metrics(
                tiles=(
                    Tile(label="Rows", value=found.rows),
                    Tile(label="Columns", value=len(found.columns)),
                    Tile(label="Empty cells", value=sum(c.nulls for c in found.columns)),
                )
            ),
            TablePart(
                caption="Columns",
                columns=tuple(
                    TableColumn(title=name) for name in ("Column", "Type", "Missing", "Notes")
                ),
                rows=tuple(
                    (c.name[:500], type_word(c.type)[:100], c.nulls, " ".join(c.notes)[:900])
                    for c in found.columns
                ),
            ),
        ]
        for request in suggest(connection, table, limit=_CHARTS):
            drawn = chart(connection, table, request, locale=locale)
            parts.append(ChartPart(spec=drawn.spec, caption=drawn.description[:500]))
        parts.append(table_part(connection, _narrowed(table), limit=10, caption="First rows"))
        return Section(heading=table.name, parts=tuple(parts))

    def _overlap(
        self, scope: Scope, author: str, names: Sequence[str], branch: str
    ) -> "Section | None":
        """How the datasets go together, where somebody had them related before."""
        from steward.output import Section, TableColumn, TablePart

        known = self._insights.known_relations(scope, author, branch, names)
        if len(names) < 2 or known is None or not known["relationships"]:
            return None
        headings = ("Column", "Found in", "Kind", "Shared %", "Rows without", "Why")
        rows = tuple(
            (
                f"{each['table']}: {', '.join(each['columns'])}"[:500],
                f"{each['referenced_table']}: {', '.join(each['referenced_columns'])}"[:500],
                f"{each['kind']} ({each['cardinality']})",
                round(100 * each["coverage"], 1),
                each["orphan_rows"] + each["null_rows"],
                each["reason"][:900],
            )
            for each in known["relationships"][:_OVERLAPS]
        )
        table = TablePart(
            caption="Columns whose values are found elsewhere",
            columns=tuple(TableColumn(title=name) for name in headings),
            rows=rows,
            total_rows=len(known["relationships"]),
        )
        return Section(heading="How they overlap", parts=(table,))

    def _lineage(self, scope: Scope, author: str, branch: str) -> "LineageMap | None":
        from steward.output import MAX_NODES, LineageMap, MapEdge, MapNode

        found = self._insights.lineage(scope, author, branch)
        if not found["nodes"] or len(found["nodes"]) > MAX_NODES:
            return None
        return LineageMap(
            nodes=tuple(
                MapNode(
                    id=node["id"],
                    label=node["label"],
                    kind="operation" if node["kind"] == "operation" else "dataset",
                )
                for node in found["nodes"]
            ),
            edges=tuple(MapEdge(source=e["from"], target=e["to"]) for e in found["edges"]),
        )


def _rows_section(connection: duckdb.DuckDBPyConnection, table: Table) -> "Section":
    """The rows themselves, as many as a report has room for."""
    from steward.output import Metrics, Section, Tile, table_part

    shown = table_part(connection, _telling(table), limit=_MOST_ROWS)
    tiles = (
        Tile(label="Rows", value=shown.total_rows),
        Tile(label="Columns", value=len(table.columns)),
    )
    return Section(heading=table.name, parts=(Metrics(tiles=tiles), shown))


def _telling(table: Table) -> Table:
    """The columns a page has room for: what names a row, numbers and dates before further texts."""
    columns = list(enumerate(table.columns))
    ranked = sorted(columns, key=lambda each: (each[0] > 0 and each[1].type == "VARCHAR", each[0]))
    kept = sorted(number for number, _ in ranked[:_PAGE_COLUMNS])
    return replace(table, columns=tuple(table.columns[number] for number in kept))


def _narrowed(table: Table) -> Table:
    """The first columns only: a page is as wide as it is."""
    return replace(table, columns=table.columns[:_PAGE_COLUMNS])


def _plain(title: str) -> str:
    kept = "".join(c if c.isalnum() or c in " _-" else "_" for c in title).strip()
    return kept[:80] or "report"
