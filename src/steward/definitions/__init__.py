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
from steward.definitions.entries import (
    EntryChange,
    apply_changes,
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
from steward.definitions.store import DefinitionsRevision, DefinitionStore
from steward.definitions.uses import Use, Work, find_uses

__all__ = [
    "ColumnDefinition",
    "ColumnFacts",
    "ConfirmedQuestion",
    "DatasetFacts",
    "DefaultFilter",
    "DefinitionStore",
    "Definitions",
    "DefinitionsRevision",
    "EntryChange",
    "Formula",
    "Metric",
    "Relation",
    "Relationship",
    "Segment",
    "TableDefinition",
    "Use",
    "Work",
    "apply_changes",
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
