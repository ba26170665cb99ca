"""Cleaning: named operations that are planned, counted and reviewed before anything changes."""

from steward.analysis.clean.registry import Arguments, Operation, catalogue, clean, operation
from steward.analysis.clean.suggest import suggest
from steward.analysis.countries import country_of

__all__ = [
    "Arguments",
    "Operation",
    "catalogue",
    "clean",
    "country_of",
    "operation",
    "suggest",
]
