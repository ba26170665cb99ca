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
    from_entries,
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
    kind_of,
    plain_facts,
    relations_from,
    with_profile,
)
from steward.definitions.formulas import Formula, columns_in, parse_condition, parse_formula
from steward.definitions.merging import effective, merge_definitions, missing_entries
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
    "Formula",
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
    "from_entries",
    "kind_of",
    "merge_definitions",
    "missing_entries",
    "parse_condition",
    "parse_formula",
    "parts_of",
    "plain_facts",
    "planned_changes",
    "pointer",
    "propose_definitions",
    "quantity_of",
    "quoted",
    "relations_from",
    "to_entries",
    "with_profile",
]
