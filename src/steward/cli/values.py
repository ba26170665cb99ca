"""What people type as the value of an option, read as JSON."""

import json
from typing import Any

from steward.core.errors import Invalid


def json_object(text: str, option: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise Invalid(f"{option} is not JSON: {error}.") from None
    if not isinstance(found, dict):
        raise Invalid(f'{option} is one JSON object, as in \'{{"dataset": "orders"}}\'.')
    return found


def json_or_text(text: str) -> Any:
    """JSON where it is some; everything else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
