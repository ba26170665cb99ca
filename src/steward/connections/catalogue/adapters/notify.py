"""Notification services, as apprise describes them: one operation each, to send a message."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from steward.connections.catalogue.names import slug
from steward.connections.catalogue.record import (
    SEND,
    ConnectionField,
    Operation,
    Parameter,
    Scheme,
    Service,
)
from steward.connections.mcp.definitions import disarmed

_KINDS: Final = ("info", "success", "warning", "failure")


def describe_all(details: Mapping[str, Any], digest: Any) -> Iterator[Service]:
    """Every service in what apprise says of itself; `digest` hashes the part that describes one."""
    for told in details["schemas"]:
        schemes = [str(each) for each in (told.get("secure_protocols") or ())] or [
            str(each) for each in (told.get("protocols") or ())
        ]
        if schemes:
            text = json.dumps(told, sort_keys=True, default=_plain)
            yield _service(told, schemes[0], digest(text.encode()))


def _service(told: Mapping[str, Any], scheme: str, sha256: str) -> Service:
    title = disarmed(str(told["service_name"]), 100)
    tokens: Mapping[str, Any] = told["details"]["tokens"]
    takes_targets = any(_maps_to(name, each) == "targets" for name, each in tokens.items())
    fields: dict[str, Any] = {
        "body": {"type": "string", "maxLength": 32_768, "description": "The message."},
        "title": {"type": "string", "maxLength": 250, "description": "Shown above the message."},
        "kind": {"type": "string", "enum": list(_KINDS), "description": "How it is marked."},
    }
    parameters = [Parameter(name, name, "body", name == "body") for name in fields]
    if takes_targets:
        fields["targets"] = {
            "type": "array",
            "items": {"type": "string", "maxLength": 300},
            "maxItems": 50,
            "description": "To whom or where; empty: as the connection says.",
        }
        parameters.append(Parameter("targets", "targets", "body"))
    return Service(
        id=slug(f"notify-{scheme}"),
        title=title,
        description=f"Sends messages through {title}.",
        vendor=title,
        adapter="notify",
        version="",
        licence="BSD-2-Clause",
        sha256=sha256,
        schemes=(Scheme("fields", "other"),),
        fields=tuple(_fields(tokens)),
        categories=("notifications",),
        operations=(
            Operation(
                name="send",
                title=f"Send a message through {title}",
                description=f"Sends a message through {title}.",
                verb="POST",
                path="/",
                arguments={
                    "type": "object",
                    "properties": fields,
                    "required": ["body"],
                    "additionalProperties": False,
                },
                parameters=tuple(parameters),
                auth=(("fields",),),
                risk=SEND,
                tags=("notifications",),
            ),
        ),
        extra={
            "schema": scheme,
            "tokens": {name: _maps_to(name, each) for name, each in tokens.items()},
        },
    )


def _fields(tokens: Mapping[str, Any]) -> Iterator[ConnectionField]:
    for name, each in tokens.items():
        if name == "schema":
            continue
        choices = each.get("values")
        yield ConnectionField(
            name=name[:60],
            title=disarmed(str(each.get("name") or name), 100),
            # Which of them belong together differs between the service's own forms of address.
            required=False,
            secret=bool(each.get("private")),
            default=str(each["default"]) if isinstance(each.get("default"), str | int) else "",
            choices=tuple(str(c) for c in choices) if isinstance(choices, list | tuple) else (),
        )


def _maps_to(name: str, told: Mapping[str, Any]) -> str:
    return str(told.get("map_to") or name)


def _plain(value: Any) -> Any:
    return sorted(map(str, value)) if isinstance(value, set | frozenset) else str(value)
