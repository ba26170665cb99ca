"""Names of services and operations: short, plain, and each only once."""

import hashlib
import re
from collections.abc import Collection
from typing import Final

from steward.core import TooLarge

LONGEST_NAME: Final = 64
MOST_OPERATIONS: Final = 10_000
SERVICE_NAME: Final = r"^[a-z0-9][a-z0-9._-]{0,79}$"
OPERATION_NAME: Final = r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$"


def named(wanted: str, otherwise: str, taken: Collection[str]) -> str | None:
    """The wanted name made plain, or the other one where it is empty or taken; None where both are."""
    for each in (wanted, otherwise):
        name = _plain(each)
        if name and name not in taken:
            return name
    return None


def slug(text: str) -> str:
    found = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return found[:80].strip("-") or "service"


def too_many() -> TooLarge:
    return TooLarge(
        f"The description has more than {MOST_OPERATIONS:,} operations. Install a part of it.",
        code="too-many-operations",
    )


def _plain(text: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("_.-")
    if len(name) <= LONGEST_NAME:
        return name
    # Long names differ at their ends; the hash keeps them apart.
    return f"{name[: LONGEST_NAME - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"
