"""Keeps answers short."""

from pydantic import Field

from steward.agents.guardrails import GUARDRAILS, About, Guardrail


@GUARDRAILS.register("max-length")
class MaxLength(Guardrail):
    """Refuses answers longer than so many characters."""

    characters: int = Field(4_000, ge=1, le=200_000)

    def check(self, text: str, about: About) -> str | None:  # noqa: ARG002
        if len(text) <= self.characters:
            return None
        return f"It has {len(text):,} characters; at most {self.characters:,} are wanted."
