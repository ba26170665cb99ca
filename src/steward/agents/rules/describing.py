"""A query plan in words, so that whoever reads an answer knows which rows were meant."""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any, Final

from steward.agents.asking.compiling import FUNCTION_NAMES

_SIGNS: Final = {"=": "is", "!=": "is not", ">": "over", "<": "under", ">=": "at least", "<=": "at most"}  # fmt: skip
_MOST_VALUES: Final = 4


def filters_in_words(document: Mapping[str, Any]) -> str:
    """Which rows: "issue_date in 2025 and billing_country is DE"; empty for all of them."""
    said: list[str] = []
    period = period_of(document)
    if period is not None:
        said.append(f"{period[0]} {_stretch(period[1], period[2])}")
    for each in document.get("filters", ()):
        names = list(dict.fromkeys(columns_of(each)))
        if period is not None and names == [period[0]] and _is_bound(each):
            continue
        said.append(_condition(each, names))
    return " and ".join(each for each in said if each)


def in_words(document: Mapping[str, Any]) -> str:
    """The whole query in a sentence."""
    what = [
        f"{FUNCTION_NAMES.get(each['function'], each['function'])}"
        + (f" of {each['column']}" if each.get("column") else " of rows")
        for each in document.get("aggregate", ())
    ]
    said = f"{' and '.join(what) or 'rows'} from {document['source']}"
    for each in document.get("joins", ()):
        pairs = " and ".join(f"{on['left']} = {on['right']}" for on in each["on"])
        said += f", with {each['dataset']} by {pairs}"
    rows = filters_in_words(document)
    said += f", where {rows}" if rows else ""
    if document.get("group"):
        said += f", by {' and '.join(document['group'])}"
    for each in (*document.get("compute", ()), *document.get("window", ())):
        said += f", with {each['name'].replace('_', ' ')}"
    if document.get("having"):
        having = [_condition(each, list(columns_of(each))) for each in document["having"]]
        said += f", only groups with {' and '.join(having)}"
    if document.get("order"):
        said += f", {_order(document)}"
    if document.get("limit"):
        said += f", at most {document['limit']}"
    return f"{said[0].upper()}{said[1:]}."


def _order(document: Mapping[str, Any]) -> str:
    first = document["order"][0]
    falls = first.get("direction") == "descending"
    figures = {
        each["name"] for key in ("aggregate", "compute", "window") for each in document.get(key, ())
    }
    if first["column"] in figures:
        return f"{'largest' if falls else 'smallest'} {first['column'].replace('_', ' ')} first"
    return f"in {'falling ' if falls else ''}order of {first['column']}"


def _condition(piece: Mapping[str, Any], names: list[str]) -> str:
    name = names[0] if names else "a value"
    if "is_null" in piece:
        return f"{name} {'is there' if piece.get('negate') else 'is missing'}"
    if "among" in piece:
        values = [_value(each) for each in piece["among"]]
        more = " …" if len(values) > _MOST_VALUES else ""
        sign = "is none of" if piece.get("negate") else "is"
        return f"{name} {sign} {' or '.join(values[:_MOST_VALUES])}{more}"
    if "compare" in piece:
        return f"{name} {_SIGNS.get(piece['compare'], piece['compare'])} {_value(piece['right'])}"
    if "any" in piece:
        alternatives = [filters_in_words({"filters": _flat(each)}) for each in piece["any"]]
        return " or ".join(each for each in alternatives if each)
    return f"a condition on {' and '.join(names)}" if names else ""


def _flat(piece: Mapping[str, Any]) -> list[Any]:
    return list(piece["all"]) if "all" in piece else [piece]


def _value(piece: Any) -> str:
    value = piece.get("value") if isinstance(piece, Mapping) else piece
    if isinstance(value, Mapping):
        value = next(iter(value.values()), "")
    return str(value)


def _is_bound(piece: Mapping[str, Any]) -> bool:
    right = piece.get("right")
    value = right.get("value") if isinstance(right, Mapping) else None
    return isinstance(value, Mapping) and "date" in value


def _stretch(start: date, end: date) -> str:
    """2025, March 2025, or from day to day."""
    if (start.month, start.day, end.month, end.day) == (1, 1, 1, 1):
        last = end.year - 1
        return f"in {start.year}" if last == start.year else f"from {start.year} to {last}"
    if start.day == end.day == 1 and (end - start).days <= 31:
        return f"in {start:%Y-%m}"
    return f"from {start.isoformat()} to {(end - timedelta(days=1)).isoformat()}"


def columns_of(piece: Any) -> Iterator[str]:
    if isinstance(piece, list):
        for each in piece:
            yield from columns_of(each)
    elif isinstance(piece, dict):
        if isinstance(piece.get("column"), str):
            yield piece["column"]
        for each in piece.values():
            yield from columns_of(each)


def period_of(document: Mapping[str, Any]) -> tuple[str, date, date] | None:
    """The column by which a query is limited in time, and from when to when."""
    starts: dict[str, date] = {}
    ends: dict[str, date] = {}
    for each in document.get("filters", ()):
        found = _bound(each)
        if found is not None:
            (starts if each["compare"] == ">=" else ends)[found[0]] = found[1]
    both = next((name for name in starts if name in ends), None)
    return None if both is None else (both, starts[both], ends[both])


def _bound(piece: Any) -> tuple[str, date] | None:
    if not isinstance(piece, dict) or piece.get("compare") not in {">=", "<"}:
        return None
    value = piece["right"].get("value") if isinstance(piece.get("right"), dict) else None
    names = set(columns_of(piece.get("left")))
    if not isinstance(value, dict) or "date" not in value or len(names) != 1:
        return None
    return names.pop(), date.fromisoformat(str(value["date"]))
