"""Adds payment terms to a date."""

from datetime import date, timedelta
from typing import ClassVar, Literal

from pydantic import Field

from steward.flows.node import JsonSchema, Node, Place, Starter, TextTemplate, Valued
from steward.runs import StepFailed


class DueDateNode(Node):
    type: Literal["due_date"]
    date: TextTemplate = Field(description="Date of the invoice, such as ${inputs.date}.")
    days: int = Field(30, ge=0, le=365, description="Days until it is due.")

    group: ClassVar = "Logic"
    starters: ClassVar = (Starter("Due date", {"date": "2026-03-02", "days": 30}),)

    def output_schema(self, tool_outputs: object) -> JsonSchema:
        return {"type": "object", "properties": {"due": {"type": "string", "format": "date"}}}

    async def run(self, at: Place) -> Valued:
        given = at.filled(self.date)
        try:
            day = date.fromisoformat(str(given.value))
        except ValueError:
            raise StepFailed(
                at.key, "not-a-date", "A due date is counted from a date such as 2026-03-02."
            ) from None
        return Valued({"due": (day + timedelta(days=self.days)).isoformat()}, given.labels)
