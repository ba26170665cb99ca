"""Reports: everything shown as text, nothing loaded or run, the same bytes every time, readable by everybody."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest
import typst
from pydantic import ValidationError

from steward.core.errors import Invalid
from steward.output import pdf_reports as pdf_module
from steward.output import rendering
from steward.output.formats import Format, Value, show
from steward.output.html_reports import html
from steward.output.locales import locale
from steward.output.markdown import parse, plain
from steward.output.pages import view
from steward.output.pdf_reports import pdf
from steward.output.reports import (
    Callout,
    CellChange,
    ChartPart,
    Difference,
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
    Text,
    Tile,
    table_part,
)
from steward.tables.engine import session
from steward.tables.table import Table, describe

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "'><svg/onload=alert(1)>",
    "</style><script>x</script>",
    "</title><b>",
    "&lt;script&gt;",
    '#read("/etc/passwd")',
    '#import "@preview/x:1.0.0": *',
    '#eval("1+1")',
    "= Not a heading",
    "$ x^2 $ and `raw` and <label> @ref",
    '"] #panic("out") [',
    '\\u{41} \\" }, "digest": "x',
    "*bold* _em_ // comment /* more */",
    "{{7*7}} ${7*7}",
]
MADE = datetime(2026, 11, 15, 9, 30, tzinfo=UTC)
SPEC: dict[str, Any] = {
    "title": "Sales",
    "description": "Bars of sales by region.",
    "data": {"values": [{"x": "North", "y": 3.5}, {"x": "South", "y": 12}]},
    "mark": "bar",
    "encoding": {
        "x": {"field": "x", "title": "Region"},
        "y": {"field": "y", "type": "quantitative", "title": "Amount"},
    },
}
EUR = Format(kind="currency", currency="EUR")


def report(*parts: Part, **fields: Any) -> Report:
    given: dict[str, Any] = {
        "title": "Quarter",
        "generated_at": MADE,
        "sections": (Section(heading="One", parts=parts),),
    }
    return Report(**(given | fields))


def full(word: str = "North") -> Report:
    """Every part there is, with one text in every place that takes text."""
    table = TablePart(
        caption=word,
        columns=(TableColumn(title=word), TableColumn(title="Amount", format=EUR)),
        rows=((word, "12.50"), (None, "7")),
        totals=("Total", "19.50"),
        total_rows=900,
    )
    lineage = LineageMap(
        caption=word,
        nodes=(MapNode(id="a", label=word, detail=word), MapNode(id="b", label="B", kind="result")),
        edges=(MapEdge(source="a", target="b"),),
    )
    difference = Difference(
        caption=word,
        added=1,
        removed=2,
        changed=3,
        unchanged=1000,
        schema_changes=(word,),
        cells=(CellChange(key=word, column=word, before=word, after="new"),),
    )
    chart = SPEC | {"title": word, "data": {"values": [{"x": word, "y": 1}]}}
    return Report(
        title=word,
        subtitle=word,
        author=word,
        confidentiality=word,
        generated_at=MADE,
        summary=word,
        sections=(
            Section(
                heading=word,
                parts=(
                    Text(
                        markdown=f"# {word}\n\n- {word}\n\n1. {word}\n\n> {word}\n\n```\n{word}\n```"
                    ),
                    Callout(tone="warning", markdown=word),
                    Metrics(tiles=(Tile(label=word, value=word, note=word, change=word),)),
                    table,
                    ChartPart(spec=chart, caption=word),
                    lineage,
                    difference,
                ),
            ),
        ),
        provenance=Provenance(
            run=word,
            sources=(
                SourceVersion(dataset=word, version=word, commit=word, rows=5, content_hash=word),
            ),
            steps=(Step(operation=word, summary=word, by=word),),
        ),
    )


class Page(HTMLParser):
    """What a browser would see: elements, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


