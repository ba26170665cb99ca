"""Entity resolution: rules proposed from the data, approved by people, carried out with Splink."""

from steward.data.resolve.document import from_yaml, to_yaml
from steward.data.resolve.estimates import Estimate, estimate
from steward.data.resolve.evidence import Evidence
from steward.data.resolve.proposal import propose
from steward.data.resolve.resolution import Resolution, golden_change, mapping_change, resolve
from steward.data.resolve.review import Pair, borderline
from steward.data.resolve.rules import (
    Decision,
    RowRef,
    Rules,
    Thresholds,
    parse_rules,
    rules_schema,
)
from steward.data.resolve.scored import Scored, open_scored, score

__all__ = [
    "Decision",
    "Estimate",
    "Evidence",
    "Pair",
    "Resolution",
    "RowRef",
    "Rules",
    "Scored",
    "Thresholds",
    "borderline",
    "estimate",
    "from_yaml",
    "golden_change",
    "mapping_change",
    "open_scored",
    "parse_rules",
    "propose",
    "resolve",
    "rules_schema",
    "score",
    "to_yaml",
]
