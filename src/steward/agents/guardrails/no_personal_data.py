"""Keeps personal data out of answers that leave the project's walls."""

import re
from collections.abc import Callable

from pydantic import Field

from steward.agents.guardrails import GUARDRAILS, About, Guardrail


def _is_card(digits: str) -> bool:
    """The check digit of payment cards (Luhn)."""
    total = 0
    for place, character in enumerate(reversed(digits)):
        number = int(character) * (1 + place % 2)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


def _is_iban(text: str) -> bool:
    moved = text[4:] + text[:4]
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1


_KINDS: dict[str, tuple[re.Pattern[str], Callable[[str], bool]]] = {
    "e-mail address": (re.compile(r"[\w.+-]{1,256}+@[\w-]++(?:\.[\w-]++)+"), lambda _: True),
    "payment card": (re.compile(r"\b\d(?:[ -]?\d){12,18}\b"), _is_card),
    "bank account": (
        re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"),
        _is_iban,
    ),
    "telephone number": (re.compile(r"(?<![\w.])\+\d(?:[ ()-]?\d){7,14}\b"), lambda _: True),
}


@GUARDRAILS.register("no-personal-data")
class NoPersonalData(Guardrail):
    """Refuses answers with e-mail addresses, telephone numbers, bank accounts or payment cards."""

    allow: tuple[str, ...] = Field((), description="Kinds that may appear.")

    def check(self, text: str, about: About) -> str | None:  # noqa: ARG002
        for kind, (pattern, is_real) in _KINDS.items():
            if kind in self.allow:
                continue
            for found in pattern.finditer(text):
                if is_real(re.sub(r"[ -]", "", found.group())):
                    return f"It contains a personal detail ({kind}); leave it out or mask it."
        return None
