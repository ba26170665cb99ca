"""Profiles: exact counts, distributions, patterns, meanings, personal data and keys of a table."""

from steward.analysis.profile.pushed import pushed_profile, pushed_query
from steward.analysis.profile.results import (
    ColumnProfile,
    Dates,
    Key,
    Meaning,
    Missing,
    Number,
    Pattern,
    Profile,
    Text,
)
from steward.analysis.profile.run import Progress, profile

__all__ = [
    "ColumnProfile",
    "Dates",
    "Key",
    "Meaning",
    "Missing",
    "Number",
    "Pattern",
    "Profile",
    "Progress",
    "Text",
    "profile",
    "pushed_profile",
    "pushed_query",
]
