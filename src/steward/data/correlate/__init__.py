"""Associations between columns: numeric, categorical and mixed, with the measure named."""

from steward.data.correlate.results import (
    Association,
    ColumnRole,
    Correlations,
    Matrix,
    Measure,
)
from steward.data.correlate.run import correlate

__all__ = ["Association", "ColumnRole", "Correlations", "Matrix", "Measure", "correlate"]
