"""Changes to SCIM documents by PATCH (RFC 7644, 3.5.2)."""

import copy
import re
from collections.abc import Mapping
from typing import Any, Final

from steward.core import Invalid
from steward.identity.directories.filters import attribute_name, read_filter

_MOST: Final = 1_000
_PATH: Final = re.compile(
    r"^(?P<name>[A-Za-z][\w$-]*)(\[(?P<filter>.+)\])?(\.(?P<sub>[A-Za-z$][\w$-]*))?$"
)
Document = dict[str, Any]


def patched(document: Mapping[str, Any], operations: Any) -> Document:
    """The document after all operations; Invalid, and nothing changed, where one of them does not fit."""
    if not isinstance(operations, list) or not 1 <= len(operations) <= _MOST:
        raise Invalid(f"Send between 1 and {_MOST} Operations as a list.", code="invalidSyntax")
    found: Document = copy.deepcopy(dict(document))
    for operation in operations:
        if not isinstance(operation, dict) or not isinstance(operation.get("op"), str):
            raise Invalid("Each operation names its op.", code="invalidSyntax")
        _apply(found, operation["op"].lower(), operation.get("path"), operation.get("value"))
    return found


def _apply(document: Document, op: str, path: Any, value: Any) -> None:
    if op not in {"add", "replace", "remove"}:
        raise Invalid("op is add, replace or remove.", code="invalidSyntax")
    if path is None:
        if op == "remove":
            raise Invalid("Removing needs a path.", code="noTarget")
        if not isinstance(value, dict):
            raise Invalid("Without a path the value is an object.", code="invalidValue")
        for name, each in value.items():
            _apply(document, op, name, each)
        return
    match = _PATH.match(_short(path)) if isinstance(path, str) else None
    if match is None:
        raise Invalid("The path is not one of an attribute.", code="invalidPath")
    name = _known(document, match["name"])
    if match["filter"] is not None:
        _apply_to_items(document, op, name, match["filter"], match["sub"], value)
    elif match["sub"] is not None:
        inner = document.get(name)
        inner = document[name] = dict(inner) if isinstance(inner, dict) else {}
        _set(inner, op, _known(inner, match["sub"]), value)
    else:
        _set(document, op, name, value)


def _short(path: str) -> str:
    lower = attribute_name(path)
    return path[len(path) - len(lower) :]


def _known(document: Mapping[str, Any], name: str) -> str:
    """The name as the document writes it: names count in any case."""
    return next((each for each in document if each.lower() == name.lower()), name)


def _set(place: Document, op: str, name: str, value: Any) -> None:
    if op == "remove":
        if isinstance(value, list) and isinstance(place.get(name), list):
            # Some providers name what to remove in the value.
            gone = [each.get("value") if isinstance(each, dict) else each for each in value]
            place[name] = [each for each in place[name] if _value_of(each) not in gone]
        else:
            place.pop(name, None)
        return
    current = place.get(name)
    if op == "add" and isinstance(current, list):
        added = value if isinstance(value, list) else [value]
        known = [_value_of(each) for each in current]
        place[name] = [*current, *(each for each in added if _value_of(each) not in known)]
    elif isinstance(current, dict) and isinstance(value, dict):
        place[name] = {**current, **value}
    else:
        place[name] = value


def _apply_to_items(
    document: Document, op: str, name: str, text: str, sub: str | None, value: Any
) -> None:
    test = read_filter(text)
    items = document.get(name)
    listed = list(items) if isinstance(items, list) else []
    chosen = [each for each in listed if isinstance(each, dict) and test(each)]
    if op == "remove" and sub is None:
        document[name] = [each for each in listed if each not in chosen]
        return
    if op == "remove":
        for each in chosen:
            each.pop(_known(each, sub or ""), None)
        return
    if not chosen:
        raise Invalid(f"No entry of {name} fits the filter.", code="noTarget")
    for each in chosen:
        if sub is not None:
            each[_known(each, sub)] = value
        elif isinstance(value, dict):
            each.update(value)
        else:
            raise Invalid(f"An entry of {name} is an object.", code="invalidValue")


def _value_of(item: Any) -> Any:
    return item.get("value") if isinstance(item, dict) else item
