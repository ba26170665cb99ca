"""A report as one HTML file: no script, nothing loaded, every text escaped; light, dark and on paper."""

import base64
import hashlib
from html import escape
from pathlib import Path
from typing import Any

from steward.output import drawing, lineage_map
from steward.output.pages import View, view
from steward.output.reports import ChartPart, LineageMap, Part, Report
from steward.output.themes import DARK, LIGHT

_STYLE = Path(__file__).with_name("report.css")
Images = dict[tuple[int, int], tuple[str, str]]
"""By section and part: the light and the dark image of a chart or map, as data addresses."""


def html(report: Report) -> bytes:
    """The whole report in one file that may be mailed, archived and printed."""
    shown = view(report)
    images = _images(report)
    style = _STYLE.read_text(encoding="utf-8")
    allowed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src data:; style-src 'sha256-{allowed}'; "
        "base-uri 'none'; form-action 'none'"
    )
    body = _cover(shown) + _contents(shown)
    for i, section in enumerate(shown["sections"]):
        body += _section(section, i, images)
    body += _provenance(shown)
    text = (
        f'<!doctype html>\n<html lang="{_e(shown["language"])}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_e(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{_e(shown['title'])}</title>\n<style>{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
    return text.encode()


def _e(text: Any) -> str:
    return escape(str(text), quote=True)


# -- images --------------------------------------------------------------------------------------------------


def _images(report: Report) -> Images:
    spots: list[tuple[int, int]] = []
    orders: list[drawing.Order] = []
    images: Images = {}
    for place, part in _numbered(report):
        if isinstance(part, ChartPart):
            spots.append(place)
            orders.append(drawing.Order(part.spec, "svg", "light", report.locale))
            orders.append(drawing.Order(part.spec, "svg", "dark", report.locale))
        elif isinstance(part, LineageMap):
            light, dark = (lineage_map.draw(part, theme).encode() for theme in (LIGHT, DARK))
            images[place] = (_address(light), _address(dark))
    drawn = drawing.draw(orders)
    for number, place in enumerate(spots):
        images[place] = (_address(drawn[2 * number]), _address(drawn[2 * number + 1]))
    return images


def _numbered(report: Report) -> list[tuple[tuple[int, int], Part]]:
    return [
        ((i, j), part)
        for i, section in enumerate(report.sections)
        for j, part in enumerate(section.parts)
    ]


def _address(svg: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode()


# -- the page ------------------------------------------------------------------------------------------------


def _cover(shown: View) -> str:
    label = shown["confidentiality"]
    marked = f'<p class="confidentiality">{_e(label)}</p>\n' if label else ""
    subtitle = f'<p class="subtitle">{_e(shown["subtitle"])}</p>\n' if shown["subtitle"] else ""
    byline = " · ".join(_e(part) for part in (shown["date"], shown["author"]) if part)
    summary = _blocks(shown["summary"])
    summary = f'<div class="summary">\n{summary}</div>\n' if summary else ""
    return (
        f"<header>\n{marked}<h1>{_e(shown['title'])}</h1>\n{subtitle}"
        f'<p class="byline">{byline}</p>\n</header>\n{summary}'
    )


def _contents(shown: View) -> str:
    headed = [(i, s["heading"]) for i, s in enumerate(shown["sections"]) if s["heading"]]
    if len(headed) < 4:
        return ""
    links = "".join(f'<li><a href="#section-{i}">{_e(name)}</a></li>' for i, name in headed)
    return f'<nav aria-label="Contents">\n<ol>{links}</ol>\n</nav>\n'


def _section(section: View, number: int, images: Images) -> str:
    heading, name = "", ""
    if section["heading"]:
        heading = f'<h2 id="section-{number}">{_e(section["heading"])}</h2>\n'
        name = f' aria-labelledby="section-{number}"'
    parts = "".join(
        _part(part, images.get((number, index))) for index, part in enumerate(section["parts"])
    )
    return f"<section{name}>\n{heading}{parts}</section>\n"


def _part(part: View, image: tuple[str, str] | None) -> str:
    kind = part["kind"]
    if kind == "text":
        return _blocks(part["blocks"])
    if kind == "callout":
        word = {"note": "Note", "good": "Good", "warning": "Warning", "bad": "Problem"}
        return (
            f'<aside class="callout {part["tone"]}">\n<p class="tone">{word[part["tone"]]}</p>\n'
            f"{_blocks(part['blocks'])}</aside>\n"
        )
    if kind == "metrics":
        return _metrics(part)
    if kind == "table":
        return _table(part)
    if kind == "difference":
        return _difference(part)
    return _figure(part, image)


def _metrics(part: View) -> str:
    tiles = []
    for tile in part["tiles"]:
        change = (
            f'<dd class="change {tile["tone"]}">{_e(tile["change"])}</dd>' if tile["change"] else ""
        )
        note = f'<dd class="note">{_e(tile["note"])}</dd>' if tile["note"] else ""
        tiles.append(
            f"<div><dt>{_e(tile['label'])}</dt>"
            f'<dd class="figure">{_e(tile["value"])}</dd>{change}{note}</div>'
        )
    return f'<dl class="tiles">{"".join(tiles)}</dl>\n'


def _table(part: View) -> str:
    caption = f"<caption>{_e(part['caption'])}</caption>" if part["caption"] else ""
    note = f'<p class="note">{_e(part["note"])}</p>' if part["note"] else ""
    foot = ""
    if part["totals"]:
        foot = f"<tfoot>{_row(part['totals'], part['columns'])}</tfoot>"
    name = _e(part["caption"] or "Table")
    return (
        f'<div class="scroll" role="region" aria-label="{name}" tabindex="0">\n<table>{caption}'
        f"{_head(part['columns'])}<tbody>{_rows(part['rows'], part['columns'])}</tbody>{foot}</table>\n</div>\n{note}\n"
    )


def _head(columns: list[View]) -> str:
    cells = "".join(
        f'<th scope="col"{_side(column)}>{_e(column["title"])}</th>' for column in columns
    )
    return f"<thead><tr>{cells}</tr></thead>"


def _rows(rows: list[list[str]], columns: list[View]) -> str:
    return "\n".join(_row(row, columns) for row in rows)


def _row(cells: list[str], columns: list[View]) -> str:
    inside = "".join(
        f"<td{_side(column)}>{_e(cell)}</td>" for cell, column in zip(cells, columns, strict=True)
    )
    return f"<tr>{inside}</tr>"


def _side(column: View) -> str:
    if column["numeric"]:
        return ' class="number"'
    return ' class="short"' if column.get("short") else ""


def _figure(part: View, image: tuple[str, str] | None) -> str:
    light, dark = image or ("", "")
    caption = f"<figcaption>{_e(part['caption'])}</figcaption>" if part["caption"] else ""
    data = part.get("data")
    behind = ""
    if data:
        behind = (
            "<details><summary>Figures of this chart</summary>"
            f'<div class="scroll" role="region" aria-label="Figures of this chart" tabindex="0">'
            f"<table>{_head(data['columns'])}<tbody>{_rows(data['rows'], data['columns'])}</tbody></table>"
            "</div></details>"
        )
    return (
        f'<figure>\n<picture><source media="screen and (prefers-color-scheme: dark)" srcset="{dark}">'
        f'<img src="{light}" alt="{_e(part["alternative"])}"></picture>\n{caption}{behind}</figure>\n'
    )


def _difference(part: View) -> str:
    caption = f'<p class="caption">{_e(part["caption"])}</p>\n' if part["caption"] else ""
    counts = "".join(
        f'<div class="{one["name"]}"><dt>{one["label"]}</dt><dd class="figure">{_e(one["value"])}</dd></div>'
        for one in part["counts"]
    )
    changes = "".join(f"<li>{_e(change)}</li>" for change in part["schema_changes"])
    listed = f'<p class="caption">Changes of columns</p><ul>{changes}</ul>\n' if changes else ""
    cells = "".join(
        f'<tr><th scope="row">{_e(cell["key"])}</th><td>{_e(cell["column"])}</td>'
        f"<td><del>{_e(cell['before'])}</del></td><td><ins>{_e(cell['after'])}</ins></td></tr>\n"
        for cell in part["cells"]
    )
    table = ""
    if cells:
        heads = "".join(
            f'<th scope="col">{word}</th>' for word in ("Row", "Column", "Before", "After")
        )
        table = (
            '<div class="scroll" role="region" aria-label="Changed cells" tabindex="0">\n'
            f'<table class="changes"><thead><tr>{heads}</tr></thead><tbody>{cells}</tbody></table>\n</div>\n'
        )
    return f'<div class="difference">\n{caption}<dl class="tiles">{counts}</dl>\n{listed}{table}</div>\n'


def _provenance(shown: View) -> str:
    given = shown["provenance"]
    columns = [
        {"title": t, "numeric": t == "Rows"}
        for t in ("Dataset", "Version", "Commit", "Rows", "Content hash")
    ]
    rows = [
        [s["dataset"], s["version"], s["commit"], s["rows"], s["hash"]] for s in given["sources"]
    ]
    sources = ""
    if rows:
        sources = (
            '<div class="scroll" role="region" aria-label="Sources" tabindex="0">\n<table class="sources">'
            f"{_head(columns)}<tbody>{_rows(rows, columns)}</tbody></table>\n</div>\n"
        )
    steps = "".join(_step(step) for step in given["steps"])
    steps = f'<p class="caption">How it was made</p>\n<ol>{steps}</ol>\n' if steps else ""
    facts = [("Made", shown["moment"]), ("Run", given["run"]), ("Content SHA-256", shown["digest"])]
    listed = "".join(f"<div><dt>{k}</dt><dd>{_e(v)}</dd></div>" for k, v in facts if v)
    return (
        '<footer aria-labelledby="provenance">\n<h2 id="provenance">Where this comes from</h2>\n'
        f'{sources}{steps}<dl class="facts">{listed}</dl>\n</footer>\n'
    )


def _step(step: View) -> str:
    by = f" <span>({_e(step['by'])})</span>" if step["by"] else ""
    return f"<li><strong>{_e(step['operation'])}</strong> {_e(step['summary'])}{by}</li>"


# -- text ----------------------------------------------------------------------------------------------------


def _blocks(blocks: list[View]) -> str:
    return "".join(_block(block) for block in blocks)


def _block(block: View) -> str:
    kind, inside = block["kind"], _inlines(block["inlines"])
    if kind == "heading":
        return f"<h{block['level']}>{inside}</h{block['level']}>\n"
    if kind in {"bullets", "numbers"}:
        tag = "ul" if kind == "bullets" else "ol"
        items = "".join(f"<li>{_inlines(item)}</li>" for item in block["items"])
        return f"<{tag}>{items}</{tag}>\n"
    if kind == "quote":
        return f"<blockquote>{inside}</blockquote>\n"
    if kind == "code":
        return f"<pre><code>{_e(block['text'])}</code></pre>\n"
    return f"<p>{inside}</p>\n"


def _inlines(inlines: list[View]) -> str:
    return "".join(_inline(one) for one in inlines)


def _inline(one: View) -> str:
    inside = _e(one["text"]) + _inlines(one["children"])
    if one["kind"] == "link":
        # Where a link leads is always seen: its words may say something else.
        return f'<a href="{_e(one["address"])}" rel="noopener noreferrer nofollow">{inside}</a> <span class="address">({_e(one["address"])})</span>'
    tag = {"strong": "strong", "emphasis": "em", "code": "code"}.get(one["kind"])
    return f"<{tag}>{inside}</{tag}>" if tag else inside
