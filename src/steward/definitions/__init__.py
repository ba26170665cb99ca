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
from steward.definitions.formulas import Formula, columns_in, parse_condition, parse_formula
from steward.definitions.merging import effective, merge_definitions
from steward.definitions.proposing import propose_definitions

__all__ = [
    "ColumnDefinition",
    "ColumnFacts",
    "ConfirmedQuestion",
    "DatasetFacts",
    "DefaultFilter",
    "Definitions",
    "Formula",
    "Metric",
    "Relation",
    "Relationship",
    "Segment",
    "TableDefinition",
    "columns_in",
    "effective",
    "facts_from",
    "kind_of",
    "merge_definitions",
    "parse_condition",
    "parse_formula",
    "plain_facts",
    "propose_definitions",
    "relations_from",
    "with_profile",
]
