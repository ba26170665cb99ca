"""Bringing sources together: joins and unions, checked before they are planned."""

from steward.analysis.consolidate.joining import check_join, join, links
from steward.analysis.consolidate.unions import union

__all__ = [
    "check_join",
    "join",
    "links",
    "union",
]
