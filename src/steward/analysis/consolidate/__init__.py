"""Bringing sources together: joins and unions, checked before they are planned."""

from steward.analysis.consolidate.joining import check_join, join, links
from steward.analysis.consolidate.mapping import MappedColumn, suggest_mapping
from steward.analysis.consolidate.model import Compatibility, Link, Loss, Matching, OutputColumn
from steward.analysis.consolidate.unions import ColumnMapping, as_mapping, check_union, union

__all__ = [
    "ColumnMapping",
    "Compatibility",
    "Link",
    "Loss",
    "MappedColumn",
    "Matching",
    "OutputColumn",
    "as_mapping",
    "check_join",
    "check_union",
    "join",
    "links",
    "suggest_mapping",
    "union",
]
