"""The properties of a Vega-Lite specification: texts, colours, expressions, fields, scales, conditions."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

from steward.core import Problem
from steward.output import allowed, expressions
from steward.output.spec_data import Rows

MAX_ITEMS = 1_000
MAX_TEXT = 2_000
MAX_PROBLEMS = 50


class Values:
    """Checks single properties and gathers problems; `Transforms` and `Views` build on it."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._names: set[str] = set()
        self._rows = Rows(self.add)
        self._steps: list[tuple[str, float, str]] = []

    def add(self, pointer: str, message: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(pointer, message))

    def _keys(self, node: Any, known: frozenset[str], pointer: str) -> bool:
        if not isinstance(node, dict):
            self.add(pointer, "An object belongs here.")
            return False
        for key in node:
            if key not in known:
                self.add(f"{pointer}/{escaped(str(key))}", _WHY.get(key, "Not allowed here."))
        return True

    def _list(self, value: Any, pointer: str) -> Sequence[Any]:
        if not isinstance(value, list):
            self.add(pointer, "A list belongs here.")
            return ()
        if len(value) > MAX_ITEMS:
            self.add(pointer, f"At most {MAX_ITEMS} items.")
        return value[:MAX_ITEMS]

    def _one_of(self, value: Any, choices: Collection[str], pointer: str) -> None:
        if not isinstance(value, str) or value not in choices:
            self.add(pointer, f"One of {', '.join(sorted(choices))}.")

    def _object(self, value: Any, known: frozenset[str], pointer: str) -> None:
        if value is None or isinstance(value, bool):
            return
        if self._keys(value, known, pointer):
            for key, part in value.items():
                if key in known:
                    self._property(key, part, f"{pointer}/{key}")

    def _property(self, key: str, value: Any, pointer: str) -> None:
        special = self._special().get(key)
        if special is not None:
            special(value, pointer)
        elif (
            key in allowed.MARK_PARTS
            and isinstance(value, dict)
            and not {"expr", "band"} & set(value)
        ):
            self._object(value, allowed.MARK, pointer)
        else:
            self._plain(key, value, pointer)

    def _special(self) -> dict[str, Callable[[Any, str], None]]:
        return {
            "labelExpr": self._expression,
            "expr": self._expression,
            "field": self._field,
            "aggregate": self._aggregate,
            "op": self._aggregate,
            "bin": self._bin,
            "timeUnit": self._time_unit,
            "impute": lambda value, at: self._object(value, allowed.IMPUTE, at),
            "keyvals": self._key_values,
            "sort": self._sort,
            "axis": lambda value, at: self._object(value, allowed.AXIS, at),
            "legend": lambda value, at: self._object(value, allowed.LEGEND, at),
            "scale": lambda value, at: self._object(value, allowed.SCALE, at),
            "header": lambda value, at: self._object(value, allowed.HEADER, at),
            "tooltip": self._tooltip,
            "formatType": lambda value, at: self._one_of(value, allowed.FORMAT_TYPES, at),
            "param": self._parameter_name,
            "domain": self._domain,
            "range": self._range,
            "bins": self._bins,
            "tickCount": self._tick_count,
            "frame": self._frame,
        }

    def _plain(self, key: str, value: Any, pointer: str) -> None:
        """A value with no rules of its own: a scalar, a list of scalars, a condition, an expression or a gradient."""
        if isinstance(value, str):
            self._text(key, value, pointer)
        elif isinstance(value, list):
            for i, item in enumerate(self._list(value, pointer)):
                self._plain(key, item, f"{pointer}/{i}")
        elif isinstance(value, dict):
            self._plain_object(key, value, pointer)

    def _plain_object(self, key: str, value: dict[str, Any], pointer: str) -> None:
        names = set(value)
        if "expr" in names and names == {"expr"}:
            self._expression(value["expr"], f"{pointer}/expr")
        elif "gradient" in names and names <= allowed.GRADIENT:
            for i, stop in enumerate(self._list(value.get("stops", []), f"{pointer}/stops")):
                self._object(stop, frozenset({"offset", "color"}), f"{pointer}/stops/{i}")
        elif "condition" in names and names <= {"condition", "value"}:
            self._channel("color" if allowed.COLOURS.match(key) else key, value, pointer)
        elif names and names <= allowed.SMALL_OBJECTS:
            for name, part in value.items():
                self._plain(name, part, f"{pointer}/{name}")
        else:
            self.add(pointer, "An object is not allowed here.")

    def _text(self, key: str, value: str, pointer: str) -> None:
        if len(value) > MAX_TEXT:
            self.add(pointer, f"A text has at most {MAX_TEXT} characters.")
        elif key in allowed.FREE_TEXT:
            return
        elif allowed.COLOURS.match(key):
            if value and not allowed.COLOUR.match(value):
                self.add(pointer, "A colour is a name, #hex, rgb() or hsl().")
        elif key in {"shape", "symbolType"}:
            if not allowed.SHAPE_PATH.match(value):
                self.add(pointer, "A shape is a name or a plain SVG path.")
        elif not allowed.PLAIN.match(value) or _reaches_out(value):
            self.add(pointer, "This text could refer to something outside the chart.")

    def _expression(self, value: Any, pointer: str) -> None:
        if not isinstance(value, str):
            self.add(pointer, "An expression is a text.")
            return
        try:
            expressions.check(value, self._names)
        except expressions.Refused as problem:
            self.add(pointer, f"Not an allowed expression: {problem}.")

    def _field(self, value: Any, pointer: str) -> None:
        if isinstance(value, dict) and set(value) == {"repeat"}:
            self._one_of(value["repeat"], {"repeat", "row", "column", "layer"}, f"{pointer}/repeat")
        elif isinstance(value, dict) and set(value) == {"expr"}:
            self._expression(value["expr"], f"{pointer}/expr")
        elif not isinstance(value, str) or len(value) > 200 or not value.isprintable():
            self.add(pointer, "A field is a printable name of at most 200 characters.")
        elif any(name in value for name in ("__proto__", "prototype", "constructor")):
            self.add(pointer, "This name is reserved.")

    def _new_field(self, value: Any, pointer: str) -> None:
        for i, name in enumerate(value if isinstance(value, list) else [value]):
            self._field(name, f"{pointer}/{i}" if isinstance(value, list) else pointer)
            if isinstance(name, str):
                self._rows.keys.add(name)

    def _aggregate(self, value: Any, pointer: str) -> None:
        if isinstance(value, dict) and len(value) == 1 and set(value) <= {"argmin", "argmax"}:
            for key, name in value.items():
                self._field(name, f"{pointer}/{key}")
            return
        self._one_of(value, allowed.WINDOW_OPERATIONS, pointer)

    def _bin(self, value: Any, pointer: str) -> None:
        if value is None or isinstance(value, bool) or value == "binned":
            return
        self._object(value, allowed.BIN, pointer)
        if not isinstance(value, dict):
            return
        if "maxbins" in value and not is_number(value["maxbins"], 2, MAX_ITEMS):
            self.add(f"{pointer}/maxbins", f"At most {MAX_ITEMS} classes.")
        for key in ("step", "minstep"):
            if key in value and not is_number(value[key], 1e-300, math.inf):
                self.add(f"{pointer}/{key}", "A step is a number above zero.")

    def _time_unit(self, value: Any, pointer: str) -> None:
        if isinstance(value, dict):
            self._object(value, allowed.TIME_UNIT, pointer)
        elif not (isinstance(value, str) and value.isalpha() and len(value) <= 60):
            self.add(pointer, "A time unit is a word such as yearmonth.")

    def _key_values(self, value: Any, pointer: str) -> None:
        if isinstance(value, dict):
            self._rows.sequence(value, pointer)
        else:
            self._plain("value", value, pointer)

    def _sort(self, value: Any, pointer: str) -> None:
        if isinstance(value, dict):
            self._object(value, allowed.SORT, pointer)
        elif isinstance(value, list):
            for i, item in enumerate(self._list(value, pointer)):
                if isinstance(item, dict):
                    self._object(item, allowed.SORT | allowed.DATE_TIME, f"{pointer}/{i}")
        elif value is not None and not (isinstance(value, str) and allowed.PLAIN.match(value)):
            self.add(pointer, "A sort is ascending, descending, a channel, a field or a list.")

    def _tooltip(self, value: Any, pointer: str) -> None:
        if isinstance(value, dict) and set(value) == {"content"}:
            self._one_of(value["content"], {"data", "encoding"}, f"{pointer}/content")
            if value["content"] == "data":
                self._rows.shown_whole = f"{pointer}/content"
        else:
            self._property("text", value, pointer)

    def _domain(self, value: Any, pointer: str) -> None:
        """Domains are values of the data: any text, but nothing that computes except a parameter."""
        if isinstance(value, dict):
            known = (
                frozenset({"param", "field", "encoding", "unionWith", "expr"}) | allowed.DATE_TIME
            )
            if self._keys(value, known, pointer):
                for key, part in value.items():
                    if key == "unionWith":
                        self._domain(part, f"{pointer}/{key}")
                    else:
                        self._property(key, part, f"{pointer}/{key}")
        elif isinstance(value, list):
            for i, item in enumerate(self._list(value, pointer)):
                if isinstance(item, dict):
                    self._domain(item, f"{pointer}/{i}")

    def _range(self, value: Any, pointer: str) -> None:
        if isinstance(value, list):
            for i, item in enumerate(self._list(value, pointer)):
                if isinstance(item, str) and not (
                    allowed.COLOUR.match(item) or allowed.SHAPE_PATH.match(item)
                ):
                    self.add(f"{pointer}/{i}", "A range holds colours, shapes or numbers.")
                elif not isinstance(item, str):
                    self._range(item, f"{pointer}/{i}")
        elif isinstance(value, dict) and "field" in value:
            self._object(value, frozenset({"field", "timeUnit"}), pointer)
        else:
            self._plain("range", value, pointer)

    def _bins(self, value: Any, pointer: str) -> None:
        if isinstance(value, dict):
            self._rows.sequence(value, pointer)
        else:
            self._plain("values", value, pointer)

    def _tick_count(self, value: Any, pointer: str) -> None:
        if isinstance(value, (int, float)) and not is_number(value, 0, MAX_ITEMS):
            self.add(pointer, f"At most {MAX_ITEMS} ticks.")
        else:
            self._plain("tickCount", value, pointer)

    def _frame(self, value: Any, pointer: str) -> None:
        if isinstance(value, str):
            self._one_of(value, {"bounds", "group"}, pointer)
        else:
            self._plain("value", value, pointer)

    def _channel(self, channel: str, value: Any, pointer: str, *, condition: bool = False) -> None:
        if isinstance(value, list):
            for i, item in enumerate(self._list(value, pointer)):
                self._channel(channel, item, f"{pointer}/{i}", condition=condition)
            return
        known = allowed.CONDITION if condition else allowed.CHANNEL
        if value is None or not self._keys(value, known, pointer):
            return
        if "image" in (value.get("title"), value.get("field")):
            self.add(pointer, 'A field shown as "image" would be loaded as a picture by tooltips.')
        self._remember_step(value, pointer)
        for key, part in value.items():
            if key in known:
                self._channel_part(channel, key, part, f"{pointer}/{key}")

    def _remember_step(self, value: dict[str, Any], pointer: str) -> None:
        """How finely a field is cut can only be judged when all rows are known."""
        cut, field = value.get("bin"), value.get("field")
        step = cut.get("step") if isinstance(cut, dict) and not cut.get("binned") else None
        if isinstance(field, str) and is_number(step, 1e-300, math.inf):
            self._steps.append((f"{pointer}/bin/step", float(step or 1), field))

    def _channel_part(self, channel: str, key: str, value: Any, pointer: str) -> None:
        if key == "condition":
            self._channel(channel, value, pointer, condition=True)
        elif key == "test":
            self._predicate(value, pointer)
        elif key in {"value", "datum"}:
            self._property(_value_of(channel), value, pointer)
        else:
            self._property(key, value, pointer)

    def _parameter_name(self, value: Any, pointer: str) -> None:
        if not isinstance(value, str) or value not in self._names:
            self.add(pointer, "No parameter of this name is declared.")

    def _predicate(self, value: Any, pointer: str) -> None:
        if isinstance(value, str):
            self._expression(value, pointer)
            return
        if not self._keys(value, allowed.PREDICATE, pointer):
            return
        for key, part in value.items():
            at = f"{pointer}/{key}"
            if key in {"and", "or"}:
                for i, item in enumerate(self._list(part, at)):
                    self._predicate(item, f"{at}/{i}")
            elif key == "not":
                self._predicate(part, at)
            elif key in allowed.COMPARISONS:
                self._domain(part, at)
            elif key in allowed.PREDICATE:
                self._property(key, part, at)


_WHY = {
    "url": "A chart carries its data and loads nothing: put rows under values.",
    "href": "A chart has no links.",
    "usermeta": "Embedding options are not part of a chart here.",
    "projection": "Maps load other files and are not drawn here.",
    "signal": "Write an allowed expression as expr.",
    "signals": "Write an allowed expression as expr.",
    "element": "A chart does not touch the page around it.",
    "selection": "Selections are written as params.",
}


def _value_of(channel: str) -> str:
    """The property whose rules hold for a channel's constant."""
    if channel in allowed.COLOUR_CHANNELS:
        return "color"
    if channel == "shape":
        return "shape"
    return "text" if channel in {"text", "tooltip", "description"} else "datum"


def escaped(key: str) -> str:
    return key[:100].replace("~", "~0").replace("/", "~1")


def is_number(value: Any, low: float, high: float) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high


def _reaches_out(value: str) -> bool:
    squeezed = "".join(value.lower().split())
    return any(mark in squeezed for mark in ("url(", "://", "javascript:", "data:", "//"))
