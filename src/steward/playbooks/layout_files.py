"""Drawings as files beside those of playbooks: places, notes and groups, which never change what a playbook means."""

import json
from collections.abc import Mapping
from typing import Any, Final

from steward.core import Invalid

ENDING: Final = ".layout.json"
LARGEST_LAYOUT: Final = 400_000
"""Characters of a layout as JSON."""
_PARTS: Final[Mapping[str, type]] = {"places": dict, "closed": list, "notes": list, "groups": list}

Layout = Mapping[str, Any]


def layout_name(path: str) -> str:
    """The file of the drawing that belongs to the file of a playbook."""
    return path.rpartition(".")[0] + ENDING


def layout_text(slug: str, layout: Layout | None) -> str | None:
    """The drawing as a file in one order; None where nothing was drawn."""
    drawn = {name: layout[name] for name in _PARTS if layout and layout.get(name)}
    if not drawn:
        return None
    document = {"format": 1, "playbook": slug, "layout": drawn}
    return json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def read_layout(text: str, name: str) -> dict[str, Any]:
    """The drawing in a file; Invalid says what is wrong with it."""
    if len(text) > LARGEST_LAYOUT * 2:
        raise Invalid(f"{name} is too large for a drawing.")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise Invalid(
            f"{name} is not JSON. Export the playbook again, or leave the file out."
        ) from None
    layout = document.get("layout") if isinstance(document, dict) else None
    if not isinstance(layout, dict) or document.get("format") != 1:
        raise Invalid(f"{name} is not a drawing that 'export' wrote.")
    for part, kind in _PARTS.items():
        if part in layout and not isinstance(layout[part], kind):
            raise Invalid(f"{name} is not a drawing that 'export' wrote: see {part!r}.")
    drawn = {part: layout[part] for part in _PARTS if part in layout}
    if len(json.dumps(drawn)) > LARGEST_LAYOUT:
        raise Invalid(f"{name} is too large for a drawing.")
    return drawn


def merged(kept: Layout | None, given: Layout) -> dict[str, Any]:
    """What is drawn here with what a file brings: the file counts, and nothing that is only here is lost."""
    before = kept or {}
    return {
        **before,
        "places": {**before.get("places", {}), **given.get("places", {})},
        "closed": given.get("closed", before.get("closed", [])),
        "notes": _by_id(before.get("notes", []), given.get("notes", [])),
        "groups": _by_id(before.get("groups", []), given.get("groups", [])),
    }


def _by_id(kept: list[Any], given: list[Any]) -> list[Any]:
    found = {each["id"]: each for each in given if isinstance(each, dict) and "id" in each}
    here = [each for each in kept if isinstance(each, dict) and "id" in each]
    return [found.pop(each["id"], each) for each in here] + list(found.values())
