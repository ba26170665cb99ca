"""Keeps bank accounts out of answers."""

import re

from steward.agents.guardrails import About, Guardrail

_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")


class NoAccountNumbers(Guardrail):
    """Refuses answers that name a bank account (IBAN)."""

    def check(self, text: str, about: About) -> str | None:
        for found in _IBAN.findall(text):
            if _is_iban(found.replace(" ", "")):
                return "It names a bank account. Leave account numbers out."
        return None


def _is_iban(text: str) -> bool:
    digits = "".join(str(int(each, 36)) for each in text[4:] + text[:4])
    return int(digits) % 97 == 1
