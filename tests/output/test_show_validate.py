"""Specifications that others write: harmless ones pass, hostile ones are refused at the very place."""

import contextlib
import copy
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steward.core.errors import Invalid, TooLarge
from steward.output import expressions
from steward.output.drawing import Order, draw
from steward.output.requests import MAX_POINTS
from steward.output.validate import check, validate

Spec = dict[str, Any]
ROWS = [{"a": "x", "b": 1, "d": "2024-01-01"}, {"a": "y", "b": 2.5, "d": "2024-02-01"}]


def bar(**changes: Any) -> Spec:
    spec: Spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": copy.deepcopy(ROWS)},
        "mark": "bar",
        "encoding": {
            "x": {"field": "a", "type": "nominal"},
            "y": {"field": "b", "type": "quantitative"},
        },
    }
    return spec | changes


def channel(name: str, definition: Any) -> Spec:
    spec = bar()
    spec["encoding"][name] = definition
    return spec


def calculate(expression: Any) -> Spec:
    return bar(transform=[{"calculate": expression, "as": "c"}])


def param(**fields: Any) -> Spec:
    return bar(params=[{"name": "p", **fields}])


GOOD: dict[str, Spec] = {
    "bar": bar(),
    "schema of version 5": bar(
        **{"$schema": "https://vega.github.io/schema/vega-lite/v5.20.1.json"}
    ),
    "no schema": {key: value for key, value in bar().items() if key != "$schema"},
    "title with subtitle": bar(
        title={"text": ["Sales", "<b>2026</b>"], "subtitle": "see https://x"}
    ),
    "line by month": bar(
        mark={"type": "line", "point": {"filled": False}, "interpolate": "monotone"},
        encoding={
            "x": {"timeUnit": "utcyearmonth", "field": "d", "type": "temporal"},
            "y": {"aggregate": "sum", "field": "b", "axis": {"format": ",.2f", "grid": False}},
        },
    ),
    "stacked area": channel("color", {"field": "a", "scale": {"scheme": "tableau10"}}),
    "own colours": channel(
        "color", {"field": "a", "scale": {"range": ["#123456", "steelblue", "rgb(1, 2, 3)"]}}
    ),
    "label expression": channel(
        "x", {"field": "a", "axis": {"labelExpr": "upper(slice(datum.label, 0, 3))"}}
    ),
    "calculate": calculate("datum.b > 1 ? 'big' : (datum['b'] + 1) * 2 + '%'"),
    "filter with predicate": bar(
        transform=[
            {"filter": {"and": [{"field": "b", "gte": 1}, {"not": {"field": "a", "oneOf": ["z"]}}]}}
        ]
    ),
    "filter with expression": bar(transform=[{"filter": "isValid(datum.b) && datum.b < 10"}]),
    "window and aggregate": bar(
        transform=[
            {
                "window": [{"op": "row_number", "as": "n"}],
                "sort": [{"field": "b", "order": "descending"}],
            },
            {"aggregate": [{"op": "mean", "field": "b", "as": "m"}], "groupby": ["a"]},
        ]
    ),
    "fold": bar(transform=[{"fold": ["b"], "as": ["key", "value"]}]),
    "bins": bar(
        encoding={"x": {"bin": {"maxbins": 20}, "field": "b"}, "y": {"aggregate": "count"}}
    ),
    "bins by step": bar(
        encoding={"x": {"bin": {"step": 0.5}, "field": "b"}, "y": {"aggregate": "count"}}
    ),
    "layers": {
        "data": {"values": ROWS},
        "encoding": {"x": {"field": "a"}},
        "layer": [
            {"mark": "bar", "encoding": {"y": {"field": "b"}}},
            {
                "mark": {"type": "rule", "color": "red", "strokeDash": [4, 2]},
                "encoding": {"y": {"datum": 2}},
            },
            {
                "mark": {"type": "text", "dy": -5},
                "encoding": {"text": {"field": "b", "format": ".1f"}},
            },
        ],
        "resolve": {"scale": {"y": "shared"}},
    },
    "facet": {
        "data": {"values": ROWS},
        "facet": {"field": "a", "header": {"titleColor": "#333"}},
        "columns": 2,
        "spec": {"mark": "point", "encoding": {"x": {"field": "b", "type": "quantitative"}}},
    },
    "repeat": {
        "data": {"values": ROWS},
        "repeat": ["a", "b"],
        "spec": {
            "mark": "bar",
            "encoding": {"x": {"field": {"repeat": "repeat"}}, "y": {"aggregate": "count"}},
        },
    },
    "concatenation with named data": {
        "datasets": {"main": ROWS},
        "hconcat": [
            {"data": {"name": "main"}, "mark": "bar", "encoding": {"x": {"field": "a"}}},
            {
                "data": {"name": "main"},
                "mark": "tick",
                "encoding": {"x": {"field": "b", "type": "quantitative"}},
            },
        ],
    },
    "selection": param(select={"type": "interval", "encodings": ["x"]})
    | {
        "encoding": {
            "x": {"field": "a"},
            "color": {"condition": {"param": "p", "value": "orange"}, "value": "grey"},
        }
    },
    "slider": param(value=3, bind={"input": "range", "min": 1, "max": 9, "step": 1})
    | {"transform": [{"filter": "datum.b <= p"}]},
    "pie": {
        "data": {"values": ROWS},
        "mark": {"type": "arc", "innerRadius": 40, "tooltip": True},
        "encoding": {
            "theta": {"field": "b", "stack": True},
            "color": {"field": "a", "legend": {"orient": "left"}},
        },
    },
    "box plot": bar(mark={"type": "boxplot", "extent": 1.5, "median": {"color": "white"}}),
    "tooltips": channel(
        "tooltip", [{"field": "a", "title": "Name"}, {"field": "b", "format": ",.2f"}]
    ),
    "config": bar(
        config={
            "background": "#fff",
            "axis": {"labelFont": "Georgia, serif", "gridColor": "#eee"},
            "bar": {"color": "teal"},
            "range": {"category": ["#111", "#222"]},
            "view": {"stroke": None},
        }
    ),
    "gradient": bar(
        mark={
            "type": "area",
            "color": {
                "gradient": "linear",
                "x1": 1,
                "y1": 1,
                "x2": 1,
                "y2": 0,
                "stops": [{"offset": 0, "color": "white"}, {"offset": 1, "color": "darkgreen"}],
            },
        }
    ),
    "lookup": bar(
        transform=[
            {
                "lookup": "a",
                "from": {"data": {"values": [{"k": "x", "v": 1}]}, "key": "k", "fields": ["v"]},
            }
        ]
    ),
    "sequence": bar(data={"sequence": {"start": 0, "stop": 12, "step": 0.1, "as": "t"}}),
    "regression": {
        "data": {"values": ROWS},
        "transform": [{"regression": "b", "on": "b", "method": "poly", "order": 2}],
        "mark": "line",
        "encoding": {"x": {"field": "b", "type": "quantitative"}},
    },
    "texts that only look dangerous": bar(
        data={"values": [{"a": "javascript:alert(1)", "b": 1}, {"a": "url(http://x)", "b": 2}]},
        title="How to load data: use https://example.com",
    ),
    "size by container": bar(
        width="container", height={"step": 20}, autosize={"type": "fit", "contains": "padding"}
    ),
    "sort by another field": channel(
        "x", {"field": "a", "sort": {"field": "b", "op": "sum", "order": "descending"}}
    ),
    "date domain": channel(
        "x",
        {
            "field": "d",
            "type": "temporal",
            "scale": {"type": "utc", "domain": [{"year": 2024}, "2025-01-01"]},
        },
    ),
}

