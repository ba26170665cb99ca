"""Keeps secrets out of logs, traces and errors: by name of the field and by shape of the text."""

import re
from collections.abc import Mapping
from datetime import date, time, timedelta
from typing import Any, Final

MASK: Final = "[redacted]"

_WORDS: Final = (
    r"pass(?:word|wd|phrase)?|pwd|secret|token|authorization|cookie|credential|api[_-]?key"
    r"|private[_-]?key|access[_-]?key|session[_-]?key|csrf|ciphertext"
)
_SENSITIVE_NAME = re.compile(rf"{_WORDS}|(?<![a-z])link(?![a-z])", re.IGNORECASE)
_SENSITIVE_TEXT = re.compile(
    r"\b(?:stw|sts|stl|sti|csrf)_[A-Za-z0-9_-]{20,}"  # our own tokens
    r"|\bBearer\s+[A-Za-z0-9._~+/=-]{8,}"
    r"|\bBasic\s+(?=\S*[a-z0-9][A-Z0-9+/=])[A-Za-z0-9+/=]{8,}"
    # Common vendors' keys.
    r"|\b(?:sk|pk|rk|xox[abeprs]|gh[oprsu]|github_pat|glpat)[-_][A-Za-z0-9_-]{12,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}"
    r"|\beyJ[A-Za-z0-9_-]{8,4096}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*"  # JSON web tokens
    r"|(?:(?<=://)|(?<=:/))[^/\s:@]*:[^/\s]+(?=@)"  # user:password in an address
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    re.DOTALL,
)
# A name and its value inside text: `password=…` in an address, `"token": "…"` in a document. Strangers write such
# texts, so each pattern looks at a character once: a name whole, and what follows a value once for all values in it.
_NAMED = re.compile(
    r"""(?<![a-z0-9_-])([a-z0-9_-]++)(?:\s*=\s*["']?|["']\s*:\s*["'])""", re.IGNORECASE
)
_SENSITIVE_WORD = re.compile(_WORDS, re.IGNORECASE)
_VALUE = re.compile(r"""[^\s"'&;,<>]+""")
_TO_QUOTE = re.compile(r"""[^"'&;,<>\n]*""")
_PLAIN: Final = (bool, int, float, date, time, timedelta)


def redact(value: Any, name: str = "") -> Any:
    """A copy with everything that looks like a secret masked."""
    if isinstance(value, Mapping):
        return {redact_text(str(key)): redact(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [redact(item, name) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if name and _SENSITIVE_NAME.search(name):
        return MASK
    if isinstance(value, _PLAIN):
        return value
    # Whatever else is logged will be shown by its text, so its text is what is looked at.
    return redact_text(value if isinstance(value, str) else repr(value))


def redact_text(text: str) -> str:
    return _without_pairs(_SENSITIVE_TEXT.sub(MASK, text))


def _without_pairs(text: str) -> str:
    parts = []
    done = at = 0
    quote = -1
    while named := _NAMED.search(text, at):
        at = named.end()
        value = _VALUE.match(text, at) if _SENSITIVE_WORD.search(named[1]) else None
        if value is None:
            continue
        end = value.end()
        if end > quote:
            rest = _TO_QUOTE.match(text, end)
            quote = rest.end() if rest else end
        parts += [text[done:at], MASK]
        # A value in quotes may have spaces.
        done = at = quote if text[quote : quote + 1] in {"'", '"'} else end
    return "".join([*parts, text[done:]])
