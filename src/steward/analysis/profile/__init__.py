"""Profiles: exact counts, distributions, patterns, meanings, personal data and keys of a table."""

from steward.analysis.profile.pushed import pushed_profile, pushed_query
from steward.analysis.profile.results import (
    AlikeColumns,
    ColumnProfile,
    Dates,
    Gap,
    Histogram,
    Key,
    Meaning,
    Missing,
    Number,
    Outliers,
    Pattern,
    Profile,
    Quantile,
    Text,
    ValueCount,
)
from steward.analysis.profile.run import Progress, profile

__all__ = [
    "AlikeColumns",
    "ColumnProfile",
    "Dates",
    "Gap",
    "Histogram",
    "Key",
    "Meaning",
    "Missing",
    "Number",
    "Outliers",
    "Pattern",
    "Profile",
    "Progress",
    "Quantile",
    "Text",
    "ValueCount",
    "profile",
    "pushed_profile",
    "pushed_query",
]
