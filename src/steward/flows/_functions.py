"""The operators and functions of expressions: CEL's, on JSON values, each charged to a budget.

They differ from `celpy`'s own where JSON needs it: whole numbers and fractions mix, values of different types are
unequal instead of an error, `string(true)` is `true`, a negative index is an error, nothing is infinite.
"""

import math
from collections.abc import Callable
from typing import Any, Final

import re2  # type: ignore[import-untyped]
from celpy import celtypes as cel
from celpy.evaluation import CELEvalError, base_functions

from steward.flows._texts import text_of
from steward.flows._values import BUDGET, LONGEST_INT, double, from_cel, whole


def _whole(value: int) -> cel.IntType:
    if not -LONGEST_INT <= value < LONGEST_INT:
        raise ValueError("overflow")
    return whole(value)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool | cel.BoolType)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not _is_bool(value)


def _is_number(value: Any) -> bool:
    return (isinstance(value, int | float)) and not _is_bool(value)


def _passing_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Errors are values in CEL: an operator with one gives it back."""

    def guarded(*values: Any) -> Any:
        for value in values:
            if isinstance(value, CELEvalError):
                return value
        return function(*values)

    guarded.__name__ = function.__name__
    return guarded


def _number(
    a: Any, b: Any, whole: Callable[[int, int], int], fraction: Callable[[float, float], float]
) -> Any:
    if not (_is_number(a) and _is_number(b)):
        raise TypeError("numbers only")
    if _is_int(a) and _is_int(b):
        return _whole(whole(int(a), int(b)))
    return double(fraction(float(a), float(b)))


def _add(a: Any, b: Any) -> Any:
    if isinstance(a, str) and isinstance(b, str):
        BUDGET.spend((len(a) + len(b)) // 64)
        return cel.StringType(str(a) + str(b))
    if isinstance(a, list) and isinstance(b, list):
        BUDGET.spend(len(a) + len(b))
        return cel.ListType([*a, *b])
    return _number(a, b, lambda x, y: x + y, lambda x, y: x + y)


def _subtract(a: Any, b: Any) -> Any:
    return _number(a, b, lambda x, y: x - y, lambda x, y: x - y)


def _multiply(a: Any, b: Any) -> Any:
    return _number(a, b, lambda x, y: x * y, lambda x, y: x * y)


def _divide(a: Any, b: Any) -> Any:
    return _number(a, b, _quotient, lambda x, y: x / y)


def _quotient(a: int, b: int) -> int:
    """CEL cuts towards zero, Python down."""
    found = abs(a) // abs(b)
    return found if (a < 0) == (b < 0) else -found


def _modulo(a: Any, b: Any) -> Any:
    if not (_is_int(a) and _is_int(b)):
        raise TypeError("whole numbers only")
    return _whole(int(a) - _quotient(int(a), int(b)) * int(b))


def _negate(a: Any) -> Any:
    return _subtract(cel.IntType(0), a)


def _equal(a: Any, b: Any) -> bool:
    BUDGET.spend(1)
    if _is_bool(a) or _is_bool(b):
        return _is_bool(a) and _is_bool(b) and bool(a) == bool(b)
    if _is_number(a) and _is_number(b):
        plain = (int(a) if _is_int(a) else float(a), int(b) if _is_int(b) else float(b))
        return plain[0] == plain[1]
    if isinstance(a, str) and isinstance(b, str):
        BUDGET.spend(min(len(a), len(b)) // 64)
        return str(a) == str(b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    return a is None and b is None


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    def ordered(a: Any, b: Any) -> Any:
        if _is_number(a) and _is_number(b):
            plain = (int(a) if _is_int(a) else float(a), int(b) if _is_int(b) else float(b))
            return cel.BoolType(compare(*plain))
        if isinstance(a, str) and isinstance(b, str):
            BUDGET.spend(min(len(a), len(b)) // 64)
            return cel.BoolType(compare(str(a), str(b)))
        raise TypeError("numbers with numbers, text with text")

    return _passing_errors(ordered)


def _logical(decides: bool) -> Callable[..., Any]:
    """`&&` and `||`: a side that decides does so even if the other one is an error."""

    def logical(a: Any, b: Any) -> Any:
        for side in (a, b):
            if _is_bool(side) and bool(side) is decides:
                return cel.BoolType(decides)
        for side in (a, b):
            if isinstance(side, CELEvalError):
                return side
        if not (_is_bool(a) and _is_bool(b)):
            raise TypeError("booleans only")
        return cel.BoolType(not decides)

    return logical


_and: Final = _logical(False)
_or: Final = _logical(True)


def _in(item: Any, container: Any) -> Any:
    if isinstance(container, list):
        return cel.BoolType(any(_equal(item, each) for each in container))
    if isinstance(container, dict):
        return cel.BoolType(item in container)
    raise TypeError("a list or an object on the right")


def _at(container: Any, index: Any) -> Any:
    if isinstance(container, list) and _is_int(index):
        if index < 0:
            raise IndexError("negative")
        return container[index]
    if isinstance(container, dict) and isinstance(index, str):
        return container[index]
    raise TypeError("a list with a number or an object with a text")


def _size(value: Any) -> Any:
    if isinstance(value, str | list | dict):
        return whole(len(value))
    raise TypeError("text, list or object")


def _string(value: Any) -> Any:
    made = "null" if value is None else text_of(from_cel(value))
    BUDGET.spend(len(made) // 64)
    return cel.StringType(made)


def _int(value: Any) -> Any:
    if isinstance(value, str | int | float) and not _is_bool(value):
        if isinstance(value, str) and len(value) > 30:
            raise ValueError("too long for a number")
        return _whole(int(str(value)) if isinstance(value, str) else int(value))
    raise TypeError("text or number")


def _to_double(value: Any) -> Any:
    if isinstance(value, str | int | float) and not _is_bool(value):
        return double(str(value) if isinstance(value, str) else value)
    raise TypeError("text or number")


def _bool(value: Any) -> Any:
    if _is_bool(value):
        return value
    if isinstance(value, str) and value in {"true", "false"}:
        return cel.BoolType(str(value) == "true")
    raise TypeError("true or false")


def _text(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of texts; its cost is their length."""

    def of_texts(*values: Any) -> Any:
        if not all(isinstance(value, str) for value in values):
            raise TypeError("text only")
        BUDGET.spend(sum(len(value) for value in values) // 64)
        found = function(*(str(value) for value in values))
        if isinstance(found, bool):
            return cel.BoolType(found)
        if isinstance(found, list):
            BUDGET.spend(len(found))
            return cel.ListType([cel.StringType(each) for each in found])
        return cel.StringType(found)

    return _passing_errors(of_texts)


def _contains(container: Any, item: Any) -> Any:
    if isinstance(container, str) and isinstance(item, str):
        BUDGET.spend(len(container) // 64)
        return cel.BoolType(str(item) in str(container))
    return _in(item, container)


def _matches(text: str, pattern: str) -> bool:
    if len(pattern) > 500:
        raise ValueError("the pattern is too long")
    try:
        return re2.search(pattern, text) is not None
    except re2.error:
        raise ValueError("not a regular expression") from None


def _join(values: Any, separator: Any) -> Any:
    if not isinstance(values, list) or not isinstance(separator, str):
        raise TypeError("a list of texts and a text")
    texts = [str(_string(value)) if value is not None else "" for value in values]
    joined = str(separator).join(texts)
    BUDGET.spend(len(joined) // 64)
    return cel.StringType(joined)


def _sum(values: Any) -> Any:
    if not isinstance(values, list):
        raise TypeError("a list of numbers")
    total: Any = cel.IntType(0)
    for value in values:
        BUDGET.spend(1)
        total = _number(total, value, lambda x, y: x + y, lambda x, y: x + y)
    return total


def _extreme(choose: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    before = _ordered(choose)

    def extreme(values: Any) -> Any:
        if not isinstance(values, list) or not values:
            raise TypeError("a list that is not empty")
        found = values[0]
        for value in values[1:]:
            BUDGET.spend(1)
            if before(value, found):
                found = value
        return found

    return _passing_errors(extreme)


def _round(value: Any) -> Any:
    if not _is_number(value):
        raise TypeError("a number")
    if isinstance(value, float):
        # Halves go away from zero, as people round.
        return _whole(int(math.copysign(math.floor(abs(value) + 0.5), value)))
    return _whole(int(value))


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{name: base_functions[name] for name in ("!_", "_?_:_")},
    "_&&_": _and,
    "_||_": _or,
    "-_": _passing_errors(_negate),
    "_+_": _passing_errors(_add),
    "_-_": _passing_errors(_subtract),
    "_*_": _passing_errors(_multiply),
    "_/_": _passing_errors(_divide),
    "_%_": _passing_errors(_modulo),
    "_==_": _passing_errors(lambda a, b: cel.BoolType(_equal(a, b))),
    "_!=_": _passing_errors(lambda a, b: cel.BoolType(not _equal(a, b))),
    "_<_": _ordered(lambda a, b: a < b),
    "_<=_": _ordered(lambda a, b: a <= b),
    "_>_": _ordered(lambda a, b: a > b),
    "_>=_": _ordered(lambda a, b: a >= b),
    "_in_": _passing_errors(_in),
    "_[_]": _passing_errors(_at),
    "size": _passing_errors(_size),
    "string": _passing_errors(_string),
    "int": _passing_errors(_int),
    "double": _passing_errors(_to_double),
    "bool": _passing_errors(_bool),
    "contains": _passing_errors(_contains),
    "startsWith": _text(lambda text, start: text.startswith(start)),
    "endsWith": _text(lambda text, end: text.endswith(end)),
    "matches": _text(_matches),
    "lower": _text(lambda text: text.lower()),
    "upper": _text(lambda text: text.upper()),
    "trim": _text(lambda text: text.strip()),
    "split": _text(lambda text, separator: text.split(separator)),
    "join": _passing_errors(_join),
    "sum": _passing_errors(_sum),
    "min": _extreme(lambda a, b: a < b),
    "max": _extreme(lambda a, b: a > b),
    "round": _passing_errors(_round),
}

_TEXTS: Final = (("string", "string", "boolean"),)
_NUMBERS: Final = (("number", "number", "number"),)
_ORDERED: Final = (("number", "number", "boolean"), ("string", "string", "boolean"))

SIGNATURES: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "!_": (("boolean", "boolean"),),
    "_&&_": (("boolean", "boolean", "boolean"),),
    "_||_": (("boolean", "boolean", "boolean"),),
    "-_": (("number", "number"),),
    "_+_": (*_NUMBERS, ("string", "string", "string"), ("array", "array", "array")),
    "_-_": _NUMBERS,
    "_*_": _NUMBERS,
    "_/_": _NUMBERS,
    "_%_": _NUMBERS,
    "_==_": (("any", "any", "boolean"),),
    "_!=_": (("any", "any", "boolean"),),
    "_<_": _ORDERED,
    "_<=_": _ORDERED,
    "_>_": _ORDERED,
    "_>=_": _ORDERED,
    "_in_": (("any", "array", "boolean"), ("any", "object", "boolean")),
    "_[_]": (("array", "number", "any"), ("object", "string", "any")),
    "size": (("string", "number"), ("array", "number"), ("object", "number")),
    "string": (("any", "string"),),
    "int": (("string", "number"), ("number", "number")),
    "double": (("string", "number"), ("number", "number")),
    "bool": (("boolean", "boolean"), ("string", "boolean")),
    "contains": (*_TEXTS, ("array", "any", "boolean"), ("object", "any", "boolean")),
    "startsWith": _TEXTS,
    "endsWith": _TEXTS,
    "matches": _TEXTS,
    "lower": (("string", "string"),),
    "upper": (("string", "string"),),
    "trim": (("string", "string"),),
    "split": (("string", "string", "array"),),
    "join": (("array", "string", "string"),),
    "sum": (("array", "number"),),
    "min": (("array", "any"),),
    "max": (("array", "any"),),
    "round": (("number", "number"),),
}
"""The types of JSON value that each takes, and last the one it gives; the browser checks by the same table."""

NAMES: Final = frozenset(name for name in FUNCTIONS if name.isalpha())
"""What may be called by name; the rest are operators."""
