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

__all__ = [
    "ColumnDefinition",
    "ConfirmedQuestion",
    "DefaultFilter",
    "Definitions",
    "Metric",
    "Relationship",
    "Segment",
    "TableDefinition",
]
