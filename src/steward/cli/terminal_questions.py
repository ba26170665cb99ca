"""Questions at a terminal: yes or no, a number, a text, or a form made from the schema of the answer."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from steward.broker import first_problem
from steward.core import Unreadable, read_json

_YES: Final = frozenset({"y", "yes"})
_NO: Final = frozenset({"n", "no"})
_NUMBERS: Final = frozenset({"integer", "number"})


class NobodyThere(Exception):
    """Whoever was asked has gone: there is nothing more to read."""


def said(question: str) -> str:
    """One line that a person typed; the question goes to the error stream."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        try:
            # With the terminal's own editing of lines.
            return input(f"{question} ").strip()
        except EOFError:
            raise NobodyThere from None
    sys.stderr.write(f"{question} ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        sys.stderr.write("\n")
        raise NobodyThere
    return line.strip()


def agrees(question: str) -> bool:
    """Only a yes is one; just Enter is a no."""
    while True:
        answer = said(f"{question} [y/N]:").casefold()
        if answer in _YES:
            return True
        if answer == "" or answer in _NO:
            return False


def filled(schema: Mapping[str, Any]) -> Any:
    """An answer that fits the schema; what does not is said, and asked for again."""
    while True:
        answer = _value(schema, "Answer")
        wrong = first_problem(schema, answer)
        if wrong is None:
            return answer
        sys.stderr.write(f"  That does not fit: {wrong}\n")


def _value(schema: Mapping[str, Any], label: str) -> Any:
    if "enum" in schema or "const" in schema:
        return _chosen(schema.get("enum") or [schema["const"]], label)
    match schema.get("type", "string"):
        case "object" if schema.get("properties"):
            return _form(schema)
        case "boolean":
            return agrees(label)
        case "string":
            return said(f"{label}:")
        case kind:
            return _read(said(f"{label} ({kind if kind in _NUMBERS else 'as JSON'}):"))


def _form(schema: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    required = schema.get("required", ())
    for name, field in schema["properties"].items():
        title = field.get("title") or name.replace("_", " ").capitalize()
        about = f" ({field['description']})" if field.get("description") else ""
        value = _value(field, f"{title}{about}")
        if value == "" and (name not in required or "default" in field):
            # Just Enter: as it is by itself.
            if "default" in field:
                found[name] = field["default"]
            continue
        found[name] = value
    return found


def _chosen(options: Sequence[Any], label: str) -> Any:
    for number, option in enumerate(options, 1):
        sys.stderr.write(f"  {number}. {option}\n")
    answer = said(f"{label} (1–{len(options)}):")
    if answer.isdecimal() and 1 <= int(answer) <= len(options):
        return options[int(answer) - 1]
    same = [option for option in options if str(option).casefold() == answer.casefold()]
    return same[0] if same else answer


def _read(text: str) -> Any:
    try:
        return read_json(text)
    except Unreadable:
        return text
