"""Reads and writes playbooks: YAML in, problems by place and line out; one text for one document."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from steward.core import (
    Invalid,
    Lined,
    Problem,
    TooLarge,
    and_more,
    dump_yaml,
    parse_yaml,
    read_lined,
    require_bounded,
)
from steward.playbooks.model import BUILDING, ORDER, Playbook
from steward.playbooks.trigger import TRIGGERS

LARGEST: Final = 400_000
"""Characters of a document."""
_MESSAGES: Final = {
    "extra_forbidden": "is not known here",
    "missing": "is missing",
    "model_type": "must be fields with values",
    "dict_type": "must be fields with values",
    "union_tag_not_found": "needs a type",
}


def read(source: str | Mapping[str, Any]) -> tuple[Playbook, Lined]:
    """A playbook from YAML or from JSON; Invalid with a place, and a line, for each thing wrong with its form."""
    document = lined(source) if isinstance(source, str) else _as_text(source)
    try:
        return _validated(document.value), document
    except ValidationError as problem:
        errors = problem.errors(include_url=False, include_input=False)
        found = [Problem(_pointer(each), _said(each)) for each in errors]
        raise refusal("This is not a playbook", found, document) from None


def _validated(value: Any) -> Playbook:
    try:
        with BUILDING:
            return Playbook.model_validate(value)
    except ValidationError as problem:
        if not any(error["type"] == "union_tag_invalid" for error in problem.errors()):
            raise
    TRIGGERS.look_again()
    with BUILDING:
        return Playbook.model_validate(value)


def _as_text(source: Mapping[str, Any]) -> Lined:
    """JSON by the same way as YAML, so that what is taken in can be written out; it has no lines."""
    text = json.dumps(source)
    if len(text) > LARGEST:
        raise TooLarge(f"The document is too long: a playbook has at most {LARGEST:,} characters.")
    require_bounded(text)
    return Lined(lined(dump_yaml(dict(source))).value, {})


def lined(text: str, what: str = "playbook") -> Lined:
    if len(text) > LARGEST:
        line = text.count("\n", 0, LARGEST) + 1
        raise TooLarge(
            f"The text is too long at line {line}: a {what} has at most {LARGEST:,} characters."
        )
    return read_lined(text)


def decoded(content: bytes, what: str = "playbook") -> str:
    """The text of a file; a mark of UTF-8 at its start is left out."""
    try:
        return content[: LARGEST * 4 + 4].decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise Invalid(f"A {what} is a text in UTF-8; this is not at line {line}.") from None


def refusal(said: str, problems: Iterable[Problem], document: Lined) -> Invalid:
    """Everything wrong with a document in one error; the lines are said where there are any."""
    found = placed(problems, document)
    first = f"{found[0].pointer or '/'} {found[0].message}."
    return Invalid(f"{said}: {first}{and_more(found)}", problems=found)


def placed(problems: Iterable[Problem], document: Lined) -> list[Problem]:
    if not document.lines:
        return list(problems)
    return [
        Problem(each.pointer, f"{each.message} (line {document.line(each.pointer)})")
        for each in problems
    ]


def as_json(playbook: Playbook) -> dict[str, Any]:
    """The playbook in its one order, without what is as it is by default."""
    with BUILDING:
        found = playbook.model_dump(mode="json", exclude_defaults=True)
    found["format"] = playbook.format
    # Triggers are told apart by their type, which is never left out.
    if playbook.triggers:
        found["triggers"] = [
            {"type": each.type, **each.model_dump(mode="json", exclude_defaults=True)}
            for each in playbook.triggers
        ]
    return {name: found[name] for name in ORDER if name in found}


def as_yaml(playbook: Playbook) -> str:
    return dump_yaml(as_json(playbook))


_PEOPLE: Final = ("owner", "allowed")


def without_people(playbook: Playbook) -> Playbook:
    """What a revision holds: who may see a playbook belongs to the playbook itself."""
    return playbook.model_copy(update=dict.fromkeys(_PEOPLE))


def source_of(text: str, playbook: Playbook) -> str | None:
    """The text as it was written, without who may see it; None where only the document itself can be kept."""
    whole = parse_yaml(text)
    parts = None if whole is None or whole.flow else whole.mapping()
    if parts is None:
        return None
    lines = text.splitlines(keepends=True)
    starts = sorted(part.key_line - 1 for part in parts.values())
    for name in _PEOPLE:
        if name in parts:
            start = parts[name].key_line - 1
            end = next((each for each in starts if each > start), len(lines))
            # Comments before the next field are about that field.
            while end > start + 1 and lines[end - 1].lstrip()[:1] in {"", "#"}:
                end -= 1
            lines[start:end] = [""] * (end - start)
    kept = "".join(lines).rstrip("\n") + "\n"
    try:
        same = as_json(read(kept)[0]) == as_json(without_people(playbook))
    except Invalid:
        same = False
    return kept if same else None


def file_text(source: str | None, playbook: Playbook) -> str:
    """The text of an export: as it was written, with who may see it behind the name.

    Where that cannot be kept, or nothing was written by hand, the document in its one order.
    """
    plain = as_yaml(playbook)
    whole = None if source is None else parse_yaml(source)
    parts = None if whole is None or whole.flow else whole.mapping()
    if source is None or parts is None:
        return plain
    people = {name: value for name, value in as_json(playbook).items() if name in _PEOPLE}
    lines = source.splitlines(keepends=True)
    before = parts["name" if "name" in parts else "id"].key_line
    end = min((p.key_line - 1 for p in parts.values() if p.key_line > before), default=len(lines))
    while end > before and lines[end - 1].lstrip()[:1] in {"", "#"}:
        end -= 1
    told = dump_yaml(people) if people else ""
    made = "".join([*lines[:end], told, *lines[end:]])
    return made if source_of(made, playbook) == source else plain


def _pointer(error: ErrorDetails) -> str:
    parts = [str(part) for part in error["loc"]]
    # pydantic names the chosen type of a trigger between its index and its fields.
    if len(parts) > 2 and parts[0] == "triggers" and parts[2] in TRIGGERS:
        del parts[2]
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)


def _said(error: ErrorDetails) -> str:
    if error["type"] == "union_tag_invalid":
        return f"there is no such trigger; there are {', '.join(name for name, _ in TRIGGERS)}"
    message = _MESSAGES.get(error["type"], error["msg"])
    message = message.removeprefix("Value error, ")
    return message[:1].lower() + message[1:]
