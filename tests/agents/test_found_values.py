"""Values that a message names: found by their words, the same as if every value were looked at."""

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from steward.agents.asking.tokens import name_words, tokens_of
from steward.agents.asking.values import ValueIndex, ValueIndexes, find_values
from steward.agents.asking.world import FoundValue

WORDS = ("Japan", "Japanese", "United", "Air", "Lines", "Delta", "Oil", "Ltd", "São", "Paulo")
phrases = st.lists(st.sampled_from(WORDS), min_size=0, max_size=4).map(" ".join)


def names(message: str, value: str) -> bool:
    """Whether a message names a value in full, by how it begins, or by a word of its stem."""
    said = [token.word for token in tokens_of(message)]
    words = name_words(value)
    runs = [
        tuple(said[at : at + size])
        for at in range(len(said))
        for size in range(1, len(words) + 1)
        if at + size <= len(said)
    ]
    begins = any(run == words[: len(run)] and (run == words or len(words[0]) >= 4) for run in runs)
    stems = {word[:5] for word in said if len(word) > 5}
    return begins or (len(words) == 1 and len(words[0]) >= 4 and words[0][:5] in stems)


@given(phrases, st.lists(phrases, max_size=8), st.lists(phrases, max_size=8))
def test_the_same_are_found_as_by_looking_at_each(
    message: str, carriers: list[str], places: list[str]
) -> None:
    columns = {"carrier": carriers, "place": places}
    found = find_values(message, {"flights": ValueIndex(columns)})
    assert found == [
        FoundValue("flights", column, value)
        for column, values in columns.items()
        for value in values
        if names(message, value)
    ]


def test_an_index_is_made_once_for_a_version() -> None:
    indexes, read = ValueIndexes(), list[str]()

    def values() -> Mapping[str, Sequence[str]]:
        read.append("read")
        return {"carrier": ["Delta"]}

    first = indexes.of("prj_1", "ver_1", values)
    assert indexes.of("prj_1", "ver_1", values) is first
    assert indexes.of("prj_2", "ver_1", values) is not first, "a project never sees another's"
    assert read == ["read", "read"]


def test_what_was_not_asked_about_for_longest_is_let_go() -> None:
    indexes = ValueIndexes(most=4)
    made = {
        version: indexes.of("prj", version, lambda: {"carrier": ["Delta", "United"]})
        for version in ("old", "used", "new")
    }
    assert indexes.of("prj", "new", dict) is made["new"]
    assert indexes.of("prj", "used", dict) is made["used"]
    assert len(indexes.of("prj", "old", dict)) == 0, "read again"
