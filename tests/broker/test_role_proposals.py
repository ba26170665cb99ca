"""Proposals follow from format, type and name; where nothing speaks for a role, a person has to choose."""

from typing import Any

from steward.broker.role_proposals import propose_roles
from steward.broker.roles import Role


def test_proposals_follow_from_format_name_and_type() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "who": {"type": "string", "format": "email"},
            "others": {"type": "array", "items": {"type": "string", "format": "email"}},
            "payee": {"type": "string"},
            "webhookUrl": {"type": "string"},
            "x9": {"type": "string", "format": "uri"},
            "total_price": {"type": "number"},
            "issue_id": {"type": "integer"},
            "loud": {"type": "boolean"},
            "message": {
                "type": "object",
                "properties": {"body": {"type": "string"}, "api_token": {"type": "string"}},
            },
            "a1": {"type": "string"},
        },
    }
    assert propose_roles(schema) == {
        "who": Role.recipient,
        "others": Role.recipient,
        "payee": Role.recipient,
        "webhookUrl": Role.destination,
        "x9": Role.destination,
        "total_price": Role.amount,
        "issue_id": Role.target,
        "loud": Role.reach,
        "message.body": Role.content,
        "message.api_token": Role.secret,
        "a1": None,
    }


def test_a_harmless_format_or_word_does_not_make_a_grave_argument_look_harmless() -> None:
    text = {"type": "string"}
    properties: dict[str, Any] = {
        "to": {**text, "format": "date"},
        "recipients": {"type": "array", "items": {**text, "format": "time"}},
        "message_id": text,
        "page_id": text,
        "bodyFile": text,
        "issue_title": text,
        "event_date": {**text, "format": "date"},
    }
    assert propose_roles({"type": "object", "properties": properties}) == {
        "to": Role.recipient,
        "recipients": Role.recipient,
        "message_id": Role.target,
        "page_id": Role.target,
        "bodyFile": Role.target,
        "issue_title": Role.content,
        "event_date": Role.plain,
    }
