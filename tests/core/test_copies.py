"""Copies of the same facts in another form."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from pydantic import BaseModel, ConfigDict

from steward.core import copied


@dataclass(frozen=True)
class _Card:
    kind: str
    source: str
    count: int = 0


class _Answer(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    kind: str
    count: int
    cards: list["_Answer"] = []


def test_a_dataclass_takes_the_attributes_of_its_source_and_what_is_given_beside_them() -> None:
    row = SimpleNamespace(kind="a", source="b", count=3, more=4)
    assert copied(_Card, row) == _Card("a", "b", 3)
    assert copied(_Card, row, kind="c", source="d") == _Card("c", "d", 3)


def test_a_model_takes_them_too_and_makes_models_of_those_below() -> None:
    row = SimpleNamespace(kind="a", count=3, cards=[SimpleNamespace(kind="b", count=1, cards=[])])
    assert copied(_Answer, row) == _Answer(kind="a", count=3, cards=[_Answer(kind="b", count=1)])


def test_a_field_that_the_source_lacks_is_no_default() -> None:
    with pytest.raises(AttributeError, match="count"):
        copied(_Card, SimpleNamespace(kind="a", source="b"))
