"""What can be learnt from tables and done to them: profiles, keys and relations, matching, cleaning, personal data."""

from steward.analysis.redact import Method, redact, unlock

__all__ = [
    "Method",
    "redact",
    "unlock",
]
