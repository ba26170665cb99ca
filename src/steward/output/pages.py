"""A report as what is shown: every value a text in the reader's locale, ready for HTML and PDF alike."""

import re
from collections.abc import Callable
from typing import Any

from steward.output import drawing, formats, locales, markdown
from steward.output.formats import Format, Value
from steward.output.lineage_map import describe
from steward.output.reports import (
    Callout,
    ChartPart,
    Difference,
    LineageMap,
    Metrics,
    Part,
    Report,
    Section,
    TablePart,
    Text,
    Tile,
)

View = dict[str, Any]

# Control characters do not print, and those that turn the direction of text can make a figure read as another.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_CHART_ROWS = 60


def clean(text: str) -> str:
    """The text without characters that hide or turn other text."""
    return _UNSEEN.sub("\ufffd", text)


def view(report: Report) -> View:
    where = locales.locale(report.locale)
    levels = _Levels()
    return {
        "language": where.tag if where.tag != "iso" else "en",
        "title": clean(report.title),
        "subtitle": clean(report.subtitle),
        "author": clean(report.author),
        "confidentiality": clean(report.confidentiality),
        "date": locales.long_date(report.generated_at.date(), where),
        "moment": locales.moment(report.generated_at, where),
        "summary": _blocks(report.summary, levels),
        "sections": [_section(section, where, levels) for section in report.sections],
        "provenance": _provenance(report, where),
        "digest": report.digest(),
    }


class _Levels:
    """Headings never skip a level: screen readers and PDF readers navigate by them."""

    def __init__(self) -> None:
        self._last = 1

    def next(self, wanted: int) -> int:
        self._last = min(max(2, wanted), self._last + 1)
        return self._last


def _section(section: Section, where: locales.Locale, levels: _Levels) -> View:
    level = levels.next(2) if section.heading else 0
    return {
        "heading": clean(section.heading),
        "level": level,
        "parts": [_part(part, where, levels) for part in section.parts],
    }


def _part(part: Part, where: locales.Locale, levels: _Levels) -> View:
    if isinstance(part, Text):
        return {"kind": "text", "blocks": _blocks(part.markdown, levels)}
    if isinstance(part, Callout):
        return {"kind": "callout", "tone": part.tone, "blocks": _blocks(part.markdown, levels)}
    return {"kind": part.kind, **_SHOWN[part.kind](part, where)}


def _blocks(text: str, levels: _Levels) -> list[View]:
    blocks = []
    for block in markdown.parse(clean(text)):
        shown = block.as_dict()
        if block.kind == "heading":
            shown["level"] = levels.next(block.level + 2)
        blocks.append(shown)
    return blocks


def _metrics(part: Metrics, where: locales.Locale) -> View:
    return {"tiles": [_tile(tile, where) for tile in part.tiles]}


def _tile(tile: Tile, where: locales.Locale) -> View:
    change = ""
    if tile.change is not None:
        change = _shown(tile.change, tile.change_format or tile.format, where)
        rises = isinstance(tile.change, (int, float)) and tile.change > 0
        change = f"+{change}" if rises and not change.startswith("+") else change
    tone = {True: "good", False: "bad", None: "quiet"}[tile.welcome]
    return {
        "label": clean(tile.label),
        "value": _shown(tile.value, tile.format, where) or "–",
        "change": change,
        "tone": tone,
        "note": clean(tile.note),
    }


def _table(part: TablePart, where: locales.Locale) -> View:
    wanted = [
        _with_places(column.format, [row[index] for row in part.rows])
        for index, column in enumerate(part.columns)
    ]

    def line(cells: tuple[Value, ...]) -> list[str]:
        return [_shown(cell, one, where) for cell, one in zip(cells, wanted, strict=True)]

    note = ""
    if part.total_rows is not None and part.total_rows > len(part.rows):
        first, of = (locales.number(count, where) for count in (len(part.rows), part.total_rows))
        note = f"The first {first} of {of} rows."
    return {
        "caption": clean(part.caption),
        "columns": [
            {
                "title": clean(column.title),
                "numeric": column.format.numeric,
                "short": column.format.kind in {"date", "datetime", "boolean"},
            }
            for column in part.columns
        ],
        "rows": [line(row) for row in part.rows],
        "totals": line(part.totals) if part.totals is not None else [],
        "note": note if part.rows else "No rows.",
    }


