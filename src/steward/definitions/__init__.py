"""What words mean in a project: measures, dimensions, identifiers, metrics, times, relationships, synonyms."""

from steward.definitions.document import (
    ColumnDefinition,
    Definitions,
    Metric,
    Relationship,
    Segment,
    TableDefinition,
)
from steward.definitions.entries import (
    EntryChange,
    checked_entry,
    confirmed_entry,
    diff_definitions,
    parts_of,
    planned_changes,
    pointer,
    to_entries,
)
from steward.definitions.facts import (
    ColumnFacts,
    DatasetFacts,
    Relation,
    facts_from,
    relations_from,
)
from steward.definitions.formulas import columns_in, parse_condition, parse_formula
from steward.definitions.merging import effective, missing_entries
from steward.definitions.proposing import propose_definitions, quoted
from steward.definitions.quantities import quantity_of
from steward.definitions.store import DefinitionStore
from steward.definitions.uses import Use, Work, find_uses

__all__ = [
    "ColumnDefinition",
    "ColumnFacts",
    "DatasetFacts",
    "DefinitionStore",
    "Definitions",
    "EntryChange",
    "Metric",
    "Relation",
    "Relationship",
    "Segment",
    "TableDefinition",
    "Use",
    "Work",
    "checked_entry",
    "columns_in",
    "confirmed_entry",
    "diff_definitions",
    "effective",
    "facts_from",
    "find_uses",
    "missing_entries",
    "parse_condition",
    "parse_formula",
    "parts_of",
    "planned_changes",
    "pointer",
    "propose_definitions",
    "quantity_of",
    "quoted",
    "relations_from",
    "to_entries",
]