TAGS = (
    {"html", "head", "meta", "title", "style", "body", "main", "header", "section", "footer"}
    | {
        "aside",
        "h1",
        "h2",
        "h3",
        "h4",
        "p",
        "ul",
        "ol",
        "li",
        "blockquote",
        "pre",
        "code",
        "strong",
    }
    | {"em", "a", "span", "dl", "dt", "dd", "div", "table", "caption", "thead", "tbody", "tfoot"}
    | {"tr", "th", "td", "figure", "figcaption", "picture", "source", "img", "details", "summary"}
    | {"del", "ins", "nav"}
)


@pytest.fixture(scope="module")
def page_bytes() -> bytes:
    return html(full())


@pytest.fixture(scope="module")
def hostile_page() -> tuple[str, Page]:
    text = html(full(" ".join(HOSTILE))).decode()
    return text, Page(text)


def test_hostile_text_is_only_ever_text(hostile_page: tuple[str, Page]) -> None:
    text, page = hostile_page
    assert {tag for tag, _ in page.elements} <= TAGS
    for _, attributes in page.elements:
        assert not any(name.startswith("on") or name == "style" for name in attributes)
        for name in ("src", "srcset"):
            assert (attributes.get(name) or "data:image/svg+xml;base64,").startswith(
                "data:image/svg+xml;base64,"
            )
        assert (attributes.get("href") or "#").startswith("#")
    assert text.count("<script") == 0
    for hostile in HOSTILE[:3]:
        assert hostile in page.text


def test_images_inside_the_page_hold_no_markup_of_others(hostile_page: tuple[str, Page]) -> None:
    _, page = hostile_page
    images = [a["src"] or "" for a in page.all("img")] + [
        a["srcset"] or "" for a in page.all("source")
    ]
    assert len(images) == 4
    for address in images:
        svg = base64.b64decode(address.removeprefix("data:image/svg+xml;base64,")).decode()
        assert "<script" not in svg
        assert "<img" not in svg
        assert svg.startswith("<svg")


def test_the_page_allows_itself_nothing_but_its_own_style() -> None:
    text = html(report()).decode()
    page = Page(text)
    style = text.split("<style>")[1].split("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = next(a["content"] for a in page.all("meta") if a.get("http-equiv"))
    assert policy == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert "url(" not in style
    assert "@import" not in style
    assert page.all("script") == page.all("link") == []


def test_the_page_is_made_for_everybody(page_bytes: bytes) -> None:
    page = Page(page_bytes.decode())
    assert page.all("html") == [{"lang": "en-GB"}]
    assert len(page.all("h1")) == 1
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h\d", tag)]
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert all(a.get("scope") in {"col", "row"} for a in page.all("th"))
    assert all(a["alt"] for a in page.all("img"))
    assert "prefers-color-scheme: dark" in str(page.all("source")[0]["media"])
    assert len(page.all("caption")) == 1
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))


def test_figures_behind_a_chart_can_be_read(page_bytes: bytes) -> None:
    page = Page(page_bytes.decode())
    assert page.all("details")
    behind = view(report(ChartPart(spec=SPEC)))["sections"][0]["parts"][0]["data"]
    assert [column["title"] for column in behind["columns"]] == ["Region", "Amount"]
    assert behind["rows"] == [["North", "3.5"], ["South", "12.0"]]


def test_the_same_report_is_the_same_file(page_bytes: bytes) -> None:
    made = full()
    assert html(made) == page_bytes
    first = pdf(made)
    assert first.startswith(b"%PDF-")
    assert first == pdf(made)
    assert b"pdfuaid" in first
    assert Report.model_validate_json(made.model_dump_json()) == made


def test_the_digest_is_that_of_the_content() -> None:
    made = full()
    later = made.model_copy(update={"generated_at": datetime(2027, 1, 1, tzinfo=UTC)})
    assert later.digest() == made.digest()
    assert view(later)["moment"] == "01/01/2027 00:00 UTC"
    assert made.digest() != full("South").digest()


def test_provenance_is_on_the_page(page_bytes: bytes) -> None:
    text = page_bytes.decode()
    assert full().digest() in text
    assert "15/11/2026 09:30 UTC" in text
    assert text.split("Where this comes from")[1].count("North") == 8


