"""Keeps secrets out of logs, traces and errors: by name of the field and by shape of the text."""

import re
from typing import Any

MASK = "[redacted]"

_SENSITIVE_NAME = re.compile(
    r"pass(word|wd|phrase)?|secret|token|authorization|cookie|credential|api_?key|private_?key|csrf"
    r"|session_?key|ciphertext|\blink\b",
    re.IGNORECASE,
)
_SENSITIVE_TEXT = re.compile(
    r"\b(?:stw|sts|stl|sti|csrf)_[A-Za-z0-9_-]{20,}"  # our own tokens
    r"|\bBearer\s+[A-Za-z0-9._~+/=-]{8,}"
    r"|\b(?:sk|pk|xox[abprs]|ghp|gho|glpat)[-_][A-Za-z0-9_-]{12,}"  # common vendors' keys
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"  # user:password in an address
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # JSON web tokens
)


def redact(value: Any, name: str = "") -> Any:
    """A copy with everything that looks like a secret masked."""
    if isinstance(value, dict):
        return {key: redact(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact(item, name) for item in value]
    if name and _SENSITIVE_NAME.search(name) and value is not None and not isinstance(value, bool):
        return MASK
    if isinstance(value, str):
        return redact_text(value)
    return value


def redact_text(text: str) -> str:
    return _SENSITIVE_TEXT.sub(MASK, text)
