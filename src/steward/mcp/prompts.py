"""Playbooks and skills as prompts: what to ask for, and how this project wants it done."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import mcp_types as types

from steward.agents.skills import skill_text
from steward.app import Steward
from steward.core import Invalid, NotFound
from steward.flows import CALL_PLAYBOOK
from steward.identity import Access
from steward.mcp.failures import no_such
from steward.playbooks import Card, State

_SKILL: Final = "skill:"
_PLAYBOOK: Final = "playbook:"
_MOST_PLAYBOOKS: Final = 500
_PER_PAGE: Final = 100


class Prompts:
    def __init__(self, steward: Steward) -> None:
        self._steward = steward

    def listed(self, access: Access) -> list[types.Prompt]:
        skills = [
            types.Prompt(name=f"{_SKILL}{card.name}", title=card.name, description=card.description)
            for card in self._steward.skills.catalogue(access.scope)
        ]
        return skills + [self._prompt(access, card) for card in self._playbooks(access)]

    def get(self, access: Access, name: str, arguments: Mapping[str, str]) -> types.GetPromptResult:
        if name.startswith(_SKILL):
            skill = self._steward.skills.open(access.scope, name.removeprefix(_SKILL))
            return _prompted(skill_text(skill), f"How to work: {skill.name}")
        if not name.startswith(_PLAYBOOK):
            raise no_such("prompt", name)
        card = self._steward.playbooks.library.get(access, name.removeprefix(_PLAYBOOK))
        if card.deployed is None:
            raise NotFound(f"The playbook {card.title!r} is not deployed. Deploy it first.")
        given = _typed(self._inputs(access, card), arguments)
        asked = {"playbook": card.slug, "inputs": given}
        goal = f"\n\nWhat it is for: {card.goal}" if card.goal else ""
        text = (
            f"Run the playbook {card.title!r} of Steward: call the tool `{CALL_PLAYBOOK}` with these "
            f"arguments, then report what it did.\n\n{json.dumps(asked, ensure_ascii=False, indent=2)}{goal}"
        )
        return _prompted(text, card.title)

    def allowed(self, access: Access, name: str, argument: str) -> Sequence[Any]:
        """The values that a playbook's input allows, where it names them; none for anything unknown."""
        try:
            card = self._steward.playbooks.library.get(access, name.removeprefix(_PLAYBOOK))
        except NotFound:
            return ()
        if not name.startswith(_PLAYBOOK) or card.deployed is None:
            return ()
        told = self._inputs(access, card).get("properties", {}).get(argument, {})
        values: Sequence[Any] = told.get("enum", ())
        return values

    def _playbooks(self, access: Access) -> list[Card]:
        found: list[Card] = []
        after: str | None = None
        while len(found) < _MOST_PLAYBOOKS:
            cards = self._steward.playbooks.library.listed(
                access, states=[State.active], after=after, limit=_PER_PAGE
            )
            found += [card for card in cards if card.deployed is not None]
            if len(cards) < _PER_PAGE:
                break
            after = cards[-1].id
        return found

    def _prompt(self, access: Access, card: Card) -> types.Prompt:
        schema = self._inputs(access, card)
        required = schema.get("required", ())
        return types.Prompt(
            name=f"{_PLAYBOOK}{card.slug}",
            title=card.title,
            description=card.goal or f"Run the playbook {card.title}.",
            arguments=[
                types.PromptArgument(
                    name=name,
                    description=str(told.get("description", "")) or None,
                    required=name in required and "default" not in told,
                )
                for name, told in schema.get("properties", {}).items()
            ],
        )

    def _inputs(self, access: Access, card: Card) -> Mapping[str, Any]:
        library = self._steward.playbooks.library
        deployed = library.revision_of(access.scope, card, card.deployed or card.head)
        return deployed.playbook.inputs


def _typed(schema: Mapping[str, Any], arguments: Mapping[str, str]) -> dict[str, Any]:
    """Prompts are given text alone: numbers and lists are read from it where the playbook wants them."""
    known: Mapping[str, Any] = schema.get("properties", {})
    found: dict[str, Any] = {}
    for name, text in arguments.items():
        if name not in known:
            names = ", ".join(known) or "none"
            raise Invalid(f"The playbook has no input {name[:100]!r}. It has: {names}.")
        if known[name].get("type", "string") == "string":
            found[name] = text
            continue
        try:
            found[name] = json.loads(text)
        except ValueError:
            raise Invalid(
                f"The input {name!r} is of type {known[name]['type']}; write it as JSON."
            ) from None
    return found


def _prompted(text: str, description: str) -> types.GetPromptResult:
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=description, messages=[message])