def queried(made: Report, selector: str, field: str) -> Any:
    """What Typst made of the document, asked of Typst itself with the very inputs of the PDF."""
    seen: list[dict[str, Any]] = []

    def remember(tasks: list[dict[str, Any]], **_: Any) -> list[bytes]:
        if tasks and tasks[0]["do"] == "pdf":
            seen.extend(tasks)
            return [b""]
        return original(tasks)

    original = rendering.run
    rendering.run = remember  # type: ignore[assignment]
    try:
        pdf_module.pdf(made)
    finally:
        rendering.run = original
    task = seen[0]
    answer = typst.query(
        task["template"].encode(),
        selector,
        field=field,
        ignore_system_fonts=True,
        sys_inputs={"report": task["report"]},
    )
    return json.loads(answer)


def test_typst_sees_texts_not_code() -> None:
    parts = tuple(Section(heading=text, parts=()) for text in HOSTILE)
    found = queried(report(sections=parts), "heading.where(level: 2)", "body")
    words = [body.get("text") for body in found]
    assert [word.replace("\u200b", "") for word in words[: len(HOSTILE)]] == HOSTILE


def test_the_pdf_survives_hostile_text_everywhere() -> None:
    assert pdf(full(" ".join(HOSTILE))).startswith(b"%PDF-")


def test_the_template_reads_nothing() -> None:
    template = Path(pdf_module.__file__).with_name("report.typ").read_text()
    code = re.sub(r"//.*", "", template)
    for word in (
        "eval",
        "read(",
        "#import",
        "#include",
        "plugin(",
        "csv(",
        "yaml(",
        "toml(",
        "xml(",
    ):
        assert word not in code
    assert code.count("json(") == 1
    assert code.count("image(") == code.count("image(bytes(")


@pytest.mark.parametrize(
    "code", ['#read("/etc/passwd")', '#import "@preview/cetz:0.4.0": *', '#image("/etc/hostname")']
)
def test_even_a_template_that_tried_could_not(code: str) -> None:
    task = {"do": "pdf", "template": code, "report": "{}", "timestamp": 0, "system_fonts": False}
    with pytest.raises(Invalid, match="failed"):
        rendering.run([task], seconds=20)


def test_wide_tables_fit_the_page_in_pieces() -> None:
    columns = tuple(TableColumn(title=f"column number {i}") for i in range(30))
    rows = tuple(tuple(f"value {i} of row {r}" for i in range(30)) for r in range(3))
    part = TablePart(caption="Wide", columns=columns, rows=rows)
    pieces = pdf_module._pieces(view(report(part))["sections"][0]["parts"][0])
    assert len(pieces) > 2
    titles = [column["title"] for piece in pieces for column in piece["columns"][1:]]
    assert titles == [column.title for column in columns[1:]]
    assert all(piece["landscape"] and piece["rows"][1][0] == "value 0 of row 1" for piece in pieces)
    assert pdf(report(part)).startswith(b"%PDF-")
    narrow = TablePart(columns=columns[:3], rows=tuple(row[:3] for row in rows))
    (piece,) = pdf_module._pieces(view(report(narrow))["sections"][0]["parts"][0])
    assert not piece["landscape"]


def test_characters_that_no_font_has_spoil_no_report() -> None:
    made = report(Text(markdown="\u0378 \ue000 中文 😀 `ไทย` \u200d"), title="\u0378")
    assert pdf(made).startswith(b"%PDF-")


def test_empty_reports_and_tables_are_drawn() -> None:
    empty = Report(title="", generated_at=MADE)
    assert b"<h1></h1>" in html(empty)
    assert pdf(empty).startswith(b"%PDF-")
    table = TablePart(columns=(TableColumn(title="a"),), rows=())
    assert b"No rows." in html(report(table))


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with session() as opened:
        yield opened


