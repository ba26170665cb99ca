"""The error tree: every error has a cause, a stable code and a title, and is drawn in one docstring."""

import re

import pytest

from steward.core import errors
from steward.core.errors import Conflict, Invalid, RateLimited, Stale, StewardError


def _all(kind: type[StewardError]) -> list[type[StewardError]]:
    found = [kind]
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            found += _all(child)
    return found


def test_codes_and_titles_are_distinct() -> None:
    kinds = _all(StewardError)
    assert len({kind.code for kind in kinds}) == len(kinds)
    assert len({kind.title for kind in kinds}) == len(kinds)
    assert all(re.fullmatch(r"[a-z-]+", kind.code) for kind in kinds)


@pytest.mark.parametrize("kind", _all(StewardError), ids=lambda kind: kind.__name__)
def test_the_docstring_draws_the_tree(kind: type[StewardError]) -> None:
    line = next(
        (
            line
            for line in (errors.__doc__ or "").splitlines()
            if re.search(rf"\b{kind.__name__}\b", line)
        ),
        None,
    )
    assert line is not None
    depth = len(kind.__mro__) - len(StewardError.__mro__)
    assert line.index(kind.__name__) == depth * 4


def test_a_specific_code_replaces_the_general_one() -> None:
    assert Invalid("x", code="weak-password").specific_code == "weak-password"
    assert Invalid("x").specific_code == "invalid"
    assert issubclass(Stale, Conflict)
    assert RateLimited("x", retry_after_seconds=3).retry_after_seconds == 3
