"""Messy demo data with a known truth: customers as CRM, billing and support each see them."""

from scripts.samples.generate import (
    DEFAULT_CUSTOMERS,
    DEFAULT_SEED,
    SampleDataset,
    SampleSet,
    generate,
)
from scripts.samples.truth import (
    PlantedForeignKey,
    PlantedKey,
    PlantedProblem,
    Truth,
    TruthRow,
)

__all__ = [
    "DEFAULT_CUSTOMERS",
    "DEFAULT_SEED",
    "PlantedForeignKey",
    "PlantedKey",
    "PlantedProblem",
    "SampleDataset",
    "SampleSet",
    "Truth",
    "TruthRow",
    "generate",
]
