"""Starts it for each form that people without an account fill in, at a link that its owner hands out."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, ClassVar, Literal

from pydantic import Field

from steward.broker import problems_of, schema_problem, with_defaults
from steward.core import Invalid, Problem
from steward.playbooks.trigger import TRIGGERS, Arrival, Name, Trigger
from steward.runs import Json, canonical


@TRIGGERS.register("form")
class FormTrigger(Trigger):
    title: ClassVar = "When somebody sends a form"
    starter: ClassVar = {
        "heading": "Contact us",
        "fields": {
            "type": "object",
            "properties": {"email": {"type": "string", "title": "E-mail address"}},
            "required": ["email"],
        },
    }

    type: Literal["form"]
    name: Name = "form"
    heading: str = Field(min_length=1, max_length=200, description="Above the form.")
    text: str = Field(
        "", max_length=5_000, description="What people should know before they fill it in."
    )
    fields: dict[str, Any] = Field(
        description="JSON Schema of what people fill in; becomes the form."
    )
    thanks: str = Field(
        "Thank you. Your answer has been received.",
        max_length=1_000,
        description="What people read when they have sent it.",
    )
    closes_at: datetime | None = Field(None, description="After this moment nobody can send it.")

    def problems(self, now: datetime) -> Iterator[Problem]:
        yield from super().problems(now)
        wrong = schema_problem(self.fields)
        if wrong is None and self.fields.get("type") != "object":
            wrong = "the fields are an object: write type: object"
        if wrong is not None:
            yield Problem("/fields", wrong)
        if self.closes_at is not None and self.closes_at.tzinfo is None:
            yield Problem("/closes_at", "say the time zone, as in 2026-12-31T18:00:00Z")

    def place(self) -> Json:
        return {}

    def details(self) -> dict[str, Any]:
        return {"heading": self.heading}

    def arrival(self, values: dict[str, Any]) -> Arrival:
        """What somebody filled in; Invalid names the fields that do not fit."""
        known = self.fields.get("properties", {})
        unknown = [
            Problem(f"/{name}", "is not a field of this form")
            for name in values
            if name not in known
        ]
        filled = with_defaults(self.fields, values)
        found = [*unknown, *problems_of(self.fields, filled)]
        if found:
            raise Invalid("Some fields of the form do not fit.", problems=found)
        canonical(filled)
        return Arrival(filled)
