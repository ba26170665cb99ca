"""Expressions: what they compute, what they refuse, what they cost, and what their errors say."""

import json
import sys
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.flows._evaluate import STEPS
from steward.flows._functions import BUDGET
from steward.flows.expressions import (
    ExpressionError,
    Path,
    expression,
    expressions_in,
    filled,
    template,
)

DATA: dict[str, Any] = {
    "inputs": {
        "n": 3,
        "f": 2.5,
        "text": "Hello",
        "none": None,
        "yes": True,
        "list": [1, 2, 3],
        "rows": [{"name": "a", "n": 1}, {"name": "b", "n": 5}],
        "odd key": "found",
        "big": 2**70,
    },
    "nodes": {"load": {"output": {"rows": 7}, "state": "done"}},
    "item": {"x": 5},
}


def lookup(path: Path) -> Any:
    value: Any = DATA
    for name in path.names:
        if not isinstance(value, dict) or name not in value:
            raise LookupError(f"there is no {path}")
        value = value[name]
    return value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("inputs.n + 1", 4),
        ("inputs.n * 1.5", 4.5),
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("7.0 / 2", 3.5),
        ("-inputs.n", -3),
        ("inputs.n == 3.0", True),
        ("inputs.n == '3'", False),
        ("inputs.none == null", True),
        ("inputs.list == [1, 2.0, 3]", True),
        ("inputs.rows[0] == {'name': 'a', 'n': 1}", True),
        ("inputs.text + ' ' + string(inputs.n)", "Hello 3"),
        ("string(true) + string(null) + string(2.5) + string([1, 'a'])", 'truenull2.5[1,"a"]'),
        ("inputs.rows.filter(r, r.n > 2).map(r, r.name)", ["b"]),
        ("inputs.rows.map(item, item.n)", [1, 5]),
        ("inputs.list.exists(x, x == 2) && inputs.list.all(x, x > 0)", True),
        ("[1, 2, 2].exists_one(x, x == 2)", False),
        ("size(inputs.list) + size(inputs.text) + inputs.rows.size()", 10),
        ("has(inputs.n) && !has(inputs.nope)", True),
        ("inputs.nope == 1 || true", True),
        ("inputs['odd key']", "found"),
        ("'name' in inputs.rows[1]", True),
        ("2 in inputs.list", True),
        ("inputs.yes ? 'a' : 1", "a"),
        ("nodes.load.output.rows > 5 && nodes.load.state == 'done'", True),
        ("item.x", 5),
        ("sum(inputs.list) + max(inputs.list) - min([4, 2])", 7),
        ("join(['a', 'b', null, 1], '-')", "a-b--1"),
        ("' a,b '.trim().upper().split(',')", ["A", "B"]),
        ("inputs.text.lower().startsWith('he') && inputs.text.matches('l+o$')", True),
        ("round(2.5) + round(-2.5) + int('4') + int(1.9)", 5),
        ("double('1.5')", 1.5),
        ("bool('true')", True),
        ("{'a': [inputs.n], 'b': {}}", {"a": [3], "b": {}}),
        ("'a\\'b\"c' + \"é\\n\"", "a'b\"cé\n"),
        ("inputs.big", 2**70),
        ("inputs.big > 1.0", True),
        ("${ inputs.n }", 3),
    ],
)
def test_what_expressions_give(text: str, expected: Any) -> None:
    found = expression(text).value(lookup)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("inputs.n +", 10, "not expected"),
        ("inputs.n b", 10, "'b' is not expected"),
        ("", None, "empty"),
        ("inputs.n + 'x", 12, "has no end"),
        ("'''a'''", 1, "single quotes"),
        ("1 // 2", 3, "comments"),
        ("now()", 1, "no function 'now'"),
        ("inputs.list.reduce(a, b, a + b, 0)", 13, "write reduce"),
        ("inputs.text.append(1)", 13, "no function 'append'"),
        ("other.thing", 1, "there is no 'other'"),
        ("1 + nodes.load", 5, "nodes.<id>.output"),
        ("nodes", 1, "nodes.<id>.output"),
        (".inputs.n", 1, "dot"),
        ("inputs{a: 1}", 1, "objects are written"),
        ("b'bytes'", 1, "only text"),
        ("1u", 1, "only text"),
        ("inputs.list.map(x)", 13, "with a name"),
        ("inputs.list.map(1, x)", 13, "with a name"),
        ("has()", 1, "write has"),
        ("has(1)", 1, "write has"),
        ("inputs.has(1)", 8, "no function 'has'"),
        ("(" * 60 + "1" + ")" * 60, None, "levels deep"),
        ("1" + "+1" * 60, None, "levels deep"),
        ("'" + "x" * 5000 + "'", None, "longer than"),
    ],
)
def test_what_cannot_be_read_says_where(text: str, column: int | None, reason: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        expression(text)
    assert reason in raised.value.message
    if column is not None:
        assert raised.value.column == column


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("inputs.n + inputs.text", "number and text do not go together"),
        ("1 / 0", "divides by zero"),
        ("1.0 / 0.0", "divides by zero"),
        ("9223372036854775807 + 1", "too large"),
        ("1e300 * 1e300", "too large"),
        ("inputs.list[3]", "no item"),
        ("inputs.list[-1]", "no item"),
        ("inputs.rows[0].nope", "no field 'nope'"),
        ("inputs.rows[0]['nope']", "no such key"),
        ("inputs.nope.deeper + 1", "there is no inputs.nope.deeper"),
        ("inputs.n ? 1 : 2", "true or false"),
        ("!inputs.n", "number does not fit"),
        ("true && null", "do not go together"),
        ("inputs.n > 'a'", "number and text"),
        ("int('x')", "cannot be converted"),
        ("inputs.text.matches('(')", "cannot be converted"),
        ("min([])", "does not take"),
        ("{1: 2}", "no JSON value"),
        ("[1][0].a", "only objects have fields"),
    ],
)
def test_what_cannot_be_computed_says_why(text: str, reason: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        expression(text).value(lookup)
    assert reason in raised.value.message


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
        expression("item == 1").value(lambda _: value)
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
        "inputs.huge.size()",
    ],
)
def test_what_costs_too_much_is_stopped(text: str) -> None:
    data = {"l": list(range(1_000)), "s": "x" * 100_000, "huge": [0] * (STEPS + 1)}
    parsed = expression(text)
    with pytest.raises(ExpressionError, match="too many steps"):
        parsed.value(lambda path: data[path.names[1]])
    assert BUDGET.left < 0


