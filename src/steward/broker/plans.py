"""A call before it happens: checked, judged, previewed; and its value afterwards, labelled."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from steward.broker.labels import Labels
from steward.broker.tool import Arguments, Cost, Preview, Tool
from steward.core.errors import Invalid
from steward.core.mistakes import in_words, mistakes
from steward.runs import Json


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


def body_of(
    run_id: str,
    branch: str,
    tool: Tool[Any],
    arguments: Arguments,
    preview: Preview | None,
) -> Json:
    """What exactly will happen: this is shown, hashed, approved and checked again."""
    return {
        "run": run_id,
        "tool": tool.name,
        "arguments": arguments.model_dump(mode="json"),
        "branch": branch,
        "destination": tool.destination(arguments) if tool.destination else None,
        "payload": preview.payload if preview else None,
        # An approval is for this version of the tool and no other.
        **({"pin": tool.pin} if tool.pin is not None else {}),
    }


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
