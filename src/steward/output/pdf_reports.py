"""A report as PDF, set by Typst in a child process: data goes in as JSON, so no text can become code."""

import json
import re
from datetime import UTC
from pathlib import Path
from typing import Any

from steward.output import drawing, lineage_map, locales, rendering
from steward.output.pages import View, view
from steward.output.reports import ChartPart, LineageMap, Report
from steward.output.themes import PRINT

_TEMPLATE = Path(__file__).with_name("report.typ")
_FONTS = ("Libertinus Serif", "New Computer Modern")
_MONO = ("DejaVu Sans Mono",)
# What the fonts inside Typst can draw: Latin, Greek, Cyrillic, punctuation, currency, arrows and mathematics.
_COVERED = re.compile(
    "^[\x00-\u052f\u1d00-\u1fff\u2000-\u218f\u2190-\u22ff\u2300-\u23ff\u2500-\u25ff\ufb00-\ufb06\ufffd]*$"
)
_LONG_WORD = re.compile(r"\S{25,}")
_NATURAL_WIDTH = 660.0
_PAGE_PIXELS = re.compile(r'width="([\d.]+)"')
# Characters that fit across the page, portrait and landscape, by type size.
_SIZES = ((95, 9.5, False), (122, 8.0, False), (185, 8.0, True))


def pdf(report: Report, *, seconds: float = rendering.DEFAULT_SECONDS) -> bytes:
    """A tagged PDF (PDF/UA-1): the same report gives the same bytes."""
    shown = view(report)
    _place_images(report, shown)
    for section in shown["sections"]:
        for part in section["parts"]:
            if part["kind"] == "table":
                part["pieces"] = _pieces(part)
                del part["rows"]
            part.pop("data", None)
    shown |= _typography(report, shown)
    text = json.dumps(_breakable(shown), ensure_ascii=False)
    made = report.generated_at.astimezone(UTC)
    task = {
        "do": "pdf",
        "template": _TEMPLATE.read_text(encoding="utf-8"),
        "report": text,
        "timestamp": int(made.timestamp()),
        "system_fonts": not _COVERED.match(text),
    }
    return rendering.run([task], seconds=seconds)[0]


def _typography(report: Report, shown: View) -> View:
    tag = locales.locale(report.locale).tag
    language, _, region = (tag if tag != "iso" else "en-GB").partition("-")
    return {
        "lang": language,
        "region": region,
        "paper": "us-letter" if region == "US" else "a4",
        "fonts": list(_FONTS),
        "mono": list(_MONO),
        "title": shown["title"] or "Report",
    }


def _place_images(report: Report, shown: View) -> None:
    spots: list[View] = []
    orders: list[drawing.Order] = []
    for section, pictured in zip(report.sections, shown["sections"], strict=True):
        for part, spot in zip(section.parts, pictured["parts"], strict=True):
            if isinstance(part, ChartPart):
                spots.append(spot)
                orders.append(drawing.Order(part.spec, "svg", "print", report.locale))
            elif isinstance(part, LineageMap):
                _fit(spot, lineage_map.draw(part, PRINT))
    for spot, image in zip(spots, drawing.draw(orders), strict=True):
        _fit(spot, image.decode())


def _fit(spot: View, svg: str) -> None:
    """A small picture keeps its size, a large one fills the width of the text."""
    found = _PAGE_PIXELS.search(svg)
    pixels = float(found[1]) if found else _NATURAL_WIDTH
    spot["svg"] = svg
    spot["width"] = round(min(100.0, 100.0 * pixels / _NATURAL_WIDTH), 1)


def _pieces(part: View) -> list[View]:
    """A table as one or more tables that fit the page: smaller type, then landscape, then columns in turns."""
    widths = _widths(part)
    for room, size, landscape in _SIZES:
        if sum(widths) <= room:
            piece = _piece(part, range(len(widths)), size, landscape=landscape)
            # A narrow table keeps its width; a wide one fills the page in proportion to its contents.
            piece["widths"] = widths if sum(widths) >= 0.6 * room else []
            return [piece]
    room, size, _ = _SIZES[-1]
    groups: list[list[int]] = []
    for index in range(1, len(widths)):
        used = sum(widths[one] for one in groups[-1]) if groups else 0
        if not groups or used + widths[index] > room:
            # The first column, usually the name of the row, stands in every piece.
            groups.append([0])
        groups[-1].append(index)
    pieces = [_piece(part, group, size, landscape=True) for group in groups or [[0]]]
    for number, piece in enumerate(pieces, start=1):
        piece["caption"] = f"{part['caption']} ({number} of {len(pieces)})".strip()
    return pieces


def _widths(part: View) -> list[int]:
    lines = [[column["title"] for column in part["columns"]], *part["rows"][:200], part["totals"]]
    return [
        min(30, 2 + max((len(line[index]) for line in lines if line), default=0))
        for index in range(len(part["columns"]))
    ]


def _piece(part: View, chosen: Any, size: float, *, landscape: bool) -> View:
    return {
        "caption": part["caption"],
        "note": part["note"],
        "columns": [part["columns"][index] for index in chosen],
        "rows": [[row[index] for index in chosen] for row in part["rows"]],
        "totals": [part["totals"][index] for index in chosen] if part["totals"] else [],
        "size": size,
        "widths": [],
        "landscape": landscape,
    }


def _breakable(node: Any) -> Any:
    """Words without spaces (hashes, addresses, paths) may break anywhere, so that they stay on the page."""
    if isinstance(node, dict):
        return {
            key: value
            if key in {"svg", "address", "digest", "fonts", "mono"}
            else _breakable(value)
            for key, value in node.items()
        }
    if isinstance(node, list):
        return [_breakable(item) for item in node]
    if not isinstance(node, str):
        return node
    return _LONG_WORD.sub(lambda word: "\u200b".join(word.group()), node)
