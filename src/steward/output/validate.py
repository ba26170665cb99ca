"""Check a Vega-Lite specification that a person or an agent wrote, before anybody draws it.

`validate` raises `Invalid` with one problem per place (as a JSON pointer); it changes nothing. What is not known to be
harmless is refused: see `allowed` for the names and `expressions` for the code that may stand in a chart.
"""

import json
from collections.abc import Callable
from typing import Any

from steward.core import Invalid, Problem, TooLarge
from steward.output import allowed
from steward.output.spec_transforms import Transforms
from steward.output.spec_values import escaped, is_number

MAX_BYTES = 5_000_000
MAX_DEPTH = 24
MAX_VIEWS = 40
MAX_SIZE = 4_000
_MAX_CLASSES = 10_000


def validate(spec: Any) -> None:
    """Raise unless the specification may be drawn."""
    problems = check(spec)
    if not problems:
        return
    first = problems[0]
    more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
    raise Invalid(
        f"The chart cannot be drawn: {first.pointer or '/'}: {first.message}{more}",
        code="unsafe-chart",
        problems=problems,
    )


def check(spec: Any) -> tuple[Problem, ...]:
    """Every problem of a specification, in the order of its text."""
    if not isinstance(spec, dict):
        return (Problem("", "A chart is a JSON object."),)
    _bounded(spec)
    checker = _Views()
    checker.top(spec)
    return tuple(checker.problems)


def _bounded(spec: dict[str, Any]) -> None:
    """Size and depth first, so that the rest may walk the specification freely."""
    level: list[Any] = [spec]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            if isinstance(node, (dict, list))
            for child in (node.values() if isinstance(node, dict) else node)
        ]
    if any(isinstance(node, (dict, list)) for node in level):
        raise TooLarge(f"A chart nests at most {MAX_DEPTH} levels.")
    try:
        size = len(json.dumps(spec, allow_nan=False))
    except (TypeError, ValueError) as problem:
        raise Invalid(
            "A chart holds only JSON: no NaN, no infinity, no other objects."
        ) from problem
    if size > MAX_BYTES:
        raise TooLarge(
            f"A chart has at most {MAX_BYTES:,} bytes, not {size:,}. Aggregate its data."
        )


