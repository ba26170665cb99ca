"""Arguments of a made-up tool with declared roles, for tests of what is judged by them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from steward.agents.operating.provenance import label_parts
from steward.broker.labels import Labels
from steward.broker.roles import KEYWORD, NEW, ONLY_READS, Part, Role, read_parts

_ROLES: dict[Role, str] = {
    Role.recipient: "to cc bcc recipient people person account room ship_to",
    Role.destination: "url",
    Role.amount: "amount",
    Role.target: "id file_id path dataset commit document attachments connection",
    Role.reach: "recurring repeat_weekly visibility role method",
    Role.secret: "bearer",
    Role.content: "subject body text title description headers content deep",
    Role.selector: "sql code chart",
    Role.plain: "limit at all x y unit city name rows",
}
_MORE: dict[str, dict[str, Any]] = {
    "dataset": {NEW: True},
    "method": {ONLY_READS: ["GET", "HEAD"], "default": "GET"},
}


def schema_of(arguments: Collection[str], optional: Collection[str] = ()) -> dict[str, Any]:
    """Names that nobody listed above are undeclared."""
    role_of = {name: role for role, names in _ROLES.items() for name in names.split()}
    return {
        "type": "object",
        "properties": {
            name: ({KEYWORD: role_of[name].value} if name in role_of else {}) | _MORE.get(name, {})
            for name in arguments
        },
        "required": [name for name in arguments if name not in {*optional, "method"}],
    }


def parts_of(
    arguments: Mapping[str, Any], schema: Mapping[str, Any] | None = None
) -> tuple[Part, ...]:
    return read_parts(schema or schema_of(arguments), arguments)


def label_arguments(
    arguments: Mapping[str, Any],
    trusted: Sequence[str],
    seen: Sequence[tuple[str, Labels]],
    schema: Mapping[str, Any] | None = None,
) -> dict[str, Labels]:
    return label_parts(parts_of(arguments, schema), trusted, seen)
