"""The reader of YAML and JSON: what it takes, what it refuses with a place, and that no text keeps it busy."""

import datetime as dt
import time
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from steward.core import documents
from steward.core.documents import (
    DEEPEST,
    MOST_VALUES,
    Unreadable,
    dump_yaml,
    parse_yaml,
    read_json,
    read_lined,
    read_yaml,
    require_bounded,
)
from steward.core.errors import Invalid, TooLarge

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)
    | st.sampled_from(["no", "1.5e3", "2026-01-01", "~", "010", "True", "- a", "a: b", "\n x"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("ab:#-1 ", max_size=4), inner)
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("text", ["\x85", "a\u2028b", "a\nb\u2029", "\r\n\x85"])
def test_rare_line_ends_survive_writing_and_reading(text: str) -> None:
    assert read_yaml(dump_yaml({text: text})) == {text: text}


@given(VALUES)
def test_what_is_written_reads_as_the_same(value: Any) -> None:
    assert read_yaml(dump_yaml(value)) == value


HOSTILE = {
    "open brackets": "[" * 90_000,
    "open braces": "{" * 90_000,
    "open objects": '{"a":' * 90_000,
    "dashes": "- " * 90_000,
    "question marks": "? " * 90_000,
    "values": "[" + "1," * (MOST_VALUES + 1) + "]",
    "escaped quotes without an end": '["' + '\\"' * 300_000,
    "anchors": "a: &a [x,x,x]\nb: &b [*a,*a,*a]\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_keeps_the_reader_busy(name: str) -> None:
    began = time.process_time()
    with pytest.raises(Unreadable):
        read_yaml(HOSTILE[name])
    with pytest.raises(Unreadable):
        read_json(HOSTILE[name])
    # Without bounds, each of these takes minutes.
    assert time.process_time() - began < 20


def test_python_alone_refuses_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where libyaml is missing."""
    monkeypatch.setattr(documents, "_PARSER", yaml.SafeLoader)
    assert read_yaml("a: [1, {b: no}]") == {"a": [1, {"b": "no"}]}
    for text in ("- " * 5_000, "a: &x 1", "a: 1\na: 2", "a: \x07"):
        with pytest.raises(Unreadable):
            read_yaml(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2", "line 4, column 3: 'c' is there twice"),
        ("a: *b", "line 1, column 4: anchors"),
        ("a: !!int x", "line 1, column 4: tags"),
        ("a: [\n", "line 2, column 1"),
        ("x\ud800", "line 1, column 2"),
        ("é: é\nx: \x07", "line 2, column 4"),
        ('a: "\\0"', "NUL"),
        ("a\n---\nb", "line 2, column 1: a second document"),
        ("? [1]\n: 2", "a key is a text"),
        ("1" * 400, "finite"),
    ],
)
def test_a_refusal_names_the_place(text: str, said: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read_yaml(text)
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1,\n "b": }', "line 2, column 7"),
        ('{"a": {"b": 1, "b": 2}}', "'b' is there twice"),
        ("[NaN]", "NaN is not"),
        (b'["\xff"]', "line 1, column 3: this is not UTF-8"),
        ("[" * 101 + "]" * 101, "nested more than 100 deep"),
    ],
)
def test_json_is_refused_with_its_place(text: str | bytes, said: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read_json(text)
    assert said in refused.value.message


def test_what_is_not_too_deep_is_read() -> None:
    text = "[" * DEEPEST + "]" * DEEPEST
    assert read_json(text) == read_yaml(text)
    require_bounded(("[1]," * 5_000 + '"[[[[' + "{" * 500 + '"').encode())


@pytest.mark.parametrize("opened", ["[", '{"a":'])
def test_json_is_bounded_exactly(opened: str) -> None:
    closed = "]" if opened == "[" else "}"
    require_bounded(opened * 5 + "0" + closed * 5, deepest=5)
    for text in (opened * 6 + "0" + closed * 6, opened * 6, f"[[],{opened * 5}0{closed * 5}]"):
        with pytest.raises(Unreadable, match="nested more than 5 deep"):
            require_bounded(text, deepest=5)
    require_bounded("[" + '"a,[{", ' * 3 + "1]", most_values=5)
    for text in ("[1,2,3,4,5,6]", '{"a":{},"b":[],"c":[1]}', "[" + "{}," * 900 + "1]"):
        with pytest.raises(Unreadable, match="at most 5 values"):
            require_bounded(text, most_values=5)


def test_json_in_another_encoding_cannot_hide_its_brackets() -> None:
    """The bytes of this sign are those of a quote in UTF-8, and so everything behind it would pass for a text."""
    hidden = '["\u2200",' + "[" * 900 + "]" * 901
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        with pytest.raises(Unreadable, match="not UTF-8"):
            require_bounded(hidden.encode(encoding))


def test_a_text_that_is_too_long_is_refused() -> None:
    for read in (read_yaml, read_json):
        with pytest.raises(TooLarge):
            read("x" * 11, largest=10)


def test_lines_and_dates() -> None:
    found = read_lined("a: 1\nb/c:\n- x\n-\n  d: 2026-01-01\n")
    assert found.value == {"a": 1, "b/c": ["x", {"d": "2026-01-01"}]}
    assert found.line("/b~1c/1/d") == 5
    assert found.line("/b~1c/1/missing") == 5
    dated = parse_yaml("[2026-01-01, '2026-01-01', 2026-01-01 10:00:00, 2026-13-01]")
    assert dated is not None
    day = dt.date(2026, 1, 1)
    moment = dt.datetime(2026, 1, 1, 10)  # noqa: DTZ001 - as it is written
    assert dated.data(dates=True) == [day, "2026-01-01", moment, "2026-13-01"]


def test_refusals_are_the_users_mistakes() -> None:
    assert issubclass(Unreadable, Invalid)
