"""Charts as images: SVG and PNG from a validated Vega-Lite specification, the same bytes every time."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from steward.core import Invalid
from steward.output import locales, rendering
from steward.output.themes import THEMES, ThemeName, recoloured, vega_config
from steward.output.validate import validate

ImageFormat = Literal["svg", "png"]
MAX_SCALE = 4.0
_SHAPES = frozenset(
    {"svg", "g", "path", "text", "tspan", "rect", "line", "circle", "ellipse", "polygon", "defs"}
    | {"clipPath", "linearGradient", "radialGradient", "stop", "title", "desc"}
)
_NAMESPACE = "{http://www.w3.org/2000/svg}"
_UNDRAWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_IDENTIFIER = re.compile(r' id="((?:gradient|clip)[\w-]*)"')
_REFERENCE = re.compile(r"url\(#((?:gradient|clip)[\w-]*)\)")
_LOCAL_REFERENCE = re.compile(r"url\(\s*[\"']?#[\w-]+[\"']?\s*\)")


@dataclass(frozen=True)
class Order:
    """One image to draw."""

    spec: dict[str, Any]
    format: ImageFormat = "svg"
    theme: ThemeName = "light"
    locale: str = "en-GB"
    scale: float = 2.0


def draw(orders: Sequence[Order], *, seconds: float = rendering.DEFAULT_SECONDS) -> list[bytes]:
    """All images in one go. Every specification is validated first, whoever wrote it."""
    for order in orders:
        validate(order.spec)
    images = rendering.run([_task(order) for order in orders], seconds=seconds)
    return [
        _finished_svg(image, order.spec) if order.format == "svg" else image
        for order, image in zip(orders, images, strict=True)
    ]


def _task(order: Order) -> dict[str, Any]:
    if not 0.5 <= order.scale <= MAX_SCALE:
        raise Invalid(f"An image's scale is 0.5 to {MAX_SCALE:g}, not {order.scale:g}.")
    where = locales.locale(order.locale)
    # One description of the whole is read out; thousands of marks are not.
    config = vega_config(THEMES[order.theme]) | {"aria": False}
    return {
        "do": order.format,
        "spec": json.dumps(_drawable(recoloured(order.spec, THEMES[order.theme]))),
        "config": config,
        "scale": order.scale,
        "number_locale": locales.vega_number_locale(where),
        "time_locale": locales.vega_time_locale(where),
    }


def _drawable(node: Any) -> Any:
    """The spec without characters that no image format can hold."""
    if isinstance(node, dict):
        return {key: _drawable(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_drawable(item) for item in node]
    return _UNDRAWABLE.sub("␣", node) if isinstance(node, str) else node


def _finished_svg(image: bytes, spec: dict[str, Any]) -> bytes:
    """The image with title and description for screen readers, after a look at what the renderer made."""
    text = _numbered(image.decode())
    _check(text)
    title, description = (
        _UNDRAWABLE.sub("␣", part) for part in (heading(spec), str(spec.get("description", "")))
    )
    inside = f"<title>{escape(title)}</title>" if title else ""
    inside += f"<desc>{escape(description)}</desc>" if description else ""
    end = text.index(">")
    label = escape(title or description or "Chart", quote=True)
    return f'{text[:end]} role="img" aria-label="{label}"{text[end : end + 1]}{inside}{text[end + 1 :]}'.encode()


def _numbered(text: str) -> str:
    """Vega numbers clips and gradients through the life of its process; here they count from one in every image."""
    names = list(dict.fromkeys(_IDENTIFIER.findall(text)))
    order = {name: f"part-{number}" for number, name in enumerate(names, start=1)}
    text = _IDENTIFIER.sub(lambda found: f' id="{order[found[1]]}"', text)
    return _REFERENCE.sub(lambda found: f"url(#{order.get(found[1], found[1])})", text)


def heading(spec: dict[str, Any]) -> str:
    """The title of a chart as plain text."""
    title = spec.get("title", "")
    words = title.get("text", "") if isinstance(title, dict) else title
    return " ".join(map(str, words)) if isinstance(words, list) else str(words)


def _check(text: str) -> None:
    """Refuse an image that would load or link to anything: the last line behind the allow-list of specifications."""
    if "<!" in text:
        raise Invalid("The chart's image contains a declaration.", code="unsafe-image")
    try:
        elements = list(ET.fromstring(text).iter())  # noqa: S314 (no declarations, so no entities)
    except ET.ParseError as problem:
        raise Invalid("The chart's image cannot be read.", code="unsafe-image") from problem
    for element in elements:
        name = str(element.tag).removeprefix(_NAMESPACE)
        if name not in _SHAPES:
            raise Invalid(f"The chart's image contains <{name[:30]}>.", code="unsafe-image")
        for key, value in element.attrib.items():
            if "href" in key.lower() or key.lower().startswith("on"):
                raise Invalid(f"The chart's image contains {key[:30]}.", code="unsafe-image")
            if key not in {"aria-label", "d"} and "url(" in _LOCAL_REFERENCE.sub("", value.lower()):
                raise Invalid("The chart's image refers to another file.", code="unsafe-image")
