"""Associations between columns: numeric, categorical and mixed, with the measure named."""

from steward.analysis.correlate.run import correlate

__all__ = ["correlate"]
