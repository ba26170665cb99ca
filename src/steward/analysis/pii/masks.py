"""Personal values made unreadable while a reader still recognises what kind of thing they are."""

import re

from steward.analysis.pii.kinds import kind

_WORD = re.compile(r"\w+")
_ALNUM = re.compile(r"[^\W_]")


def mask(value: str, kind_name: str | None = None) -> str:
    """At most the first letter of a word or the last two digits of a number stay visible."""
    if kind_name == "email" and "@" in value:
        local, _, domain = value.rpartition("@")
        name, dot, suffix = domain.rpartition(".")
        return f"{local[:1]}***@{name[:1]}***{dot}{suffix}"
    if kind_name in {"person_name", "address"}:
        return _WORD.sub(lambda word: word.group()[0] + "***", value[:80])
    if kind_name in {"secret", "sensitive"}:
        return "***"
    return _tail(value)


def _tail(value: str) -> str:
    """Everything hidden but the separators and, of long values, the last two characters."""
    shown = value[:64]
    keep = len(shown) - 2 if len(_ALNUM.findall(shown)) >= 8 else len(shown)
    return _ALNUM.sub("*", shown[:keep]) + shown[keep:]


def mask_inside(text: str, kind_names: tuple[str, ...]) -> str:
    """The text with every passage of those kinds masked and the rest left as it is."""
    for name in kind_names:
        known = kind(name)
        if known is None:
            continue
        text = known.inside_regex.sub(
            lambda found, name=name: found.group().replace(  # type: ignore[misc]
                found.group(1), mask(found.group(1), name)
            ),
            text,
        )
    return text
