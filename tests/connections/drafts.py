"""Changes a part of a connection in tests."""

from dataclasses import asdict
from typing import Any

from steward.connections.documents import Connection, Draft


def as_draft(connection: Connection, **changes: Any) -> Draft:
    """A connection as a draft, to change a part of it."""
    known = {
        name: value
        for name, value in asdict(connection).items()
        if name in Draft.__dataclass_fields__
    }
    return Draft(**{**known, **changes})
