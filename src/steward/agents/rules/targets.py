"""Names for what a plan makes: never one that is taken."""

from steward.agents.rules.request import Ask


def free_name(ask: Ask, wanted: str, *, longest: int = 150) -> str:
    taken = {name.casefold() for name in ask.catalogue.datasets}
    base, number = wanted[:longest].strip() or "result", 1
    name = base
    while name.casefold() in taken:
        number += 1
        name = f"{base} {number}"
    return name
