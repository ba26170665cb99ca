"""Words the cleaning steps know: legal forms, titles, street words, free mail hosts, countries."""

from typing import Any

from steward.core import package_yaml


def vocabulary() -> dict[str, Any]:
    words: dict[str, Any] = package_yaml("steward.analysis.resolve", "vocabulary.yaml")
    return words
