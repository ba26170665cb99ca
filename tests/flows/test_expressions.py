"""Expressions: what they compute, what they refuse, what they cost, and what their errors say."""

import json
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path as FilePath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.flows._evaluate import STEPS
from steward.flows._fitting import reading
from steward.flows._values import BUDGET
from steward.flows.expressions import (
    ExpressionError,
    Path,
    expression,
    expressions_in,
    filled,
    template,
)

ROOT = FilePath(__file__).resolve().parents[2]
VECTORS: dict[str, Any] = json.loads((ROOT / "web/tests/flows/expressions.json").read_text())
"""Read by the tests of the web app, too: both sides accept and refuse the same."""
DATA: dict[str, Any] = VECTORS["data"]
READING = reading({tuple(name.split(".")): schema for name, schema in VECTORS["names"].items()})


def text_of(case: dict[str, Any]) -> str:
    return case.get("text") or "".join(part * times for part, times in case.get("parts", ()))


def cases(kind: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", VECTORS[kind], ids=lambda case: text_of(case)[:60])


def lookup(path: Path) -> Any:
    value: Any = DATA
    for name in path.names:
        if not isinstance(value, dict) or name not in value:
            raise LookupError(f"there is no {path}")
        value = value[name]
    return value


@cases("given")
def test_what_expressions_give(case: dict[str, Any]) -> None:
    parsed = expression(case["text"])
    found = parsed.value(lookup)
    assert found == case["value"]
    assert type(found) is type(case["value"])
    assert str(parsed.type(READING)) == case["type"]


@cases("unreadable")
def test_what_cannot_be_read_says_where(case: dict[str, Any]) -> None:
    with pytest.raises(ExpressionError) as raised:
        expression(text_of(case))
    assert (raised.value.reason, raised.value.column) == (case["reason"], case["column"])


@cases("mistyped")
def test_types_that_do_not_fit_are_found_before_the_run(case: dict[str, Any]) -> None:
    with pytest.raises(ExpressionError) as raised:
        expression(case["text"]).type(READING)
    assert (raised.value.reason, raised.value.column) == (case["reason"], case["column"])
    # What is refused before the run does not work in the run either.
    with pytest.raises(ExpressionError):
        expression(case["text"]).value(lookup)


@cases("failing")
def test_what_cannot_be_computed_says_why(case: dict[str, Any]) -> None:
    with pytest.raises(ExpressionError) as raised:
        expression(case["text"]).value(lookup)
    assert case["reason"] in raised.value.message


def test_errors_hold_no_data() -> None:
    secret = {"inputs": {"word": "hunter2", "list": ["hunter2"]}}

    def look(path: Path) -> Any:
        return secret["inputs"][path.names[1]]

    for text in (
        "inputs.word[0]",
        "[inputs.word].map(x, x.y)",
        "inputs.list[0].a + 1",
        "int(inputs.word)",
    ):
        with pytest.raises(ExpressionError) as raised:
            expression(text).value(look)
        assert "hunter2" not in str(raised.value)
        assert raised.value.__cause__ is None
        assert raised.value.__suppress_context__


def test_depth_is_bounded_on_both_sides() -> None:
    value: Any = 1
    for _ in range(5_000):
        value = [value]
    with pytest.raises(ExpressionError, match="nested too deeply"):
        expression("item == item").value(lambda _: value)
    limit = sys.getrecursionlimit()
    deepest = "1" + "+1" * 31
    assert expression(deepest).value(lookup) == 32
    macros = "[1]" + ".map(a, [a]" * 10 + ")" * 10
    assert expression(macros).value(lookup) is not None
    assert sys.getrecursionlimit() == limit


def test_no_way_leads_into_python() -> None:
    for text in (
        "inputs.text.__class__",
        "inputs.list.append",
        "item.__init__",
        "inputs.text.format",
    ):
        with pytest.raises(ExpressionError):
            expression(text).value(lookup)
    for text in ("inputs.text.format(1)", "eval('1')", "inputs.list.__len__()", "type(1)"):
        with pytest.raises(ExpressionError, match="no function"):
            expression(text)


@pytest.mark.parametrize(
    "text",
    [
        "inputs.l.map(a, inputs.l.map(b, inputs.l.map(c, 1)))",
        "inputs.l.map(a, inputs.s + inputs.s)",
        "inputs.l.all(a, inputs.l == inputs.l)",
        "inputs.l.map(a, string(inputs.l))",
        "[0].map(a, inputs.l).map(b, [b, b, b, b]).map(c, [c, c, c, c]).map(d, [d, d, d, d])",
        "inputs.l.map(a, inputs.s.upper())",
        "inputs.huge.exists(x, x > 0)",
        "1 in inputs.huge",
        "inputs.huge == inputs.huge",
        "sum(inputs.huge)",
        # Passing a value on costs little, passing it on again costs what it holds.
        "inputs.l.map(a, inputs.l)",
        "inputs.l.map(a, {'all': inputs.l, 'a': a})",
    ],
)
def test_what_costs_too_much_is_stopped(text: str) -> None:
    data = {"l": list(range(1_000)), "s": "x" * 100_000, "huge": [0] * (STEPS + 1)}
    parsed = expression(text)
    with pytest.raises(ExpressionError, match="too many steps"):
        parsed.value(lambda path: data[path.names[1]])
    assert BUDGET.left < 0


ITEMS = [{"id": n, "ok": n % 3 == 0, "words": ["a", "b"], "in": {"n": n}} for n in range(5_000)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("size(nodes.each.output)", 5_000),
        ("nodes.each.output.size() > 4000 && nodes.each.output.size() < 6000", True),
        ("nodes.each.output[4999].in.n", 4_999),
        ("nodes.each.output.filter(row, row.ok).size()", 1_667),
        ("nodes.each.output.filter(row, row.id > 4997)", ITEMS[-2:]),
        ("nodes.each.output.filter(row, row.ok)", ITEMS[::3]),
        ("nodes.each.output[3] in nodes.each.output", True),
        ("{'id': 7} in nodes.each.output", False),
        ("nodes.each.output.exists(row, row.id == 4999)", True),
        ("nodes.each.output.all(row, size(row.words) == 2)", True),
        ("nodes.each.output.map(row, row.id)[4999]", 4_999),
        ("{'rows': nodes.each.output, 'count': size(nodes.each.output)}.count", 5_000),
    ],
)
def test_the_output_of_a_map_over_thousands_of_items_can_be_read(text: str, value: Any) -> None:
    assert expression(text).value(lambda _: ITEMS) == value
    assert BUDGET.left >= 0


