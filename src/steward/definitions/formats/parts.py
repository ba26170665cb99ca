"""What exporting and importing share: results with their losses, and careful reading of foreign documents."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from steward.definitions.document import Definitions


@dataclass(frozen=True)
class Exported:
    text: str
    losses: list[str]
    """What the format cannot say, in sentences."""


@dataclass(frozen=True)
class Imported:
    definitions: Definitions
    losses: list[str]
    """What of the file Steward's definitions cannot say."""
    format: str


@dataclass
class Losses:
    """Sentences, each once."""

    said: dict[str, None] = field(default_factory=dict)

    def add(self, sentence: str) -> None:
        self.said[sentence] = None

    @property
    def listed(self) -> list[str]:
        return list(self.said)


def items(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; nothing where it is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


def object_of(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def short(words: Iterable[str]) -> list[str]:
    """Synonyms as definitions keep them: at most 50, none empty or longer than 100 characters."""
    return list(dict.fromkeys(each.strip()[:100] for each in words if each.strip()))[:50]


def own_keys(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """What Steward wrote under `custom_extensions` of an Ossie object."""
    for each in items(document.get("custom_extensions")):
        if each.get("vendor_name") != "COMMON":
            continue
        try:
            found = json.loads(text_of(each.get("data")))
        except ValueError:
            continue
        if isinstance(found, dict) and isinstance(found.get("steward"), dict):
            return dict(found["steward"])
    return {}
