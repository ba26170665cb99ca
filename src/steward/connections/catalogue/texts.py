"""Descriptions as bytes: read with limits, so that no file makes Steward slow, large or curious."""

import json
from typing import Any, Final

import yaml  # type: ignore[import-untyped]

from steward.core import Invalid, TooLarge

MOST_DESCRIPTION_BYTES: Final = 50 << 20
_MOST_NODES: Final = 5_000_000
_DEEPEST: Final = 120


def require_size(content: bytes) -> None:
    if len(content) > MOST_DESCRIPTION_BYTES:
        raise TooLarge(
            f"The description has more than {MOST_DESCRIPTION_BYTES >> 20} MB. Install a smaller one, such as a part of the API.",
            code="description-too-large",
        )


def read_text(content: bytes) -> dict[str, Any]:
    """The document in a JSON or YAML text; refused when it is too large, too deep, or no object."""
    require_size(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _unreadable("it is not UTF-8 text") from None
    found = _json(text) if text.lstrip()[:1] in {"{", "["} else _yaml(text)
    if not isinstance(found, dict):
        raise _unreadable("it is not an object")
    _check_shape(found)
    return found


def _json(text: str) -> Any:
    def refuse(word: str) -> Any:
        raise _unreadable(f"{word} is no JSON value")

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as problem:
        raise _unreadable(f"it is not JSON ({str(problem)[:100]})") from None


def _yaml(text: str) -> Any:
    try:
        return yaml.load(text, Loader=_Plain)  # noqa: S506 - a safe loader
    except RecursionError:
        raise _too_deep() from None
    except (yaml.YAMLError, ValueError) as problem:
        raise _unreadable(f"it is not YAML ({str(problem).splitlines()[0][:100]})") from None


class _Plain(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML as JSON has it: a date stays the text that was written."""


_Plain.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if tag != "tag:yaml.org,2002:timestamp"]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _check_shape(document: Any) -> None:
    """Counts what the document unfolds to: an alias in YAML costs a line and can stand for a million values."""
    level, seen, depth = [document], 1, 0
    while level:
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
            if seen + len(below) > _MOST_NODES:
                raise TooLarge(
                    f"The description unfolds to more than {_MOST_NODES:,} values.",
                    code="description-too-large",
                )
        seen, depth, level = seen + len(below), depth + 1, below
        if level and depth > _DEEPEST:
            raise _too_deep()


def _too_deep() -> TooLarge:
    return TooLarge(
        f"The description is nested more than {_DEEPEST} levels deep, or contains itself.",
        code="description-too-deep",
    )


def _unreadable(why: str) -> Invalid:
    return Invalid(f"The description cannot be read: {why}.", code="description-unreadable")
