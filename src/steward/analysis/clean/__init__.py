"""Cleaning: named operations that are planned, counted and reviewed before anything changes."""

from steward.analysis.clean.categories import (
    propose_categories,
)
from steward.analysis.clean.registry import Arguments, Operation, catalogue, clean, operation
from steward.analysis.clean.suggest import suggest
from steward.analysis.countries import Country, country_of

__all__ = [
    "Arguments",
    "Country",
    "Operation",
    "catalogue",
    "clean",
    "country_of",
    "operation",
    "propose_categories",
    "suggest",
]
