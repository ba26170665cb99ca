"""Colours and type for charts and reports, light and dark, readable with colour-blind eyes."""

from dataclasses import dataclass
from typing import Any, Literal

from steward.core import package_yaml

ThemeName = Literal["light", "dark", "print"]


@dataclass(frozen=True)
class Theme:
    """One set of colours; `categories` keep their order, so that a series keeps its place in every theme."""

    name: ThemeName
    background: str
    surface: str
    ink: str
    quiet_ink: str
    line: str
    grid: str
    categories: tuple[str, ...]
    other: str
    sequence: tuple[str, ...]
    diverging: tuple[str, ...]
    good: str
    bad: str
    accent: str
    font: str


def _theme(name: ThemeName, font: str) -> Theme:
    colours = package_yaml("steward.output", "themes.yaml")[name]
    lists = {key: tuple(each) for key, each in colours.items() if isinstance(each, list)}
    return Theme(name=name, font=font, **{**colours, **lists})


_SANS = "Liberation Sans, Arial, Helvetica, sans-serif"
LIGHT = _theme("light", _SANS)
DARK = _theme("dark", _SANS)
# A page of paper: the light colours in the typeface of the PDF's text.
PRINT = Theme(**{**LIGHT.__dict__, "name": "print", "font": "Libertinus Serif"})

THEMES: dict[ThemeName, Theme] = {"light": LIGHT, "dark": DARK, "print": PRINT}


def vega_config(theme: Theme) -> dict[str, Any]:
    """The Vega-Lite `config` that gives a chart this theme."""
    label = 11 if theme.name != "print" else 12
    text = {
        "labelColor": theme.quiet_ink,
        "titleColor": theme.ink,
        "labelFontSize": label,
        "titleFontSize": label,
        "titleFontWeight": "normal",
        "labelFont": theme.font,
        "titleFont": theme.font,
    }
    return {
        "background": theme.background,
        "font": theme.font,
        "padding": 2 if theme.name == "print" else 10,
        "view": {"stroke": None, "continuousWidth": 600, "continuousHeight": 280},
        "title": {
            "anchor": "start",
            "color": theme.ink,
            "font": theme.font,
            "fontSize": 15,
            "fontWeight": "bold",
            "subtitleColor": theme.quiet_ink,
            "subtitleFont": theme.font,
            "subtitleFontSize": label,
            "subtitlePadding": 6,
            "offset": 14,
        },
        "axis": {
            **text,
            "domainColor": theme.line,
            "tickColor": theme.line,
            "gridColor": theme.grid,
            "titlePadding": 10,
            "labelPadding": 5,
            "labelLimit": 220,
            "labelFlush": False,
        },
        "axisX": {"grid": False, "labelOverlap": True, "labelSeparation": 8},
        "axisYQuantitative": {"domain": False, "ticks": False},
        "legend": {
            **text,
            "symbolType": "circle",
            "orient": "top",
            "direction": "horizontal",
            "labelLimit": 150,
        },
        "header": text,
        "range": {
            "category": list(theme.categories),
            "ramp": list(theme.sequence),
            "heatmap": list(theme.sequence),
            "ordinal": list(theme.sequence),
            "diverging": list(theme.diverging),
        },
        "bar": {"color": theme.categories[0]},
        "line": {"color": theme.categories[0], "strokeWidth": 2},
        "area": {"color": theme.categories[0], "opacity": 0.75},
        "point": {"color": theme.categories[0], "filled": True, "size": 30, "opacity": 0.65},
        "circle": {"color": theme.categories[0], "opacity": 0.65},
        "square": {"color": theme.categories[0]},
        "tick": {"color": theme.categories[0]},
        "rect": {"color": theme.categories[0]},
        "rule": {"color": theme.quiet_ink},
        "trail": {"color": theme.categories[0]},
        "arc": {"color": theme.categories[0], "stroke": theme.background, "strokeWidth": 1.5},
        "text": {"color": theme.ink, "font": theme.font, "fontSize": label},
        "mark": {"font": theme.font},
    }


def recoloured(spec: Any, theme: Theme) -> Any:
    """The spec with the light theme's colours, where it names them, exchanged for this theme's."""
    if theme.categories == LIGHT.categories:
        return spec
    exchange = dict(zip(LIGHT.categories, theme.categories, strict=True))
    exchange |= {
        LIGHT.other: theme.other,
        LIGHT.good: theme.good,
        LIGHT.bad: theme.bad,
        LIGHT.quiet_ink: theme.quiet_ink,
    }
    return _exchanged(spec, exchange)


def _exchanged(node: Any, exchange: dict[str, str]) -> Any:
    if isinstance(node, dict):
        # Rows are data: a text that happens to look like one of our colours stays what it is.
        return {
            key: value if key in {"values", "datasets"} else _exchanged(value, exchange)
            for key, value in node.items()
        }
    if isinstance(node, list):
        return [_exchanged(item, exchange) for item in node]
    return exchange.get(node, node) if isinstance(node, str) else node
