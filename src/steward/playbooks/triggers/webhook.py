"""Starts it for each message that another program sends to its address."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from steward.connections import SCHEMES
from steward.core import Invalid, Problem, require_bounded
from steward.playbooks.trigger import TRIGGERS, Arrival, Name, Trigger
from steward.runs import Json, canonical
from steward.store import OWN_SECRETS

_HIDDEN: Final = frozenset(
    {"authorization", "cookie", "proxy-authorization", "x-gitlab-token", "x-api-key"}
)
_MOST_HEADERS: Final = 60
_LONGEST: Final = 1_000


@TRIGGERS.register("webhook")
class WebhookTrigger(Trigger):
    title: ClassVar = "On a webhook"
    starter: ClassVar = {"signature": "standard", "secret": "webhook_secret"}

    type: Literal["webhook"]
    name: Name = "webhook"
    signature: Literal[
        "standard", "github", "gitlab", "stripe", "slack", "shopify", "hmac", "bearer", "none"
    ] = Field(
        "standard",
        description="How the sender proves who it is; `none`: anybody who knows the address may send.",
    )
    secret: str | None = Field(
        None,
        max_length=100,
        description="Name of the project's secret that the sender knows too.",
    )

    def problems(self, now: datetime) -> Iterator[Problem]:
        yield from super().problems(now)
        if self.signature != "none" and not self.secret:
            yield Problem("/secret", "name the secret that the sender signs with")
        if (self.secret or "").startswith(OWN_SECRETS):
            yield Problem("/secret", "is one of Steward's own; choose another name")

    def place(self) -> Json:
        return {}

    def details(self) -> dict[str, Any]:
        return {"signature": self.signature, "secret": self.secret}

    def key(
        self, secret: str, headers: Mapping[str, str], now: datetime, body: bytes
    ) -> str | None:
        """What makes a genuine message the same as another one; Denied for one that is not genuine."""
        if self.signature == "none":
            return headers.get("webhook-id") or headers.get("idempotency-key")
        return SCHEMES[self.signature](secret, headers, now, body) or None

    def challenge(self, arrival: Arrival) -> str | None:
        """The word that Slack wants to read back when somebody enters the address there."""
        match arrival.data:
            case {"type": "url_verification", "challenge": str() as word} if (
                self.signature == "slack"
            ):
                return word
        return None

    def arrival(
        self, key: str | None, headers: Mapping[str, str], query: Mapping[str, str], body: bytes
    ) -> Arrival:
        """The message as an event; without what would let its reader speak as the sender."""
        shown = {
            name: value[:_LONGEST]
            for name, value in list(headers.items())[:_MOST_HEADERS]
            if name not in _HIDDEN and "signature" not in name and "hmac" not in name
        }
        return Arrival(
            read_body(headers.get("content-type", ""), body),
            key=key,
            facts={"headers": shown, "query": dict(query)},
        )


def read_body(content_type: str, body: bytes) -> Json:
    """JSON as its value, anything else as text."""
    text = body.decode("utf-8", "replace")
    if "json" not in content_type and not text.lstrip().startswith(("{", "[")):
        return text.replace("\0", "")
    try:
        require_bounded(body)
        found = json.loads(text, parse_constant=_refuse)
        canonical(found).encode()
    except (ValueError, RecursionError, Invalid):
        if "json" in content_type:
            raise Invalid(
                "The body says it is JSON and is not; check it and send it again."
            ) from None
        return text.replace("\0", "")
    if "\\u0000" in text:
        raise Invalid("The body holds a null character, which Steward does not keep; leave it out.")
    return found


def _refuse(constant: str) -> Json:
    raise ValueError(constant)
