"""Mistakes of a document: each with its place, none with its value."""

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from steward.core.errors import Problem
from steward.core.input_mistakes import in_words, mistakes


class _Item(BaseModel):
    model_config = ConfigDict(extra="forbid")
    count: int

    @field_validator("count")
    @classmethod
    def _positive(cls, value: int) -> int:
        if value < 1:
            raise ValueError("counts start at 1")
        return value


class _Document(BaseModel):
    items: list[_Item]


def _wrong(document: object, at: str = "") -> list[Problem]:
    with pytest.raises(ValidationError) as caught:
        _Document.model_validate(document)
    return mistakes(caught.value, at)


def test_a_mistake_has_its_place_and_words_of_ours() -> None:
    found = _wrong({"items": [{"count": 1}, {"count": 0}]}, "/body")
    assert found == [Problem("/body/items/1/count", "counts start at 1")]


def test_names_with_slashes_are_escaped_and_values_are_not_told() -> None:
    found = _wrong({"items": [{"count": 1, "a/b~c": "hunter2"}]})
    assert [each.pointer for each in found] == ["/items/0/a~1b~0c"]
    assert "hunter2" not in in_words(found)


def test_the_document_itself_can_be_wrong() -> None:
    found = _wrong([])
    assert found[0].pointer == ""
    assert in_words(found).startswith("/: ")


def test_many_mistakes_are_told_in_few_words() -> None:
    found = _wrong({"items": [{"count": 0}] * 8})
    said = in_words(found)
    assert said.count("counts start at 1") == 5
    assert said.endswith("; and 3 more")
