"""A connection that was found on this machine: where, what, and its secrets out of sight."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MODEL = "model"
"""Kind of what is not a connection but a model, which is set in the settings."""


@dataclass(frozen=True)
class Proposal:
    kind: str
    name: str
    found_in: str
    settings: Mapping[str, Any]
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Secrets as they were found; they go into the secret store, and nowhere else."""
    missing: tuple[str, ...] = ()
    """Settings that were not found and must be given when it is accepted."""
    note: str = ""
    refused: str = ""
    """Why it cannot be accepted as it is; empty when it can."""

    @property
    def id(self) -> str:
        """The same for the same finding at every start; secrets have no part in it."""
        known = [self.kind, self.found_in, dict(self.settings), sorted(self.values)]
        text = json.dumps(known, sort_keys=True)
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]

    @property
    def masked(self) -> dict[str, str]:
        return {name: mask(value) for name, value in self.values.items()}


def mask(value: str) -> str:
    """Enough to recognise one's own long secret, and nothing of a short one."""
    return "••••••" + (value[-2:] if len(value) >= 16 else "")


def slug(text: str, fallback: str) -> str:
    """A name for a connection made from something found."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:30]
    return name if name and name[0].isalpha() else f"{fallback}_{name}".rstrip("_")
