"""What a pydantic model finds wrong with a document, as problems with their places."""

from collections.abc import Sequence
from typing import Final

from pydantic import ValidationError

from steward.core.errors import Problem

_MOST_SAID: Final = 5


def mistakes(error: ValidationError, at: str = "") -> list[Problem]:
    """Every mistake with its JSON pointer, below the place `at` where the document stands; never a value."""
    return [
        Problem(
            at + "".join(f"/{_escaped(part)}" for part in each["loc"]),
            each["msg"].removeprefix("Value error, "),
        )
        for each in error.errors(include_url=False, include_input=False)
    ]


def and_more(problems: Sequence[Problem]) -> str:
    """A sentence about the problems after the first, to put behind it; empty where there are none."""
    more = len(problems) - 1
    if more < 1:
        return ""
    return f" There are {more} more problems." if more > 1 else " There is 1 more problem."


def in_words(problems: Sequence[Problem]) -> str:
    """The first problems in one line, and how many there are besides."""
    said = "; ".join(f"{each.pointer or '/'}: {each.message}" for each in problems[:_MOST_SAID])
    more = len(problems) - _MOST_SAID
    return f"{said}; and {more} more" if more > 0 else said


def _escaped(part: str | int) -> str:
    return str(part).replace("~", "~0").replace("/", "~1")