HOSTILE: dict[str, tuple[Spec, str]] = {
    "data from the network": (bar(data={"url": "https://evil.example/x.csv"}), "/data/url"),
    "data from a file": (bar(data={"url": "file:///etc/passwd"}), "/data/url"),
    "url beside values": (bar(data={"values": ROWS, "url": "http://x"}), "/data/url"),
    "url in a layer": (
        {"layer": [{"data": {"url": "//x"}, "mark": "bar"}]},
        "/layer/0/data/url",
    ),
    "url in a lookup": (
        bar(transform=[{"lookup": "a", "from": {"data": {"url": "x"}, "key": "k"}}]),
        "/transform/0/from/data/url",
    ),
    "unknown data name": (bar(data={"name": "secrets"}), "/data/name"),
    "data as a text to parse": (
        bar(data={"values": "a,b\n1,2", "format": {"type": "csv"}}),
        "/data/values",
    ),
    "topojson": (
        bar(data={"values": ROWS, "format": {"type": "topojson", "feature": "f"}}),
        "/data/format",
    ),
    "graticule": (bar(data={"graticule": True}), "/data/graticule"),
    "image mark": (bar(mark={"type": "image"}), "/mark"),
    "image mark with address": (bar(mark={"type": "bar", "url": "http://x/y.png"}), "/mark/url"),
    "geoshape": (bar(mark="geoshape"), "/mark"),
    "unknown mark": (bar(mark="wordcloud"), "/mark"),
    "link on a mark": (bar(mark={"type": "bar", "href": "javascript:alert(1)"}), "/mark/href"),
    "link channel": (channel("href", {"field": "a"}), "/encoding/href"),
    "url channel": (channel("url", {"value": "http://x"}), "/encoding/url"),
    "map projection": (bar(projection={"type": "mercator"}), "/projection"),
    "embed options": (bar(usermeta={"embedOptions": {"loader": {"target": "_top"}}}), "/usermeta"),
    "embed options in a layer": ({"layer": [bar(usermeta={})]}, "/layer/0/usermeta"),
    "vega instead of vega-lite": (
        bar(**{"$schema": "https://vega.github.io/schema/vega/v5.json"}),
        "/$schema",
    ),
    "schema from elsewhere": (
        bar(**{"$schema": "https://evil.example/vega-lite/v6.json"}),
        "/$schema",
    ),
    "signals": (bar(signals=[{"name": "s", "update": "alert(1)"}]), "/signals"),
    "marks of vega": (bar(marks=[]), "/marks"),
    "signal reference": (bar(mark={"type": "bar", "size": {"signal": "alert(1)"}}), "/mark/size"),
    "constructor": (
        calculate("datum.constructor.constructor('alert(1)')()"),
        "/transform/0/calculate",
    ),
    "constructor in brackets": (calculate("datum['constructor']"), "/transform/0/calculate"),
    "escaped constructor": (calculate(r"datum['\u0063onstructor']"), "/transform/0/calculate"),
    "computed member": (calculate("datum['con' + 'structor']"), "/transform/0/calculate"),
    "member by field": (calculate("datum[datum.a]"), "/transform/0/calculate"),
    "member of a text": (calculate("'x'.constructor"), "/transform/0/calculate"),
    "member of a list": (calculate("[1].map"), "/transform/0/calculate"),
    "proto": (calculate("datum.__proto__"), "/transform/0/calculate"),
    "method call": (calculate("datum.a.replace('x', 'y')"), "/transform/0/calculate"),
    "call of a call": (calculate("upper('a')()"), "/transform/0/calculate"),
    "event object": (calculate("event.view.setTimeout"), "/transform/0/calculate"),
    "window": (calculate("window.location"), "/transform/0/calculate"),
    "warn with a getter": (calculate("warn(datum)"), "/transform/0/calculate"),
    "data function": (calculate("data('source_0')"), "/transform/0/calculate"),
    "modify": (calculate("modify('source_0', datum, null, null)"), "/transform/0/calculate"),
    "scene functions": (calculate("vlSelectionTuples([{unit: 1}], 1)"), "/transform/0/calculate"),
    "regular expression": (calculate("replace(datum.a, /(a+)+$/g, 'x')"), "/transform/0/calculate"),
    "regular expression function": (
        calculate("test(regexp('(a+)+$'), datum.a)"),
        "/transform/0/calculate",
    ),
    "endless text": (calculate("repeat('x', 1e9)"), "/transform/0/calculate"),
    "endless list": (calculate("sequence(1e12)"), "/transform/0/calculate"),
    "assignment": (calculate("datum.b = 1"), "/transform/0/calculate"),
    "arrow function": (calculate("(x => x)(1)"), "/transform/0/calculate"),
    "template": (calculate("`${datum.a}`"), "/transform/0/calculate"),
    "object literal": (calculate("{toString: datum.a}"), "/transform/0/calculate"),
    "statement": (calculate("1; alert(1)"), "/transform/0/calculate"),
    "comment": (calculate("1 /* x */ + 1"), "/transform/0/calculate"),
    "expression is no text": (calculate({"signal": "x"}), "/transform/0/calculate"),
    "random": (calculate("random()"), "/transform/0/calculate"),
    "undeclared name": (calculate("p + 1"), "/transform/0/calculate"),
    "code in a filter": (bar(transform=[{"filter": "eval('1')"}]), "/transform/0/filter"),
    "code in a nested filter": (
        bar(transform=[{"filter": {"or": [{"not": "open()"}]}}]),
        "/transform/0/filter/or/0/not",
    ),
    "code in a condition": (
        channel("color", {"condition": {"test": "event.x", "value": "red"}, "value": "grey"}),
        "/encoding/color/condition/test",
    ),
    "code in a label": (
        channel("x", {"field": "a", "axis": {"labelExpr": "top.location"}}),
        "/encoding/x/axis/labelExpr",
    ),
    "code in a mark": (
        bar(mark={"type": "bar", "opacity": {"expr": "fetch('x')"}}),
        "/mark/opacity/expr",
    ),
    "code in a title": (bar(title={"text": {"expr": "this"}}), "/title/text/expr"),
    "code in config": (bar(config={"axis": {"labelExpr": "alert(1)"}}), "/config/axis/labelExpr"),
    "code in a scale": (
        channel("x", {"field": "a", "scale": {"domain": {"expr": "eval(1)"}}}),
        "/encoding/x/scale/domain/expr",
    ),
    "code in a parameter": (param(expr="document.cookie"), "/params/0/expr"),
    "binding to the page": (
        param(bind={"input": "range", "element": "#login"}),
        "/params/0/bind/element",
    ),
    "binding to a file": (param(bind={"input": "file"}), "/params/0/bind/input"),
    "event stream with code": (
        param(select={"type": "point", "on": "click[event.shiftKey]"}),
        "/params/0/select/on",
    ),
    "event on the window": (
        param(select={"type": "point", "on": "window:message"}),
        "/params/0/select/on",
    ),
    "toggle with code": (
        param(select={"type": "point", "toggle": "event.view.x()"}),
        "/params/0/select/toggle",
    ),
    "parameter with a bad name": (bar(params=[{"name": "a b;"}]), "/params/0/name"),
    "parameter that hides datum": (bar(params=[{"name": "datum"}]), "/params/0/name"),
    "custom formats": (bar(config={"customFormatTypes": True}), "/config/customFormatTypes"),
    "custom format type": (
        channel("x", {"field": "a", "axis": {"formatType": "mine"}}),
        "/encoding/x/axis/formatType",
    ),
    "signals in config": (bar(config={"signals": []}), "/config/signals"),
    "image in config": (bar(config={"image": {"url": "http://x"}}), "/config/image"),
    "colour that loads": (
        bar(mark={"type": "bar", "fill": "url(https://x/y.svg#p)"}),
        "/mark/fill",
    ),
    "background that loads": (bar(background="url(//x)"), "/background"),
    "colour range that loads": (
        channel("color", {"field": "a", "scale": {"range": ["url(http://x)"]}}),
        "/encoding/color/scale/range/0",
    ),
    "colour value that loads": (channel("color", {"value": "url( 'x' )"}), "/encoding/color/value"),
    "font that loads": (bar(mark={"type": "text", "font": "url(http://x)"}), "/mark/font"),
    "cursor that loads": (
        bar(mark={"type": "bar", "cursor": "url(http://x), auto"}),
        "/mark/cursor",
    ),
    "shape with markup": (channel("shape", {"value": "<svg onload=1>"}), "/encoding/shape/value"),
    "tooltip shown as picture": (
        channel("tooltip", [{"field": "b", "title": "image"}]),
        "/encoding/tooltip/0",
    ),
    "row shown as picture": (
        bar(
            data={"values": [{"image": "http://x"}]},
            mark={"type": "bar", "tooltip": {"content": "data"}},
        ),
        "/mark/tooltip/content",
    ),
    "polluting row": (bar(data={"values": [{"__proto__": {"x": 1}}]}), "/data/values/0"),
    "polluting field": (bar(transform=[{"calculate": "1", "as": "__proto__"}]), "/transform/0/as"),
    "polluting dataset": (bar(datasets={"__proto__": []}), "/datasets/__proto__"),
    "too many rows": (bar(data={"values": [{"a": 1}] * (MAX_POINTS + 1)}), "/data/values"),
    "too many rows in parts": (
        bar(datasets={"one": [1] * 15_000}, data={"values": [{"a": 1}] * 15_000}),
        "/data/values",
    ),
    "endless sequence": (bar(data={"sequence": {"start": 0, "stop": 1e12}}), "/data/sequence"),
    "sequence that stands still": (
        bar(data={"sequence": {"start": 0, "stop": 1, "step": 0}}),
        "/data/sequence",
    ),
    "nested rows": (bar(data={"values": [{"a": {"b": {}}}]}), "/data/values/0/a"),
    "huge width": (bar(width=1_000_000), "/width"),
    "huge step": (bar(height={"step": 1e9}), "/height"),
    "thousands of classes": (
        bar(encoding={"x": {"bin": {"step": 1e-9}, "field": "b"}}),
        "/encoding/x/bin/step",
    ),
    "too many bins": (
        bar(encoding={"x": {"bin": {"maxbins": 1e9}, "field": "b"}}),
        "/encoding/x/bin/maxbins",
    ),
    "too many ticks": (
        channel("x", {"field": "b", "axis": {"tickCount": 1e8}}),
        "/encoding/x/axis/tickCount",
    ),
    "density with endless steps": (
        bar(transform=[{"density": "b", "steps": 1e9}]),
        "/transform/0/steps",
    ),
    "imputing endlessly": (
        bar(transform=[{"impute": "b", "key": "a", "keyvals": {"start": 0, "stop": 1e10}}]),
        "/transform/0/keyvals",
    ),
    "repeating endlessly": (
        {
            "data": {"values": ROWS},
            "repeat": {"row": ["a"] * 30, "column": ["b"] * 30},
            "spec": {"mark": "bar"},
        },
        "/repeat",
    ),
    "unknown transform": (bar(transform=[{"geoshape": True}]), "/transform/0"),
    "unknown key": (bar(onload="alert(1)"), "/onload"),
    "unknown key with a slash": (bar(**{"a/b~c": 1}), "/a~1b~0c"),
    "no mark at all": ({"data": {"values": []}}, ""),
    "layers that are no list": ({"layer": {"0": {}}}, "/layer"),
    "axis that is a text": (channel("x", {"field": "a", "axis": "url(x)"}), "/encoding/x/axis"),
    "old selections": (bar(selection={"s": {"type": "single"}}), "/selection"),
}


