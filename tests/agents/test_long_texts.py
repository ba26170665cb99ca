"""Texts that strangers and models write to cost time: each is read once. At these lengths it took hours, or had no end."""

from collections.abc import Callable
from typing import Any

import pytest

from steward.agents.explaining.figures import figures_in
from steward.agents.guardrails import About
from steward.agents.guardrails.no_personal_data import NoPersonalData
from steward.agents.operating.links import unnamed_address, without_links
from steward.agents.operating.quotations import Text, as_form
from steward.agents.operating.records import others_beside
from steward.agents.planning.answers import document_in
from steward.broker import disarmed

LENGTH = 100_000


@pytest.mark.parametrize("part", ["a", ".", "a.", "1-", "a@", "|", "1,", "'{a}", "\n"])
@pytest.mark.parametrize(
    "read",
    [
        lambda text: unnamed_address(text, [text]),
        lambda text: without_links(text, ()),
        lambda text: others_beside("ann@example.com", [text]),
        lambda text: Text(text).holds("x"),
        lambda text: disarmed(text, "nonce"),
        lambda text: NoPersonalData().check(text, About(())),
        figures_in,
    ],
    ids=["address", "links", "others", "quotation", "marks", "personal", "figures"],
)
def test_a_long_text_is_read_once(read: Callable[[str], Any], part: str) -> None:
    read(part * (LENGTH // len(part)))


def test_an_answer_of_blank_lines_is_read_once() -> None:
    assert document_in("```" + "\n" * LENGTH) is None
    assert document_in('```json\n\n{"a": 1}\n```') == {"a": 1}


def test_a_form_of_many_holes_is_compared_in_one_go() -> None:
    form = as_form("{a} " * 30 + "the end")
    assert form is not None
    assert form.pieces("a " * 5_000) is None
    assert form.pieces("a " * 30 + "the end") == ("a",) * 30
    assert form.pieces("\ud800") is None
    assert as_form("{a} and " * 10_000) is None, "larger than anybody fills in"


def test_addresses_that_touch_each_other_are_all_found() -> None:
    text = "ann@example.com:eve@example.org"
    assert others_beside("ann@example.com", [text]) == [":eve@example.org"]
    assert unnamed_address(f"{'x' * 400}http://evil.example/a", []) is not None
    assert "http://evil" not in without_links(f"{'x' * 400}http://evil.example/a", ())
