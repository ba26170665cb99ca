"""Bringing sources together: joins and unions, checked before they are planned."""

from steward.analysis.consolidate.joining import check_join, join, links
from steward.analysis.consolidate.mapping import suggest_mapping
from steward.analysis.consolidate.model import Link, Matching
from steward.analysis.consolidate.unions import check_union, union

__all__ = [
    "Link",
    "Matching",
    "check_join",
    "check_union",
    "join",
    "links",
    "suggest_mapping",
    "union",
]
