"""What can be learnt from tables and done to them: profiles, keys and relations, matching, cleaning, personal data."""

from steward.analysis.encrypt import Cipher, Mode, decrypt, encrypt, turn
from steward.analysis.redact import Method, redact, unlock

__all__ = [
    "Cipher",
    "Method",
    "Mode",
    "decrypt",
    "encrypt",
    "redact",
    "turn",
    "unlock",
]
