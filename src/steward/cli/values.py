"""What people type as the value of an option, read as JSON."""

from typing import Any

from steward.core import Invalid, Unreadable, read_json


def json_object(text: str, option: str) -> dict[str, Any]:
    try:
        found = read_json(text)
    except Unreadable as error:
        raise Invalid(f"{option} is not JSON: {error.problems[0].message}.") from None
    if not isinstance(found, dict):
        raise Invalid(f'{option} is one JSON object, as in \'{{"dataset": "orders"}}\'.')
    return found


def json_or_text(text: str) -> Any:
    """JSON where it is some; everything else is text."""
    try:
        return read_json(text)
    except Unreadable:
        return text
