"""Entity resolution: rules proposed from the data, approved by people, carried out with Splink."""

from steward.analysis.resolve.document import from_yaml, to_yaml
from steward.analysis.resolve.estimates import estimate
from steward.analysis.resolve.evidence import Evidence
from steward.analysis.resolve.proposal import propose
from steward.analysis.resolve.resolution import Resolution, resolve
from steward.analysis.resolve.review import borderline
from steward.analysis.resolve.rules import (
    Decision,
    RowRef,
    Rules,
    Thresholds,
    parse_rules,
)
from steward.analysis.resolve.scored import Scored, open_scored, score

__all__ = [
    "Decision",
    "Evidence",
    "Resolution",
    "RowRef",
    "Rules",
    "Scored",
    "Thresholds",
    "borderline",
    "estimate",
    "from_yaml",
    "open_scored",
    "parse_rules",
    "propose",
    "resolve",
    "score",
    "to_yaml",
]