def test_a_table_of_data_keeps_types_and_says_what_is_missing(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    source = (
        "(SELECT i AS id, i * 1.5::DECIMAL(9,2) AS amount, i / 4.0 AS rate, i % 2 = 0 AS even, "
        "CASE WHEN i = 0 THEN DATE 'infinity' ELSE DATE '2026-01-31' END AS day, "
        "TIMESTAMPTZ '2026-03-01 12:00:05+02' AS moment, repeat('x', 5000) AS text, NULL AS none FROM range(120) t(i))"
    )
    table = Table("t", source, describe(connection, source))
    part = table_part(connection, table, limit=3, column_formats={"rate": Format(kind="percent")})
    assert part.total_rows == 120
    shown = view(report(part, locale="de-DE"))["sections"][0]["parts"][0]
    assert shown["note"] == "The first 3 of 120 rows."
    assert shown["rows"][1][:6] == [
        "1",
        "1,50",
        "25,0\u00a0%",
        "No",
        "31.01.2026",
        "01.03.2026 10:00:05 UTC",
    ]
    assert shown["rows"][0][4] == "infinity"
    assert len(shown["rows"][0][6]) == 1000
    assert [column["numeric"] for column in shown["columns"]][:4] == [True, True, True, False]
    with pytest.raises(Invalid, match="rows"):
        table_part(connection, table, limit=100_000)


def test_floating_numbers_of_a_column_stand_in_line() -> None:
    columns = (TableColumn(title="v", format=Format(kind="number")),)
    part = TablePart(columns=columns, rows=((1.5,), (2.0,), (0.123456789,), (None,)))
    rows = view(report(part))["sections"][0]["parts"][0]["rows"]
    assert rows == [["1.5000"], ["2.0000"], ["0.1235"], [""]]


@pytest.mark.parametrize(
    ("value", "wanted", "tag", "expected"),
    [
        (1234567.891, Format(kind="number", decimals=2), "en-GB", "1,234,567.89"),
        (1234567.891, Format(kind="number", decimals=2), "de-DE", "1.234.567,89"),
        (1234567.891, Format(kind="number", decimals=2), "de-CH", "1’234’567.89"),
        (1234567.891, Format(kind="number", decimals=2), "fr-FR", "1\u202f234\u202f567,89"),
        (1234567.891, Format(kind="number", decimals=2), "en-IN", "12,34,567.89"),
        ("1234.5", EUR, "de-DE", "1.234,50\u00a0€"),
        ("-1234.5", EUR, "en-GB", "−€1,234.50"),
        (0.5, Format(kind="currency", currency="CHF"), "de-CH", "CHF\u00a00.50"),
        (-0.004, Format(kind="number", decimals=2), "en-GB", "0.00"),
        (2.675, Format(kind="number", decimals=2), "en-GB", "2.68"),
        (0.0425, Format(kind="percent"), "en-GB", "4.3%"),
        (0.0425, Format(kind="percent", decimals=2), "de-DE", "4,25\u00a0%"),
        (10**20, Format(kind="integer"), "en-GB", "100,000,000,000,000,000,000"),
        (
            "123456789012345678901234567890.12",
            Format(kind="number", decimals=2),
            "en-GB",
            "123,456,789,012,345,678,901,234,567,890.12",
        ),
        (1e-9, Format(kind="number"), "de-DE", "1e−09"),
        ("2026-03-31", Format(kind="date"), "en-US", "03/31/2026"),
        ("2026-03-31", Format(kind="date"), "sv-SE", "2026-03-31"),
        ("2026-03-31T08:05:00Z", Format(kind="datetime"), "de-AT", "31.03.2026 08:05 UTC"),
        ("not a date", Format(kind="date"), "de-DE", "not a date"),
        ("n/a", Format(kind="number"), "de-DE", "n/a"),
        (True, Format(kind="boolean"), "en-GB", "Yes"),
        (None, EUR, "en-GB", ""),
    ],
)
def test_values_are_written_as_readers_write_them(
    value: Value, wanted: Format, tag: str, expected: str
) -> None:
    assert show(value, wanted, locale(tag)) == expected


def test_locales_fall_back_to_the_language_and_unknown_ones_are_refused() -> None:
    assert locale("de-LU").tag == "de-DE"
    assert locale("en").tag == "en-GB"
    with pytest.raises(Invalid, match="No locale"):
        locale("xx-YY")
    with pytest.raises(ValidationError):
        report(locale="xx")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Format(kind="currency"),
        lambda: Format(kind="number", currency="EUR"),
        lambda: Report(title="x", generated_at=datetime(2026, 1, 1)),  # noqa: DTZ001
        lambda: TablePart(columns=(TableColumn(title="a"),), rows=((1, 2),)),
        lambda: TablePart(columns=(TableColumn(title="a"),), rows=((float("nan"),),)),
        lambda: TablePart(columns=(TableColumn(title="a"),), rows=((1,),), totals=(1, 2)),
        lambda: LineageMap(
            nodes=(MapNode(id="a", label="a"),), edges=(MapEdge(source="a", target="b"),)
        ),
        lambda: LineageMap(nodes=(MapNode(id="a", label="a"), MapNode(id="a", label="b"))),
        lambda: report(title="x" * 501),
        lambda: Report.model_validate({"title": "x", "generated_at": MADE, "script": "x"}),
    ],
)
def test_reports_that_make_no_sense_are_refused(wrong: Any) -> None:
    with pytest.raises(ValidationError):
        wrong()


