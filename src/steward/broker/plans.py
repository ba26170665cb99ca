"""A call before it happens: checked, judged, previewed; and its value afterwards, labelled."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from pydantic import ValidationError

from steward.broker.labels import Labels
from steward.broker.policy import DEPLOYED_LEVEL
from steward.broker.roles import Role, leaves_of, values_with
from steward.broker.tool import Arguments, Cost, Preview, Tool
from steward.core import Invalid, in_words, mistakes
from steward.runs import Json, digest

_MOST_PLACES: Final = 500
_PLAIN_NUMBER: Final = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_PERSON: Final = "person:"
"""Begins the source of a value that somebody wrote who looked at the call."""


@dataclass(frozen=True)
class Plan:
    """A call that was checked and looked at, and has not happened yet."""

    tool: str
    arguments: Json
    body: Json
    decision: Json
    preview: Json
    provenance: Json
    estimate: Json
    over_budget: Json
    pinned: Json = None
    """The tool as it was, when it belongs to the project and may change; None for installed tools."""


@dataclass(frozen=True)
class Labelled:
    """The value of a call, and what is known of where it comes from."""

    value: Json
    labels: Labels
    summary: str = ""
    artifacts: tuple[Json, ...] = ()
    commits: tuple[str, ...] = ()
    key: str = ""


def validated(tool: Tool[Any], arguments: Json) -> Arguments:
    """The arguments as the tool declares them, or every mistake in them at once."""
    try:
        found: Arguments = tool.arguments.model_validate(arguments)
    except ValidationError as error:
        problems = mistakes(error)
        raise Invalid(
            f"The arguments of {tool.name} are not valid: {in_words(problems)}",
            code="invalid-arguments",
            problems=problems,
        ) from None
    return found


@dataclass(frozen=True)
class Facts:
    """What a policy knows of the arguments of a call, by their roles."""

    destination: str | None = None
    """Where it goes, as people read it."""
    places: tuple[str, ...] = ()
    """The same, each place by itself."""
    recipients: tuple[str, ...] = ()
    """Who gets something; what is undeclared counts as recipient."""
    addresses: tuple[str, ...] = ()
    """What is opened or reached; what is undeclared counts as such."""
    amount: Decimal | None = None
    """The highest amount; what is undeclared counts as amount."""
    roles: tuple[tuple[str, str], ...] = ()
    """Path and role of each argument, those that matter most first."""
    bound: str = ""
    """The hash of all that says who, where, on what and how far: further calls of the same kind share it."""
    acts_as: tuple[str, ...] = ()
    """Tools whose work the call does itself."""

    def to_json(self) -> dict[str, Json]:
        return {
            "destination": self.destination,
            **({"places": list(self.places)} if len(self.places) > 1 else {}),
            "recipients": list(self.recipients),
            **({"addresses": list(self.addresses)} if self.addresses else {}),
            "amount": None if self.amount is None else str(self.amount),
            "roles": dict(self.roles),
            "bound": self.bound,
            **({"acts_as": list(self.acts_as)} if self.acts_as else {}),
        }

    @classmethod
    def from_body(cls, body: Json) -> "Facts":
        amount, destination = body.get("amount"), body.get("destination")
        return cls(
            destination,
            tuple(body.get("places") or ([destination] if destination else ())),
            tuple(body.get("recipients", ())),
            tuple(body.get("addresses", ())),
            None if amount is None else Decimal(amount),
            acts_as=tuple(body.get("acts_as", ())),
        )


def facts_of(tool: Tool[Any], arguments: Arguments, acts_as: tuple[str, ...] = ()) -> Facts:
    parts = tool.parts_of(arguments)
    amounts = [
        number
        for part in parts
        if part.role.is_amount
        for leaf in leaves_of(part.value)
        if (number := _amount(leaf, part.role)) is not None
    ]
    order, places = list(Role), tuple(dict.fromkeys(tool.places_of(arguments)))
    if len(places) > _MOST_PLACES:
        raise Invalid(
            f"One call can go to {_MOST_PLACES} destinations at most, and this one names {len(places)}. "
            "Split it into several calls."
        )
    return Facts(
        ", ".join(places) or None,
        places,
        tuple(map(str, values_with(parts, Role.recipient, Role.undeclared))),
        tuple(map(str, values_with(parts, Role.destination, Role.undeclared))),
        max(amounts, default=None),
        tuple(
            (part.path, part.role.value)
            for part in sorted(parts, key=lambda part: order.index(part.role))
        ),
        digest(
            sorted(
                [part.path, part.value]
                for part in parts
                if part.role.is_weighty and part.role is not Role.amount
            )
        ),
        acts_as,
    )


def _amount(value: Any, role: Role) -> Decimal | None:
    """How much it is, whichever way it goes; words without a figure are an amount only where one was declared."""
    if role is Role.undeclared and not any(map(str.isdigit, str(value))):
        return None
    found = as_number(value)
    return None if found is None else abs(found)


def as_number(value: Any) -> Decimal | None:
    """How much an argument is; what could be read as several numbers, or as none, is more than anything."""
    if isinstance(value, bool) or not any(map(str.isalnum, str(value))):
        return None
    return Decimal(str(value)) if _PLAIN_NUMBER.fullmatch(str(value)) else Decimal("Infinity")


def body_of(
    run_id: str,
    branch: str,
    tool: Tool[Any],
    arguments: Json,
    facts: Facts,
    preview: Preview | None,
) -> Json:
    """What exactly will happen: this is shown, hashed, approved and checked again."""
    return {
        "run": run_id,
        "tool": tool.name,
        "arguments": arguments,
        "branch": branch,
        **facts.to_json(),
        "payload": preview.payload if preview else None,
        # An approval is for this version of the tool and no other.
        **({"pin": tool.pin} if tool.pin is not None else {}),
    }


def labels_after_edit(
    before: Mapping[str, Any], after: Mapping[str, Any], labels: Mapping[str, Labels], editor: str
) -> dict[str, Labels]:
    """Where arguments come from once somebody edited them: what they changed is theirs."""
    theirs = Labels((f"{_PERSON}{editor}",))
    changed = {name: theirs for name in after if name not in before or before[name] != after[name]}
    return {**labels, **changed}


def editors(provenance: Json) -> frozenset[str]:
    """Who wrote arguments of a call while they looked at it."""
    return frozenset(
        source.removeprefix(_PERSON)
        for label in provenance["arguments"].values()
        for source in label["sources"]
        if label["trusted"] and source.startswith(_PERSON)
    )


def refusal(tool: str, decision: Mapping[str, Any]) -> str:
    """Why policy denies a call, and by which rules."""
    rules = [rule["id"] for rule in decision["rules"] if rule["id"]]
    reason = decision["reason"] or "No policy allows this."
    named = f" (rule {', '.join(rules)})" if rules else ""
    said = f"{tool} was refused: {reason}{named}"
    if decision["rules"] and all(rule["level"] == DEPLOYED_LEVEL for rule in decision["rules"]):
        said = (
            f"{said.removesuffix('.')}. The policy at the time of the deployment says so. "
            "Deploy the playbook again to use the policy of today."
        )
    return said


def cost_to_json(cost: Cost) -> Json:
    return {
        "usd": str(cost.usd),
        "tokens": cost.tokens,
        "rows": cost.rows,
        "bytes": cost.bytes,
        "seconds": cost.seconds,
    }


def cost_from_json(data: Json) -> Cost:
    return Cost(Decimal(data["usd"]), data["tokens"], data["rows"], data["bytes"], data["seconds"])
