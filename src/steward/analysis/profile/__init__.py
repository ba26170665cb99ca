"""Profiles: exact counts, distributions, patterns, meanings, personal data and keys of a table."""

from steward.analysis.profile.pushed import pushed_profile, pushed_query
from steward.analysis.profile.results import Key, Text
from steward.analysis.profile.run import profile

__all__ = [
    "Key",
    "Text",
    "profile",
    "pushed_profile",
    "pushed_query",
]