def test_an_unsafe_chart_spoils_no_report() -> None:
    part = ChartPart(spec={"data": {"url": "https://evil.example"}, "mark": "bar"})
    for render in (html, pdf):
        with pytest.raises(Invalid) as refused:
            render(report(part))
        assert refused.value.specific_code == "unsafe-chart"


def test_text_that_turns_other_text_around_is_shown_as_such() -> None:
    text = unescape(html(report(Text(markdown="pay \u202e0001 EUR\u2066"))).decode())
    assert "\u202e" not in text
    assert "pay \ufffd0001 EUR\ufffd" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**b** *i* `c`", "<p><strong>b</strong> <em>i</em> <code>c</code></p>"),
        ("a_b_c and 2 * 3 * 4", "<p>a_b_c and 2 * 3 * 4</p>"),
        ("2 * 3, *so*", "<p>2 * 3, <em>so</em></p>"),
        ("**open", "<p>**open</p>"),
        (r"\*no\*", "<p>*no*</p>"),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>"),
        ("[x](javascript:alert(1))", "<p>x (javascript:alert(1))</p>"),
        ("[x](data:text/html,x)", "<p>x (data:text/html,x)</p>"),
        (
            "![x](http://x/y.png)",
            '<p>!<a href="http://x/y.png" rel="noopener noreferrer nofollow">x</a>',
        ),
        (
            "[**b**](https://x.example/?a=1&b=2)",
            '<a href="https://x.example/?a=1&amp;b=2" rel="noopener noreferrer nofollow"><strong>b</strong></a> <span class="address">(https://x.example/?a=1&amp;b=2)</span>',
        ),
        ('[x](https://x"onclick="y)', "<p>x (https://x&quot;onclick=&quot;y)</p>"),
        ("- a\n- b\n  more", "<ul><li>a</li><li>b more</li></ul>"),
        ("1. a\n2) b", "<ol><li>a</li><li>b</li></ol>"),
        ("> said\n> so", "<blockquote>said so</blockquote>"),
        ("```\n<x>\n```", "<pre><code>&lt;x&gt;</code></pre>"),
        ("para\n# Head", "<p>para</p>\n<h3>Head</h3>"),
        ("### Deep", "<h3>Deep</h3>"),
    ],
)
def test_markdown_is_small_and_safe(text: str, expected: str) -> None:
    assert expected in html(report(Text(markdown=text))).decode()


def test_markdown_of_any_length_is_read_quickly() -> None:
    for text in (
        "*" * 50_000,
        "[" * 50_000,
        "`" * 49_999 + "x",
        "_a" * 25_000,
        "> " * 25_000,
        "**a" * 16_000,
    ):
        assert len(parse(text)) == 1
    assert plain("# A\n\n- *b* [c](https://d)\n\n```\ne\n```") == "A b c e"