def test_texts_without_an_end_are_found_in_linear_time() -> None:
    started = time.process_time()
    for quote in "\"'":
        with pytest.raises(ExpressionError):
            expression("1 + " + quote + "\\n" * 1_500)
    assert time.process_time() - started < 0.5


def test_a_whole_value_is_passed_on_untouched_however_large() -> None:
    rows = [{"n": n} for n in range(STEPS)]
    assert expression("inputs.rows").value(lambda _: rows) is rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("${inputs.n}", 3),
        ("${inputs.list}", [1, 2, 3]),
        ("n=${inputs.n}!", "n=3!"),
        ("${inputs.n}${inputs.f}", "32.5"),
        ("${inputs.none}|${inputs.yes}|${inputs.list}", "|true|[1,2,3]"),
        ("${ {'a': '}'}.a }${'{'}", "}{"),
        ("$${inputs.n}", "${inputs.n}"),
        ("a $${b} ${inputs.n}", "a ${b} 3"),
        ("$5 and {x}", "$5 and {x}"),
    ],
)
def test_texts_are_filled(text: str, expected: Any) -> None:
    assert template(text).value(lookup) == expected


def test_values_are_filled_at_every_depth() -> None:
    value = {"a": ["${inputs.n}", {"b": "x${inputs.n}"}], "c": 1, "${inputs.n}": "key"}
    assert filled(value, lookup) == {"a": [3, {"b": "x3"}], "c": 1, "${inputs.n}": "key"}
    assert [pointer for pointer, _ in expressions_in(value)] == ["/a/0", "/a/1/b"]


def test_an_expression_without_an_end_in_a_text() -> None:
    with pytest.raises(ExpressionError, match="missing at its end"):
        template("a ${inputs.n")
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
