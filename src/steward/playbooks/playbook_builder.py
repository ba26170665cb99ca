"""Playbooks from a few choices: what to work on, what to do, what to leave behind; always a valid draft."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from pydantic import Field, ValidationError

from steward.broker import Outcome, ToolContext
from steward.core import Conflict, Invalid, NotFound, dump_yaml, in_words, mistakes
from steward.identity import Access, Principal, Role, Via
from steward.playbooks.cards import Card
from steward.playbooks.documents import as_json
from steward.playbooks.library import Library
from steward.playbooks.model import Document, Playbook
from steward.playbooks.people import People

Step = Literal["profile", "relate", "trim", "resolve"]
Result = Literal["report", "workbook", "lineage"]
_TRIES: Final = 50
_TARGET: Final = "resolved"


class Choices(Document):
    """What a draft is made from."""

    name: str = Field("", max_length=100)
    goal: str = Field("", max_length=2_000)
    sources: list[str] = Field([], max_length=20)
    steps: list[Step] = Field([], max_length=10)
    results: list[Result] = Field([], max_length=10)
    ask: bool = False

    def filled_from(self, other: "Choices") -> "Choices":
        """What was left open here, as chosen there."""
        chosen = {
            field: getattr(self, field) or getattr(other, field)
            for field in type(self).model_fields
        }
        return Choices(**chosen)


class PlaybookBuilder:
    def __init__(self, library: Library, people: People) -> None:
        self._library = library
        self._people = people

    def draft(self, context: ToolContext, choices: Choices) -> Outcome:
        """Keeps the draft as whoever started the run; the same run makes it once."""
        viewer = self._people.author(context.scope, context.author)
        principal = Principal(context.author, "", "", Via.session)
        access = Access(principal, context.scope, viewer.role)
        access.require(Role.editor)
        document = playbook_of(choices)
        card = self._kept(access, document, f"Drafted by the run {context.run_id}")
        return Outcome(
            value={
                "playbook": card.slug,
                "id": card.id,
                "name": card.title,
                "yaml": self._library.text(access, card.id),
            },
            summary=f"Drafted the playbook {card.title}",
            trusted=False,
        )

    def _kept(self, access: Access, document: Mapping[str, Any], mark: str) -> Card:
        wanted = str(document["id"])
        for number in range(1, _TRIES + 1):
            slug = wanted if number == 1 else f"{wanted}-{number}"
            try:
                known = self._library.get(access, slug)
            except NotFound:
                try:
                    return self._library.create(access, {**document, "id": slug}, message=mark)
                except Conflict:
                    # Taken by somebody who does not share it.
                    continue
            if self._library.revision(access, known.id, 1).message == mark:
                return known
        raise Conflict(f"There are too many playbooks called {wanted!r}; choose another name.")


def chosen(form: Any, understood: Any) -> Choices:
    """The form's choices; where it says nothing, what a model understood, as far as that fits."""
    try:
        own = Choices.model_validate(form)
    except ValidationError as problem:
        found = mistakes(problem)
        raise Invalid(f"The form is not valid: {in_words(found)}.", problems=found) from None
    try:
        other = Choices.model_validate(understood or {})
    except ValidationError:
        # Such as the message that there is no model: the form has to do.
        return own
    return own.filled_from(other)


def playbook_of(choices: Choices) -> dict[str, Any]:
    """The document; Invalid says what was not chosen."""
    missing = [
        word
        for word, given in (
            ("a name", choices.name),
            ("sources", choices.sources),
            ("steps or results", [*choices.steps, *choices.results]),
        )
        if not given
    ]
    if missing:
        raise Invalid(
            f"A playbook needs {', '.join(missing)}. Fill them into the form, or describe them in words "
            "where a model is configured."
        )
    inputs = {
        "type": "object",
        "properties": {
            "sources": {
                "type": "array",
                "title": "Sources",
                "description": "Names of the datasets to work on.",
                "items": {"type": "string", "minLength": 1},
                "minItems": 1,
                "maxItems": 20,
                "uniqueItems": True,
                "default": list(choices.sources),
            }
        },
        "required": ["sources"],
        "additionalProperties": False,
    }
    steps = [*_steps(choices), *_asking(choices), *_results(choices)]
    return {
        "format": 1,
        "id": _slug(choices.name),
        "name": choices.name,
        "goal": choices.goal,
        "inputs": inputs,
        "budget": {"usd": 1, "seconds": 1800},
        "steps": steps,
    }


def yaml_of(choices: Choices) -> str:
    return dump_yaml(as_json(Playbook.model_validate(playbook_of(choices))))


def _steps(choices: Choices) -> list[dict[str, Any]]:
    made: dict[Step, dict[str, Any]] = {
        "profile": _each("profile", "Profile every source", "profile", {"dataset": "${item}"}),
        "relate": {
            "id": "relate",
            "title": "Find how the sources go together",
            "tool": "relate",
            "arguments": {"datasets": "${inputs.sources}"},
        },
        "trim": _each(
            "trim",
            "Remove stray spaces",
            "clean",
            {"dataset": "${item}", "operation": "trim"},
            together=1,
        ),
        "resolve": {
            "id": "resolve",
            "title": "Find records that are the same",
            "tool": "resolve_entities",
            "arguments": {"datasets": "${inputs.sources}", "target": _TARGET},
        },
    }
    # In the order in which they make sense, whatever the order they were chosen in.
    return [step for name, step in made.items() if name in choices.steps]


def _each(
    key: str, title: str, tool: str, arguments: Mapping[str, Any], together: int = 2
) -> dict[str, Any]:
    body = {"id": "one", "type": "tool", "tool": tool, "arguments": dict(arguments)}
    return {
        "id": key,
        "title": title,
        "type": "map",
        "over": "inputs.sources",
        "concurrency": together,
        "body": {"nodes": [body]},
    }


def _asking(choices: Choices) -> Sequence[dict[str, Any]]:
    if not choices.ask or not choices.results:
        return ()
    return (
        {
            "id": "look",
            "title": "Look before results are written",
            "message": "Write the results?",
            "review": True,
            "expires_in": "14d",
            "payload": {"sources": "${inputs.sources}", "results": list(choices.results)},
        },
    )


def _results(choices: Choices) -> list[dict[str, Any]]:
    resolved = "resolve" in choices.steps
    about: Any = [_TARGET] if resolved else "${inputs.sources}"
    first = _TARGET if resolved else "${inputs.sources[0]}"
    made: dict[Result, dict[str, Any]] = {
        "report": {
            "id": "report",
            "title": "Write the report",
            "tool": "report",
            "arguments": {"title": choices.name, "datasets": about},
        },
        "workbook": {
            "id": "workbook",
            "title": "Write the workbook",
            "tool": "render_xlsx",
            "arguments": {"dataset": first},
        },
        "lineage": {
            "id": "lineage",
            "title": "Draw where it comes from",
            "tool": "lineage_map",
            "arguments": {"dataset": first},
        },
    }
    return [step for name, step in made.items() if name in choices.results]


def _slug(name: str) -> str:
    words = re.findall(r"[a-z0-9]+", name.lower())
    text = "-".join(words)[:50].strip("-")
    return text if text and text[0].isalpha() else f"playbook-{text}".strip("-")
