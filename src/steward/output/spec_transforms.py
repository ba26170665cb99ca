"""The transforms and parameters of a Vega-Lite specification."""

from typing import Any

from steward.output import allowed, expressions
from steward.output.spec_values import MAX_ITEMS, Values, escaped, is_number

MAX_TRANSFORMS = 60
# By transform and argument; the empty name holds for every transform.
_LIMITS: dict[tuple[str, str], tuple[float, float]] = {
    ("", "steps"): (1, MAX_ITEMS),
    ("", "minsteps"): (1, MAX_ITEMS),
    ("", "maxsteps"): (1, MAX_ITEMS),
    ("", "sample"): (1, 1_000_000),
    ("quantile", "step"): (0.001, 1),
    ("regression", "order"): (1, 20),
    ("pivot", "limit"): (0, MAX_ITEMS),
}
_FIELDS = {
    *(
        (name, name)
        for name in ("density", "extent", "flatten", "fold", "impute", "loess", "lookup")
    ),
    *((name, name) for name in ("pivot", "quantile", "regression", "stack")),
    ("pivot", "value"),
}


class Transforms(Values):
    """Checks what computes new fields and what reacts to a reader's pointer."""

    _transforms = 0

    def _transform_list(self, value: Any, pointer: str) -> None:
        for i, item in enumerate(self._list(value, pointer)):
            self._transforms += 1
            if self._transforms == MAX_TRANSFORMS + 1:
                self.add(pointer, f"A chart has at most {MAX_TRANSFORMS} transforms.")
            self._transform(item, f"{pointer}/{i}")

    def _transform(self, value: Any, pointer: str) -> None:
        if not isinstance(value, dict):
            self.add(pointer, "A transform is an object.")
            return
        kind = next((name for name in allowed.TRANSFORMS if name in value), None)
        if kind is None:
            self.add(pointer, "This transform is not known.")
            return
        if self._keys(value, allowed.TRANSFORMS[kind], pointer):
            self._remember_step(value, pointer)
            for key, part in value.items():
                if key in allowed.TRANSFORMS[kind]:
                    self._transform_part(kind, key, part, f"{pointer}/{key}")

    def _transform_part(self, kind: str, key: str, value: Any, pointer: str) -> None:
        limits = _LIMITS.get((kind, key)) or _LIMITS.get(("", key))
        if limits is not None:
            if not is_number(value, *limits):
                self.add(pointer, f"A number from {limits[0]:g} to {limits[1]:g} belongs here.")
        elif key == "calculate":
            self._expression(value, pointer)
        elif key == "filter":
            self._predicate(value, pointer)
        elif key == "as":
            self._new_field(value, pointer)
        elif key == "from":
            self._lookup(value, pointer)
        elif key in {"aggregate", "joinaggregate", "window"}:
            self._operations(value, pointer)
        elif key in {"groupby", "key", "on"} or (kind, key) in _FIELDS:
            self._fields(value, pointer)
        else:
            self._property(key, value, pointer)

    def _lookup(self, value: Any, pointer: str) -> None:
        if not self._keys(value, frozenset({"data", "key", "fields", "param"}), pointer):
            return
        for key, part in value.items():
            if key == "data":
                self._rows.data(part, f"{pointer}/data")
            elif key == "param":
                self._parameter_name(part, f"{pointer}/param")
            else:
                self._fields(part, f"{pointer}/{key}")

    def _operations(self, value: Any, pointer: str) -> None:
        for i, item in enumerate(self._list(value, pointer)):
            at = f"{pointer}/{i}"
            if self._keys(item, frozenset({"op", "field", "as", "param"}), at):
                for key, part in item.items():
                    if key == "as":
                        self._new_field(part, f"{at}/as")
                    elif key == "param":
                        self._plain("value", part, f"{at}/param")
                    else:
                        self._property(key, part, f"{at}/{key}")

    def _fields(self, value: Any, pointer: str) -> None:
        if isinstance(value, list):
            for i, name in enumerate(self._list(value, pointer)):
                self._field(name, f"{pointer}/{i}")
        else:
            self._field(value, pointer)

    def _parameters(self, value: Any, pointer: str) -> None:
        for i, item in enumerate(self._list(value, pointer)):
            at = f"{pointer}/{i}"
            if not self._keys(item, allowed.PARAMETER, at):
                continue
            name = item.get("name")
            if not (isinstance(name, str) and allowed.NAME.match(name)) or name in {
                "datum",
                "event",
                "item",
                "parent",
                *expressions.FORBIDDEN_NAMES,
            }:
                self.add(
                    f"{at}/name", "A parameter's name is letters, digits and _; some are taken."
                )
            if "expr" in item:
                self._expression(item["expr"], f"{at}/expr")
            if "bind" in item:
                self._binding(item["bind"], f"{at}/bind")
            if "select" in item:
                self._selection(item["select"], f"{at}/select")
            for key in ("value", "views"):
                if key in item:
                    self._initial(item[key], f"{at}/{key}")

    def _initial(self, value: Any, pointer: str) -> None:
        """A parameter's first value: scalars, lists of them, or fields with scalars."""
        if isinstance(value, dict):
            for key, part in value.items():
                self._field(key, f"{pointer}/{escaped(key)}")
                self._initial(part, f"{pointer}/{escaped(key)}")
        elif isinstance(value, list):
            for i, item in enumerate(self._list(value, pointer)):
                self._initial(item, f"{pointer}/{i}")
        elif isinstance(value, str):
            self._text("value", value, pointer)

    def _binding(self, value: Any, pointer: str) -> None:
        if value in ("scales", "legend"):
            return
        if not self._keys(value, allowed.INPUT, pointer):
            return
        self._one_of(value.get("input"), allowed.INPUTS, f"{pointer}/input")
        for key, part in value.items():
            if key != "input":
                self._plain(
                    "text" if key in {"name", "options", "labels"} else key,
                    part,
                    f"{pointer}/{key}",
                )

    def _selection(self, value: Any, pointer: str) -> None:
        if value in ("point", "interval"):
            return
        if not self._keys(value, allowed.SELECTION, pointer):
            return
        self._one_of(value.get("type"), {"point", "interval"}, f"{pointer}/type")
        for key in ("on", "clear", "translate", "zoom", "toggle"):
            part = value.get(key)
            # Longer forms hold expressions over the browser's events.
            if part is None or isinstance(part, bool):
                continue
            if key == "toggle" or not (isinstance(part, str) and allowed.EVENT.match(part)):
                self.add(
                    f"{pointer}/{key}", "Only true, false or the plain name of a pointer event."
                )
        if "fields" in value:
            self._fields(value["fields"], f"{pointer}/fields")
        if "mark" in value:
            self._object(value["mark"], allowed.MARK, f"{pointer}/mark")
        for key in ("encodings", "resolve"):
            if key in value:
                self._plain(key, value[key], f"{pointer}/{key}")
