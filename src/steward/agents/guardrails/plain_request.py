"""Refuses inputs that try to give an agent new orders."""

import re

from pydantic import Field

from steward.agents.guardrails import GUARDRAILS, About, Guardrail

_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|above|prior|earlier|all)\b.{0,40}"
    r"\b(?:instructions?|rules?|prompts?)\b|\byou are now\b|\bsystem prompt\b",
    re.IGNORECASE | re.DOTALL,
)


@GUARDRAILS.register("plain-request")
class PlainRequest(Guardrail):
    """A hint, not a wall: what an agent may do is decided by the broker. It keeps obvious attempts out of prompts."""

    stage = "input"
    longest: int = Field(50_000, ge=1, le=1_000_000, description="Most characters of an input.")

    def check(self, text: str, about: About) -> str | None:  # noqa: ARG002
        if len(text) > self.longest:
            return f"The input has {len(text):,} characters; at most {self.longest:,} are taken."
        if _ORDERS.search(text[: self.longest]):
            return "The input tries to give the agent new instructions."
        return None
