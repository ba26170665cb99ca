"""Showing data to people: charts, reports and files for spreadsheets.

Modules are imported by name (`steward.output.charts`, `.reports`, `.xlsx` …): nothing here is loaded before
somebody wants to see something.
"""

from typing import TYPE_CHECKING

from steward.core.lazy_doors import lazily
from steward.output import locales
from steward.output.csv_files import spreadsheet_safe
from steward.output.requests import ChartRequest

if TYPE_CHECKING:
    from steward.output.chart_suggestions import suggest
    from steward.output.charts import chart
    from steward.output.csv_files import write_csv
    from steward.output.html_reports import html
    from steward.output.lineage_map import draw
    from steward.output.openlineage import openlineage_events
    from steward.output.pdf_reports import pdf
    from steward.output.reports import (
        MAX_NODES,
        ChartPart,
        LineageMap,
        MapEdge,
        MapNode,
        Metrics,
        Part,
        Provenance,
        Report,
        Section,
        SourceVersion,
        Step,
        TableColumn,
        TablePart,
        Tile,
        table_part,
    )
    from steward.output.themes import LIGHT
    from steward.output.xlsx import MAX_ROWS, Sheet, check_size, write_xlsx

__all__ = [
    "LIGHT",
    "MAX_NODES",
    "MAX_ROWS",
    "ChartPart",
    "ChartRequest",
    "LineageMap",
    "MapEdge",
    "MapNode",
    "Metrics",
    "Part",
    "Provenance",
    "Report",
    "Section",
    "Sheet",
    "SourceVersion",
    "Step",
    "TableColumn",
    "TablePart",
    "Tile",
    "chart",
    "check_size",
    "draw",
    "html",
    "locales",
    "openlineage_events",
    "pdf",
    "spreadsheet_safe",
    "suggest",
    "table_part",
    "write_csv",
    "write_xlsx",
]

__getattr__ = lazily(__name__)