def test_the_corpora_are_large_enough() -> None:
    assert len(GOOD) >= 20
    assert len(HOSTILE) >= 40


@pytest.mark.parametrize("spec", GOOD.values(), ids=GOOD.keys())
def test_good_specifications_pass(spec: Spec) -> None:
    before = copy.deepcopy(spec)
    assert check(spec) == ()
    validate(spec)
    assert spec == before


def test_good_specifications_can_be_drawn() -> None:
    """The allow-list is not only strict but right: Vega understands what passes."""
    images = draw([Order(spec, "svg") for spec in GOOD.values()])
    assert all(image.startswith(b"<svg") and len(image) > 300 for image in images)


@pytest.mark.parametrize(("spec", "pointer"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_specifications_are_refused_at_their_place(spec: Spec, pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        validate(spec)
    assert pointer in [problem.pointer for problem in refused.value.problems]
    assert refused.value.specific_code == "unsafe-chart"


def test_every_problem_is_listed_but_not_without_end() -> None:
    spec = bar(usermeta={}, data={"url": "x"}, mark="image")
    assert [problem.pointer for problem in check(spec)] == ["/usermeta", "/data/url", "/mark"]
    assert len(check(bar(**{f"k{i}": 1 for i in range(500)}))) == 50


def test_size_and_depth_are_bounded_before_anything_else() -> None:
    deep: Spec = {"mark": "bar"}
    for _ in range(5_000):
        deep = {"layer": [deep]}
    with pytest.raises(TooLarge, match="nests"):
        validate(deep)
    with pytest.raises(TooLarge, match="bytes"):
        validate(bar(data={"values": [{"a": "x" * 9_000}] * 1_000}))
    with pytest.raises(Invalid, match="only JSON"):
        validate(bar(data={"values": [{"a": float("nan")}]}))
    with pytest.raises(Invalid, match="only JSON"):
        validate(bar(title=b"bytes"))
    assert check(["bar"])[0].message == "A chart is a JSON object."


def test_data_is_known_by_the_names_of_the_datasets() -> None:
    spec = bar(data={"name": "sales"})
    assert [problem.pointer for problem in check(spec)] == ["/data/name"]
    assert check({**spec, "datasets": {"sales": [{"a": 1}]}}) == ()


@given(st.text(max_size=60))
def test_no_text_breaks_the_expression_reader(text: str) -> None:
    with contextlib.suppress(expressions.Refused):
        expressions.check(text)


@given(
    st.lists(
        st.sampled_from(
            [
                "datum",
                ".",
                "a",
                "[",
                "]",
                "'constructor'",
                "constructor",
                "(",
                ")",
                "upper",
                "eval",
                "+",
                "?",
                ":",
                ",",
                "1",
            ]
        ),
        max_size=12,
    )
)
def test_what_the_reader_accepts_calls_only_known_functions(words: list[str]) -> None:
    try:
        expressions.check(" ".join(words))
    except expressions.Refused:
        return
    assert "eval" not in words
    assert "constructor" not in words
    assert not any(
        a == "[" and b == "'constructor'" and at and words[at - 1] in {"datum", "]", ")"}
        for at, (a, b) in enumerate(pairwise(words))
    )
    assert all(
        before == "upper" for before, after in pairwise(words) if after == "(" and before.isalpha()
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=12),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "mark",
                        "encoding",
                        "x",
                        "field",
                        "axis",
                        "layer",
                        "data",
                        "values",
                        "expr",
                        "params",
                        "name",
                        "param",
                        "select",
                        "transform",
                        "filter",
                        "bin",
                        "title",
                    ]
                )
                | st.text(max_size=6),
                inner,
                max_size=4,
            )
        ),
        max_leaves=25,
    )
)
def test_no_shape_breaks_the_check(spec: Any) -> None:
    for problem in check(spec):
        assert problem.pointer == "" or problem.pointer.startswith("/")


def test_long_expressions_are_refused_quickly() -> None:
    for text in ("(" * 5_000, "-" * 1_999, "1?" * 900, "[" * 1_900, "a" * 3_000):
        with pytest.raises(expressions.Refused):
            expressions.check(text)
