"""What a statement would make out of nothing, as far as it can be told before it runs: rows, lists, texts, recursion.

Only what is written out is judged here. What depends on data is bounded at run time by the limits of its process.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

MOST_ROWS: Final = 1_000_000_000
MOST_ITEMS: Final = 10_000_000
MOST_CHARACTERS: Final = 100_000_000

Arguments = Sequence[float | str | None]


def _series(arguments: Arguments) -> float | None:
    """How many values `range` and `generate_series` give."""
    numbers = [each if isinstance(each, float) else None for each in arguments]
    start, stop, step = {
        1: (0.0, *numbers[:1], 1.0),
        2: (*numbers[:2], 1.0),
        3: tuple(numbers[:3]),
    }.get(len(numbers), (None, None, None))
    if start is None or stop is None or not step:
        return None
    return max((stop - start) / step, 0.0)


def _repeated(arguments: Arguments) -> float | None:
    text, count = (*arguments[:2], None, None)[:2]
    length = len(text) if isinstance(text, str) else 1
    return count * length if isinstance(count, float) else None


def _second(arguments: Arguments) -> float | None:
    count = arguments[1] if len(arguments) > 1 else None
    return count if isinstance(count, float) else None


Measure = Callable[[Arguments], float | None]
_TABLES: Final[Mapping[str, tuple[Measure, int, str]]] = {
    "range": (_series, MOST_ROWS, "rows"),
    "generate_series": (_series, MOST_ROWS, "rows"),
    "repeat": (_second, MOST_ROWS, "rows"),
    "repeat_row": (lambda arguments: _second((None, *arguments[-1:])), MOST_ROWS, "rows"),
}
_VALUES: Final[Mapping[str, tuple[Measure, int, str]]] = {
    "range": (_series, MOST_ITEMS, "items"),
    "generate_series": (_series, MOST_ITEMS, "items"),
    "list_resize": (_second, MOST_ITEMS, "items"),
    "array_resize": (_second, MOST_ITEMS, "items"),
    "repeat": (_repeated, MOST_CHARACTERS, "characters"),
    "lpad": (_second, MOST_CHARACTERS, "characters"),
    "rpad": (_second, MOST_CHARACTERS, "characters"),
}


def excess(function: Mapping[str, Any], *, as_table: bool) -> str | None:
    """Why a call makes too much, judged by the arguments that are written out."""
    name = str(function.get("function_name", "")).lower()
    measure = (_TABLES if as_table else _VALUES).get(name)
    if measure is None:
        return None
    counted, most, noun = measure
    made = counted([_constant(child) for child in function.get("children", [])])
    if made is None or made <= most:
        return None
    return f"{name}() would make {made:,.0f} {noun}; at most {most:,} may be made. Ask for fewer."


def _constant(node: Any) -> float | str | None:
    """The value of an expression of constants; None for everything else."""
    if not isinstance(node, dict):
        return None
    children = [_constant(child) for child in node.get("children", [])]
    match node.get("class"):
        case "CONSTANT":
            return _written(node["value"])
        case "CAST":
            inner = _constant(node["child"])
            try:
                return float(inner) if inner is not None else None
            except ValueError:
                return inner
        case "FUNCTION":
            numbers = [each for each in children if isinstance(each, float)]
            known = len(numbers) == len(children)
            return _calculated(str(node.get("function_name")), numbers) if known else None
        case "COMPARISON" if node.get("type") == "COMPARE_EQUAL":
            return _constant(node.get("right"))  # `num_rows = 5`, an argument by name
        case _:
            return None


def _written(value: Mapping[str, Any]) -> float | str | None:
    kind, content = str(value["type"]["id"]), value.get("value")
    if kind == "VARCHAR":
        return str(content)
    if kind == "DECIMAL" and isinstance(content, int):
        info = value["type"].get("type_info") or {}
        return content / 10.0 ** int(info.get("scale", 0))
    if isinstance(content, dict) and {"upper", "lower"} <= set(content):
        return float((int(content["upper"]) << 64) + int(content["lower"]))
    return float(content) if isinstance(content, int | float) else None


def _calculated(name: str, numbers: Sequence[float]) -> float | None:
    try:
        match name, numbers:
            case "+", [left, right]:
                return left + right
            case "-", [left, right]:
                return left - right
            case "-", [only]:
                return -only
            case "*", [left, right]:
                return left * right
            case (("**" | "^" | "pow" | "power"), [left, right]):
                return float(left**right)
            case (("/" | "//"), [left, right]) if right:
                return left / right
    except (OverflowError, ArithmeticError):
        return float("inf")
    return None


def is_bounded(recursion: Mapping[str, Any]) -> bool:
    """Whether the recursive part of a common table expression has a condition on what it reads, which can end it."""
    return any(_conditions(recursion["right"]))


def _conditions(node: Any) -> Iterator[bool]:
    if isinstance(node, list):
        for item in node:
            yield from _conditions(item)
    if not isinstance(node, dict):
        return
    for key in ("where_clause", "having", "qualify", "condition"):
        if node.get(key) is not None and _reads_a_column(node[key]):
            yield True
    # A join by equal names ends where nothing fits any more.
    if node.get("type") == "JOIN" and (
        node.get("using_columns") or node.get("ref_type") in {"NATURAL", "POSITIONAL"}
    ):
        yield True
    for item in node.values():
        yield from _conditions(item)


def _reads_a_column(node: Any) -> bool:
    if isinstance(node, list):
        return any(_reads_a_column(item) for item in node)
    if not isinstance(node, dict):
        return False
    return node.get("class") == "COLUMN_REF" or any(map(_reads_a_column, node.values()))


def stops_early(node: Mapping[str, Any]) -> bool:
    """Whether a query takes the first rows of what it reads and needs no more: a LIMIT with nothing that wants all."""
    kinds = {str(each.get("type")) for each in node.get("modifiers", [])}
    limits = [each for each in node.get("modifiers", []) if each.get("type") == "LIMIT_MODIFIER"]
    return (
        kinds == {"LIMIT_MODIFIER"}
        and isinstance(_constant(limits[0].get("limit")), float)
        and node.get("type") == "SELECT_NODE"
        and not node.get("group_expressions")
        and (node.get("from_table") or {}).get("type") == "BASE_TABLE"
        and not any(_is_call(each) for each in node.get("select_list", []))
        and node.get("qualify") is None
        and node.get("where_clause") is None
    )


def _is_call(node: Any) -> bool:
    """Whether an expression may want all rows, as aggregates and windows do; operators do not."""
    if isinstance(node, list):
        return any(_is_call(item) for item in node)
    if not isinstance(node, dict):
        return False
    called = node.get("class") == "WINDOW" or (
        node.get("class") == "FUNCTION" and not node.get("is_operator")
    )
    return called or any(map(_is_call, node.values()))
