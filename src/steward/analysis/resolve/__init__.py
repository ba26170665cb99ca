"""Entity resolution: rules proposed from the data, approved by people, carried out with Splink."""

from steward.analysis.resolve.document import from_yaml, to_yaml
from steward.analysis.resolve.estimates import estimate
from steward.analysis.resolve.proposal import propose
from steward.analysis.resolve.resolution import resolve
from steward.analysis.resolve.review import borderline
from steward.analysis.resolve.rules import Rules
from steward.analysis.resolve.scored import score

__all__ = [
    "Rules",
    "borderline",
    "estimate",
    "from_yaml",
    "propose",
    "resolve",
    "score",
    "to_yaml",
]