def test_values_that_are_not_touched_cost_nothing() -> None:
    left = []
    for count in (10, STEPS * 2):
        rows = [{"n": n} for n in range(count)]
        assert expression("size(inputs.rows)").value(partial(_always, rows)) == count
        left.append(BUDGET.left)
    assert left[0] == left[1]


def test_texts_without_an_end_are_found_in_linear_time() -> None:
    started = time.process_time()
    for quote in "\"'":
        with pytest.raises(ExpressionError):
            expression("1 + " + quote + "\\n" * 1_500)
    assert time.process_time() - started < 0.5


def test_a_whole_value_is_passed_on_untouched_however_large() -> None:
    rows = [{"n": n} for n in range(STEPS)]
    assert expression("inputs.rows").value(lambda _: rows) is rows


@cases("texts")
def test_texts_are_filled(case: dict[str, Any]) -> None:
    assert template(case["text"]).value(lookup) == case["value"]


@cases("broken_texts")
def test_texts_with_broken_expressions_say_where(case: dict[str, Any]) -> None:
    with pytest.raises(ExpressionError) as raised:
        template(case["text"])
    assert (raised.value.reason, raised.value.column) == (case["reason"], case["column"])


def test_values_are_filled_at_every_depth() -> None:
    value = {"a": ["${inputs.n}", {"b": "x${inputs.n}"}], "c": 1, "${inputs.n}": "key"}
    assert filled(value, lookup) == {"a": [3, {"b": "x3"}], "c": 1, "${inputs.n}": "key"}
    assert [pointer for pointer, _ in expressions_in(value)] == ["/a/0", "/a/1/b"]


def test_an_expression_that_cannot_be_read_takes_its_place() -> None:
    assert [type(found) for _, found in expressions_in(["${1 +}"])] == [ExpressionError]


def test_what_is_read_is_known_beforehand() -> None:
    parsed = expression("inputs.yes ? nodes.a.output.x : item.map(item, item.y + inputs['z w'])")
    assert {str(path) for path in parsed.paths} == {
        "inputs.yes",
        "nodes.a.output.x",
        "item",
        "inputs.z w",
    }


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=15,
)


@given(_JSON)
def test_values_survive_evaluation(value: Any) -> None:
    found = expression("[item][0]").value(lambda _: value)
    assert json.dumps(found) == json.dumps(value)
    assert expression("item == [item][0]").value(lambda _: value) is True


@given(st.text(alphabet="inputs.nodes()[]{}'\"\\+-*/%<>=!&|?:, 0123456789abmx$", max_size=60))
def test_no_text_breaks_anything_but_itself(text: str) -> None:
    """Whatever is written, it is a value or an ExpressionError."""
    for read in (expression, template):
        with suppress(ExpressionError):
            read(text).value(lookup)


def _always(value: Any, _path: Path) -> Any:
    return value


@pytest.mark.parametrize("macro", ["all", "exists", "exists_one", "filter"])
def test_a_macro_takes_nothing_but_true_and_false_for_an_answer(macro: str) -> None:
    """Or its result would be no boolean, as every check says it is."""
    written = expression(f"item.{macro}(y, y)")
    undecided: list[Any] = [{"a": 1}, {"a": 1, "b": 2}, ["a"], [1, True], [None]]
    for value in undecided:
        with pytest.raises(ExpressionError, match=f"{macro} needs true or false for each"):
            written.value(partial(_always, value))
    single: list[Any] = [5, "ab", None]
    for value in single:
        with pytest.raises(ExpressionError, match=f"{macro} goes over lists and objects"):
            written.value(partial(_always, value))
    assert written.value(lambda _: [True]) in (True, [True])
    assert expression(f"item.{macro}(y, y == 'a')").value(lambda _: {"a": 1}) in (True, ["a"])
