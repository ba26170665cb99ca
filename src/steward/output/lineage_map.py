"""The lineage map of a report as SVG: datasets and operations from left to right, in the colours of a theme."""

from html import escape
from itertools import pairwise

from steward.output.layers import Node, centred, layout
from steward.output.reports import LineageMap, MapNode
from steward.output.themes import Theme

_WIDTH = 168.0
_HEIGHT = 46.0
_ACROSS = 62.0
_ALONG = 226.0
_MARGIN = 14.0
_LABEL_ROOM = 24
_DETAIL_ROOM = 29
_MAX_COLUMNS = 5


def draw(part: LineageMap, theme: Theme) -> str:
    """The map as one SVG document; long chains run downwards, so that they stay readable on a page."""
    ids: list[Node] = [node.id for node in part.nodes]
    plan = layout(ids, [(edge.source, edge.target) for edge in part.edges])
    downwards = len(plan.layers) > _MAX_COLUMNS
    gap = _WIDTH + 24 if downwards else _ACROSS
    across = centred(plan.layers, plan.paths, gap)
    step = _HEIGHT + 38 if downwards else _ALONG
    spot: dict[Node, tuple[float, float]] = {}
    for depth, layer in enumerate(plan.layers):
        for node in layer:
            along = _MARGIN + depth * step
            spot[node] = (
                (_MARGIN + across[node], along) if downwards else (along, _MARGIN + across[node])
            )
    width = max(x for x, _ in spot.values()) + _WIDTH + _MARGIN
    height = max(y for _, y in spot.values()) + _HEIGHT + _MARGIN
    lines = [
        _edge([spot[node] for node in path], theme, downwards=downwards) for _, path in plan.paths
    ]
    boxes = [_box(node, spot[node.id], theme) for node in part.nodes]
    label = escape(part.caption or "Lineage map", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{label}" font-family="{theme.font}">'
        f"<title>{label}</title><desc>{escape(describe(part))}</desc>"
        f'<rect width="{width:g}" height="{height:g}" fill="{theme.background}"/>'
        f"{''.join(lines)}{''.join(boxes)}</svg>"
    )


def describe(part: LineageMap) -> str:
    """The map in words, for those who do not see it."""
    names = {node.id: node.label for node in part.nodes}
    arrows = "; ".join(f"{names[edge.source]} → {names[edge.target]}" for edge in part.edges)
    return f"{len(part.nodes)} boxes. {arrows}."


def _box(node: MapNode, at: tuple[float, float], theme: Theme) -> str:
    x, y = at
    colour = {
        "dataset": theme.categories[0],
        "operation": theme.other,
        "result": theme.categories[2],
    }[node.kind]
    radius = 23 if node.kind == "operation" else 6
    middle = x + _WIDTH / 2
    if node.detail:
        texts = _text(node.label, middle, y + 20, 12.5, theme.ink, _LABEL_ROOM, "bold")
        texts += _text(node.detail, middle, y + 35, 10.5, theme.quiet_ink, _DETAIL_ROOM)
    else:
        texts = _text(node.label, middle, y + 27, 12.5, theme.ink, _LABEL_ROOM, "bold")
    return (
        f"<g><title>{escape(_printable(f'{node.label} {node.detail}'.strip()))}</title>"
        f'<rect x="{x:g}" y="{y:g}" width="{_WIDTH:g}" height="{_HEIGHT:g}" rx="{radius}" '
        f'fill="{theme.surface}" stroke="{colour}" stroke-width="1.5"/>{texts}</g>'
    )


def _text(
    words: str, x: float, y: float, size: float, colour: str, room: int, weight: str = "normal"
) -> str:
    clean = _printable(words)
    shown = clean if len(clean) <= room else clean[: room - 1] + "…"
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" font-weight="{weight}" fill="{colour}" '
        f'text-anchor="middle">{escape(shown)}</text>'
    )


def _printable(words: str) -> str:
    return "".join(char if char.isprintable() else " " for char in words)


def _edge(points: list[tuple[float, float]], theme: Theme, *, downwards: bool) -> str:
    """A smooth line from box to box, through the places left free for it, with an arrow at its end."""
    ends = _anchors(points, downwards=downwards)
    path = f"M{ends[0][0]:g},{ends[0][1]:g}"
    for (ax, ay), (bx, by) in pairwise(ends):
        if downwards:
            half = (ay + by) / 2
            path += f"C{ax:g},{half:g} {bx:g},{half:g} {bx:g},{by:g}"
        else:
            half = (ax + bx) / 2
            path += f"C{half:g},{ay:g} {half:g},{by:g} {bx:g},{by:g}"
    (px, py), (ex, ey) = ends[-2], ends[-1]
    ahead = 1 if (ey >= py if downwards else ex >= px) else -1
    if downwards:
        tip = f"M{ex:g},{ey:g}l-4,{-7 * ahead}h8z"
    else:
        tip = f"M{ex:g},{ey:g}l{-7 * ahead},-4v8z"
    return (
        f'<path d="{path}" fill="none" stroke="{theme.line}" stroke-width="1.5"/>'
        f'<path d="{tip}" fill="{theme.quiet_ink}"/>'
    )


def _anchors(points: list[tuple[float, float]], *, downwards: bool) -> list[tuple[float, float]]:
    """Where a line leaves, passes and enters: the facing sides of boxes, the middle of free places."""
    backwards = points[0] > points[-1] if not downwards else points[0][1] > points[-1][1]
    ends = []
    for index, (x, y) in enumerate(points):
        leaving, entering = index == 0, index == len(points) - 1
        if downwards:
            side = y + _HEIGHT / 2
            if leaving or entering:
                side = y + _HEIGHT if leaving != backwards else y
            ends.append((x + _WIDTH / 2, side))
        else:
            side = x + _WIDTH / 2
            if leaving or entering:
                side = x + _WIDTH if leaving != backwards else x
            ends.append((side, y + _HEIGHT / 2))
    return ends
