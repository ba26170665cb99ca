"""Keeps numbers honest: each must occur in what the agent was given."""

from steward.agents.explaining.figures import figures_in, is_found
from steward.agents.guardrails import GUARDRAILS, About, Guardrail


@GUARDRAILS.register("figures-from-sources")
class FiguresFromSources(Guardrail):
    """Refuses answers with numbers that stand in no result."""

    def check(self, text: str, about: About) -> str | None:
        invented = [figure for figure in figures_in(text) if not is_found(figure, about.sources)]
        if not invented:
            return None
        return f"These numbers are in no result: {', '.join(invented[:5])}. Use only numbers of the results."
