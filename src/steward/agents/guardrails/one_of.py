"""Keeps a classifier to its labels."""

from pydantic import Field

from steward.agents.guardrails import GUARDRAILS, About, Guardrail


@GUARDRAILS.register("one-of")
class OneOf(Guardrail):
    """Refuses answers that are none of the given words."""

    choices: tuple[str, ...] = Field(min_length=1, max_length=500)

    def check(self, text: str, about: About) -> str | None:  # noqa: ARG002
        if text.strip().casefold() in {choice.casefold() for choice in self.choices}:
            return None
        return f"It must be one of: {', '.join(self.choices[:50])}. Nothing else."
