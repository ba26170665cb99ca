"""Images of charts: the same bytes every time, in both themes, from a process that reaches nothing."""

import itertools
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

from steward.core.errors import Invalid, TooLarge
from steward.output import rendering
from steward.output.charts import chart
from steward.output.drawing import Order, draw
from steward.output.requests import ChartRequest
from steward.output.themes import DARK, LIGHT, PRINT, THEMES, recoloured, vega_config
from steward.tables.engine import session
from steward.tables.table import Table, describe

KINDS: dict[str, dict[str, Any]] = {
    "bar": {"x": "g", "y": "v"},
    "line": {"x": "d", "y": "v", "colour": "g"},
    "area": {"x": "d", "colour": "g"},
    "scatter": {"x": "v", "y": "w", "colour": "w", "trend": True},
    "histogram": {"x": "v"},
    "heatmap": {"x": "g", "y": "h"},
    "pie": {"x": "g"},
    "box": {"x": "g", "y": "v"},
    "waterfall": {"x": "g", "y": "v"},
}


@pytest.fixture(scope="module")
def specs() -> dict[str, dict[str, Any]]:
    with session() as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT 'group ' || i % 4 AS g, 'h' || i % 3 AS h, (i * 37) % 101 AS v, "
            "(i * 17) % 53 AS w, DATE '2024-01-01' + CAST(i AS INTEGER) AS d FROM range(300) t(i)"
        )
        table = Table("t", "t", describe(connection, "t"))
        return {
            kind: chart(connection, table, ChartRequest(kind=kind, **wish)).spec
            for kind, wish in KINDS.items()
        }


