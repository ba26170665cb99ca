"""Keeps addresses out of answers: a link or a picture can carry data away when somebody opens it."""

import re

from pydantic import Field

from steward.agents.guardrails import GUARDRAILS, About, Guardrail

_LINK = re.compile(r"\b(?:https?|ftp|data|javascript):\S+|!\[[^\]]*\]\(|\bwww\.\S+", re.IGNORECASE)


@GUARDRAILS.register("no-links")
class NoLinks(Guardrail):
    """Refuses answers with addresses, unless their host is allowed."""

    allow: tuple[str, ...] = Field((), description="Hosts that may be linked to.")

    def check(self, text: str, about: About) -> str | None:  # noqa: ARG002
        for found in _LINK.finditer(text):
            host = re.sub(r"^[a-z]+:/*|[/?#:].*$", "", found.group(), flags=re.IGNORECASE)
            if host.lower() not in self.allow:
                return "It contains a link or a picture from elsewhere; leave those out."
        return None