def _with_places(wanted: Format, cells: list[Value]) -> Format:
    """Floating numbers of one column get the same number of decimals, so that their points stand in line."""
    if wanted.kind != "number" or wanted.decimals is not None:
        return wanted
    places = [formats.decimal_places(cell) for cell in cells if isinstance(cell, float)]
    return Format(kind="number", decimals=max(places)) if places else wanted


def _chart(part: ChartPart, where: locales.Locale) -> View:
    title = clean(drawing.heading(part.spec))
    description = clean(str(part.spec.get("description", "")))
    return {
        "caption": clean(part.caption),
        "title": title,
        "alternative": description or title or "Chart",
        "data": _chart_data(part.spec, where),
    }


def _chart_data(spec: dict[str, Any], where: locales.Locale) -> View | None:
    """The figures behind a chart as a table, where the chart is small and simple enough to have one."""
    data = spec.get("data")
    rows = data.get("values") if isinstance(data, dict) else None
    if not isinstance(rows, list) or not 0 < len(rows) <= _CHART_ROWS:
        return None
    if not all(isinstance(row, dict) for row in rows):
        return None
    names = list(dict.fromkeys(key for row in rows for key in row))[:12]
    titles = _field_titles(spec)
    numeric = [
        all(isinstance(row.get(name), (int, float, type(None))) for row in rows) for name in names
    ]
    plain = [_with_places(Format(kind="number"), [row.get(name) for row in rows]) for name in names]
    return {
        "columns": [
            {"title": clean(str(titles.get(name) or name)), "numeric": right}
            for name, right in zip(names, numeric, strict=True)
        ],
        "rows": [
            [
                _shown(row.get(name), one, where) if right else clean(str(row.get(name) or ""))
                for name, right, one in zip(names, numeric, plain, strict=True)
            ]
            for row in rows
        ],
    }


def _field_titles(spec: dict[str, Any]) -> dict[str, Any]:
    encoding = spec.get("encoding")
    if not isinstance(encoding, dict):
        return {}
    channels = [one for one in encoding.values() if isinstance(one, dict)]
    return {
        one["field"]: one.get("title")
        for one in channels
        if isinstance(one.get("field"), str) and isinstance(one.get("title"), str)
    }


def _lineage(part: LineageMap, _where: locales.Locale) -> View:
    return {"caption": clean(part.caption), "alternative": clean(describe(part))}


def _difference(part: Difference, where: locales.Locale) -> View:
    counts = [
        ("added", "Rows added", part.added),
        ("removed", "Rows removed", part.removed),
        ("changed", "Rows changed", part.changed),
        ("unchanged", "Rows unchanged", part.unchanged),
    ]
    return {
        "caption": clean(part.caption),
        "counts": [
            {"name": name, "label": label, "value": locales.number(count, where)}
            for name, label, count in counts
        ],
        "schema_changes": [clean(change) for change in part.schema_changes],
        "cells": [
            {
                "key": clean(cell.key),
                "column": clean(cell.column),
                "before": _shown(cell.before, formats.TEXT, where),
                "after": _shown(cell.after, formats.TEXT, where),
            }
            for cell in part.cells
        ],
    }


_SHOWN: dict[str, Callable[[Any, locales.Locale], View]] = {
    "metrics": _metrics,
    "table": _table,
    "chart": _chart,
    "lineage": _lineage,
    "difference": _difference,
}


def _provenance(report: Report, where: locales.Locale) -> View:
    given = report.provenance
    return {
        "sources": [
            {
                "dataset": clean(source.dataset),
                "version": clean(source.version),
                "commit": clean(source.commit),
                "rows": "" if source.rows is None else locales.number(source.rows, where),
                "hash": clean(source.content_hash),
            }
            for source in given.sources
        ],
        "steps": [
            {
                "operation": clean(step.operation),
                "summary": clean(step.summary),
                "by": clean(step.by),
            }
            for step in given.steps
        ],
        "run": clean(given.run),
    }


def _shown(value: Value, wanted: Format, where: locales.Locale) -> str:
    return clean(formats.show(value, wanted, where))
