"""The analyst: explains a run by rules over its trace and journal, and refers to the spans that show it."""

from steward.observe.analysis.analyst import Analysis, Analyst
from steward.observe.analysis.finding import Finding

__all__ = [
    "Analysis",
    "Analyst",
    "Finding",
]