def size_and_colours(png: bytes) -> tuple[int, int, int]:
    """Width, height, and how many different rows of pixels a PNG has, without an image library."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        if kind == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += length + 12
    rows = zlib.decompress(data)
    line = len(rows) // height
    return width, height, len({rows[i * line : (i + 1) * line] for i in range(height)})


NUMBER: dict[str, Any] = {
    "data": {"values": [{"b": 1234.5}]},
    "mark": "text",
    "encoding": {"text": {"field": "b", "type": "quantitative", "format": ",.1f"}},
}
TEXTS = ["<script>alert(1)</script>", "]]>", "&amp;", "\x00\x1b[31m", "\ud800", "\u202eevil"]
HOSTILE: dict[str, Any] = {
    "title": TEXTS[0],
    "description": 'Bars & "quotes" <here>',
    "data": {"values": [{"a": text, "b": i} for i, text in enumerate(TEXTS)]},
    "mark": "bar",
    "encoding": {"y": {"field": "a"}, "x": {"field": "b", "type": "quantitative"}},
}


@pytest.fixture(scope="module")
def images(specs: dict[str, dict[str, Any]]) -> dict[str, bytes]:
    """Everything in one go: starting the drawing process is what takes time."""
    orders = {
        **{
            f"{kind} {t}": Order(spec, "png", t, scale=1.0)
            for kind, spec in specs.items()
            for t in ("light", "dark")
        },
        **{t: Order(specs["line"], "svg", t) for t in ("light", "dark", "print")},
        **{tag: Order(NUMBER, "svg", locale=tag) for tag in ("en-GB", "de-DE", "de-CH")},
        "hostile": Order(HOSTILE),
        "gradient": Order(specs["scatter"]),
    }
    return dict(zip(orders, draw(list(orders.values())), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_a_picture_in_both_themes(images: dict[str, bytes], kind: str) -> None:
    light, dark = images[f"{kind} light"], images[f"{kind} dark"]
    for image in (light, dark):
        width, height, rows = size_and_colours(image)
        assert width > 150
        assert height > 100
        assert rows > 20, "the picture is nearly empty"
    assert light != dark


def test_the_same_chart_is_the_same_image_whatever_was_drawn_before(
    specs: dict[str, dict[str, Any]], images: dict[str, bytes]
) -> None:
    again = draw(
        [
            Order(specs["heatmap"]),
            Order(specs["scatter"]),
            Order(specs["scatter"], "png", scale=1.0),
            Order(specs["area"], "png", "dark", scale=1.0),
        ]
    )
    assert again[1:] == [images["gradient"], images["scatter light"], images["area dark"]]
    assert b"gradient_" not in images["gradient"]


def test_an_image_says_what_it_shows(images: dict[str, bytes]) -> None:
    text = images["light"].decode()
    assert 'role="img" aria-label="Sum of v by' in text
    assert "<title>Sum of v by" in text
    assert "<desc>Bars &amp; &quot;quotes&quot; &lt;here&gt;</desc>" in images["hostile"].decode()


def test_dark_and_print_use_their_own_colours(images: dict[str, bytes]) -> None:
    light, dark, paper = (images[name].decode() for name in ("light", "dark", "print"))
    assert LIGHT.categories[0] in light
    assert LIGHT.categories[0] not in dark
    assert DARK.categories[0] in dark
    assert DARK.background in dark
    assert PRINT.font in paper
    assert PRINT.font not in light


@pytest.mark.parametrize(
    ("tag", "number"), [("en-GB", "1,234.5"), ("de-DE", "1.234,5"), ("de-CH", "1’234.5")]
)
def test_labels_speak_the_readers_numbers(images: dict[str, bytes], tag: str, number: str) -> None:
    assert f">{number}<" in images[tag].decode()


def test_hostile_texts_are_drawn_as_texts(images: dict[str, bytes]) -> None:
    text = images["hostile"].decode()
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "\x00" not in text


def test_colours_from_the_data_cannot_reach_out() -> None:
    spec = {
        "data": {"values": [{"a": 1, "c": "url(https://evil.example/x.svg#p)"}]},
        "mark": "bar",
        "encoding": {
            "x": {"field": "a", "type": "quantitative"},
            "color": {"field": "c", "scale": None},
        },
    }
    with pytest.raises(Invalid) as refused:
        draw([Order(spec)])
    assert refused.value.specific_code == "unsafe-image"


def test_nothing_is_drawn_that_was_not_validated() -> None:
    with pytest.raises(Invalid) as refused:
        draw([Order({"data": {"url": "https://example.com/x.csv"}, "mark": "bar"})])
    assert refused.value.specific_code == "unsafe-chart"


def raw_task(spec: str) -> dict[str, Any]:
    return {
        "do": "svg",
        "spec": spec,
        "config": {},
        "scale": 1.0,
        "number_locale": None,
        "time_locale": None,
    }


def test_the_drawing_process_loads_nothing_even_if_asked(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="not allowed"):
        rendering.run([raw_task('{"data": {"url": "http://127.0.0.1:1/x"}, "mark": "bar"}')])
    secret = tmp_path / "secret.json"
    secret.write_text('[{"a": "hunter2"}]')
    spec = {
        "data": {"url": f"file://{secret}"},
        "mark": "text",
        "encoding": {"text": {"field": "a"}},
    }
    assert b"hunter2" not in rendering.run([raw_task(json.dumps(spec))])[0]


def test_a_drawing_that_takes_too_long_is_stopped(specs: dict[str, dict[str, Any]]) -> None:
    with pytest.raises(TooLarge) as refused:
        draw([Order(specs["bar"])], seconds=0.01)
    assert refused.value.specific_code == "drawing-timeout"


def test_what_vega_cannot_draw_is_a_clear_error() -> None:
    spec = {"data": {"values": []}, "mark": "line", "transform": [{"stack": "a", "as": ["b", "c"]}]}
    with pytest.raises(Invalid) as refused:
        draw([Order(spec)])
    assert refused.value.specific_code == "drawing-failed"
    assert refused.value.message.startswith("Drawing 1 failed: ")


@pytest.mark.parametrize("scale", [0.1, 50.0])
def test_scales_are_bounded(specs: dict[str, dict[str, Any]], scale: float) -> None:
    with pytest.raises(Invalid, match="scale"):
        draw([Order(specs["bar"], "png", scale=scale)])


def test_recolouring_leaves_data_alone() -> None:
    spec = {
        "data": {"values": [{"a": LIGHT.categories[0]}]},
        "mark": {"color": LIGHT.categories[0]},
    }
    dark = recoloured(spec, DARK)
    assert dark["data"] == spec["data"]
    assert dark["mark"] == {"color": DARK.categories[0]}
    assert recoloured(spec, PRINT) is spec


def test_our_own_configs_are_valid_charts_too() -> None:
    from steward.output.validate import check

    for theme in THEMES.values():
        assert check({"mark": "bar", "config": vega_config(theme)}) == ()


# How a colour looks to eyes that miss one kind of cone (Machado, Oliveira, Fernandes 2009, severity 1).
BLINDNESS = {
    "protanopia": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "deuteranopia": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "tritanopia": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}


def linear(colour: str) -> list[float]:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def lab(rgb: list[float]) -> tuple[float, float, float]:
    r, g, b = (min(1.0, max(0.0, part)) for part in rgb)
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    x, y, z = (p ** (1 / 3) if p > 0.008856 else 7.787 * p + 16 / 116 for p in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("eyes", ["all cones", *BLINDNESS])
def test_the_first_six_colours_differ_for_every_eye(theme: Any, eyes: str) -> None:
    matrix = BLINDNESS.get(eyes, ((1, 0, 0), (0, 1, 0), (0, 0, 1)))
    seen = []
    for colour in theme.categories[:6]:
        rgb = linear(colour)
        seen.append(
            lab([sum(m * part for m, part in zip(row, rgb, strict=True)) for row in matrix])
        )
    for a, b in itertools.combinations(seen, 2):
        distance = sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) ** 0.5
        assert distance > 8, f"two colours look alike in {eyes}"


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_have_contrast(theme: Any) -> None:
    def luminance(colour: str) -> float:
        r, g, b = linear(colour)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    ground = luminance(theme.background)
    for colour in (theme.ink, theme.quiet_ink, theme.good, theme.bad, theme.accent):
        low, high = sorted((luminance(colour), ground))
        assert (high + 0.05) / (low + 0.05) >= 4.5
