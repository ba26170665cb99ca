"""What words mean in a project: measures, dimensions, identifiers, metrics, times, relationships, synonyms."""

from steward.definitions.document import (
    ColumnDefinition,
    ConfirmedQuestion,
    DefaultFilter,
    Definitions,
    Metric,
    Relationship,
    Segment,
    TableDefinition,
)
from steward.definitions.facts import (
    ColumnFacts,
    DatasetFacts,
    Relation,
    facts_from,
    kind_of,
    plain_facts,
    relations_from,
    with_profile,
)
from steward.definitions.merging import effective, merge_definitions
from steward.definitions.proposing import propose_definitions

__all__ = [
    "ColumnDefinition",
    "ColumnFacts",
    "ConfirmedQuestion",
    "DatasetFacts",
    "DefaultFilter",
    "Definitions",
    "Metric",
    "Relation",
    "Relationship",
    "Segment",
    "TableDefinition",
    "effective",
    "facts_from",
    "kind_of",
    "merge_definitions",
    "plain_facts",
    "propose_definitions",
    "relations_from",
    "with_profile",
]