class _Views(Transforms):
    """One walk over one specification."""

    _views = 0

    def top(self, spec: dict[str, Any]) -> None:
        self._collect_names(spec)
        schema = spec.get("$schema")
        if schema is not None and not (isinstance(schema, str) and allowed.SCHEMAS.match(schema)):
            self.add("/$schema", "Only Vega-Lite 5 or 6 schemas are known.")
        self._rows.datasets(spec.get("datasets"), "/datasets")
        self._view(spec, "", top=True)
        if "config" in spec:
            self._config(spec["config"], "/config")
        for key in ("background", "padding", "autosize"):
            if key in spec:
                self._property(key, spec[key], f"/{key}")
        for pointer, step, field in self._steps:
            if self._rows.span(field) / step > _MAX_CLASSES:
                self.add(
                    pointer, f"The step would cut the data into over {_MAX_CLASSES:,} classes."
                )
        self._rows.finish()

    def _collect_names(self, node: Any) -> None:
        """Parameters may be used before they are declared, so their names are gathered first."""
        if isinstance(node, list):
            for item in node:
                self._collect_names(item)
        elif isinstance(node, dict):
            for key, value in node.items():
                if key == "params" and isinstance(value, list):
                    names = [one.get("name") for one in value if isinstance(one, dict)]
                    self._names |= {name for name in names if isinstance(name, str)}
                elif key not in {"values", "datasets"}:
                    self._collect_names(value)

    def _view(self, node: Any, pointer: str, *, top: bool = False) -> None:
        if not self._keys(node, allowed.TOP if top else allowed.VIEW, pointer):
            return
        self._views += 1
        if self._views == MAX_VIEWS + 1:
            self.add(pointer, f"A chart has at most {MAX_VIEWS} views.")
        for key, value in node.items():
            handler = self._view_parts().get(key)
            if handler is not None:
                handler(value, f"{pointer}/{key}")
            elif key in allowed.VIEW:
                self._property(key, value, f"{pointer}/{key}")
        if not {"mark", "layer", "hconcat", "vconcat", "concat", "spec"} & set(node):
            self.add(pointer, "A view has a mark, layers, or views inside it.")

    def _view_parts(self) -> dict[str, Callable[[Any, str], None]]:
        return {
            "data": self._rows.data,
            "transform": self._transform_list,
            "mark": self._mark,
            "encoding": self._encoding,
            "width": self._size,
            "height": self._size,
            "view": lambda value, at: self._object(value, allowed.VIEW_STYLE, at),
            "params": self._parameters,
            "layer": self._view_list,
            "hconcat": self._view_list,
            "vconcat": self._view_list,
            "concat": self._view_list,
            "spec": self._view,
            "facet": self._facet,
            "repeat": self._repeat,
            "resolve": self._resolve,
            "title": self._title,
        }

    def _view_list(self, value: Any, pointer: str) -> None:
        for i, item in enumerate(self._list(value, pointer)):
            self._view(item, f"{pointer}/{i}")

    def _size(self, value: Any, pointer: str) -> None:
        if value == "container" or is_number(value, 0, MAX_SIZE):
            return
        if (
            isinstance(value, dict)
            and set(value) <= {"step", "for"}
            and is_number(value.get("step"), 0.1, 500)
        ):
            return
        self.add(
            pointer, f'A size is a number up to {MAX_SIZE}, "container", or {{"step": up to 500}}.'
        )

    def _facet(self, value: Any, pointer: str) -> None:
        if isinstance(value, dict) and {"row", "column"} & set(value):
            for key, part in value.items():
                if key not in {"row", "column"}:
                    self.add(f"{pointer}/{key}", "A facet has a row and a column.")
                else:
                    self._channel(key, part, f"{pointer}/{key}")
            return
        self._channel("facet", value, pointer)

    def _repeat(self, value: Any, pointer: str) -> None:
        lists = [value]
        if isinstance(value, dict):
            unknown = set(value) - {"row", "column", "layer"}
            for key in sorted(unknown):
                self.add(f"{pointer}/{escaped(key)}", "Views repeat over row, column or layer.")
            lists = [value[key] for key in ("row", "column", "layer") if key in value]
        views = 1
        for fields in lists:
            for i, name in enumerate(self._list(fields, pointer)):
                self._field(name, f"{pointer}/{i}")
            views *= max(1, len(fields)) if isinstance(fields, list) else 1
        if views > MAX_VIEWS:
            self.add(pointer, f"A chart has at most {MAX_VIEWS} views.")

    def _resolve(self, value: Any, pointer: str) -> None:
        if not self._keys(value, frozenset({"scale", "axis", "legend"}), pointer):
            return
        for part, choices in value.items():
            at = f"{pointer}/{part}"
            if self._keys(choices, allowed.CHANNELS, at):
                for channel, choice in choices.items():
                    self._one_of(choice, {"shared", "independent"}, f"{at}/{channel}")

    def _title(self, value: Any, pointer: str) -> None:
        if isinstance(value, dict) and "expr" not in value:
            self._object(value, allowed.TITLE, pointer)
        else:
            self._property("title", value, pointer)

    def _mark(self, value: Any, pointer: str) -> None:
        kind = value.get("type") if isinstance(value, dict) else value
        if not isinstance(kind, str) or kind not in allowed.MARKS:
            hint = " Images and maps load other files." if kind in ("image", "geoshape") else ""
            self.add(pointer, f"A mark is one of {', '.join(sorted(allowed.MARKS))}.{hint}")
        if isinstance(value, dict):
            self._object(value, allowed.MARK, pointer)

    def _encoding(self, value: Any, pointer: str) -> None:
        if not self._keys(value, allowed.CHANNELS, pointer):
            return
        for channel, definition in value.items():
            if channel in allowed.CHANNELS:
                self._channel(channel, definition, f"{pointer}/{channel}")

    def _config(self, value: Any, pointer: str) -> None:
        kinds = (
            (allowed.CONFIG_AXES, allowed.AXIS),
            (allowed.CONFIG_HEADERS, allowed.HEADER),
            (allowed.CONFIG_MARKS, allowed.MARK),
            (allowed.CONFIG_LAYOUTS, allowed.LAYOUT),
            (frozenset({"legend"}), allowed.LEGEND),
            (frozenset({"title"}), allowed.TITLE),
            (frozenset({"view"}), allowed.VIEW_STYLE),
            (frozenset({"scale"}), allowed.SCALE_CONFIG),
        )
        known = allowed.CONFIG_SCALARS | {"range"}
        known = known.union(*(names for names, _ in kinds))
        if not self._keys(value, known, pointer):
            return
        for key, part in value.items():
            at = f"{pointer}/{key}"
            inside = next((properties for names, properties in kinds if key in names), None)
            if inside is not None:
                self._object(part, inside, at)
            elif key == "range":
                if self._keys(part, allowed.RANGE_CONFIG, at):
                    for name, colours in part.items():
                        self._range(colours, f"{at}/{name}")
            elif key in known:
                self._property(key, part, at)
