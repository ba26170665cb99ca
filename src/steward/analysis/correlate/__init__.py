"""Associations between columns: numeric, categorical and mixed, with the measure named."""

from steward.analysis.correlate.results import (
    Association,
    ColumnRole,
    Correlations,
    Matrix,
    Measure,
)
from steward.analysis.correlate.run import correlate

__all__ = ["Association", "ColumnRole", "Correlations", "Matrix", "Measure", "correlate"]
