"""`PIVOT t ON column` without a list of values: asks for the values first, then runs as if they had been written.

DuckDB would run a second statement that creates a type. Here the statement gets a list with a mark in it, is checked like
any other, and each list is then filled with the values that a query over the same checked source finds.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlglot
from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

MOST_VALUES: Final = 1000
_MARK: Final = "values of a pivot"
_TEMPLATE: Final = f"SELECT DISTINCT CAST(x AS VARCHAR) AS v FROM t LIMIT {MOST_VALUES + 1}"
_PIVOTS: Final = frozenset({"PIVOT", "PIVOT_WIDER"})
_ENDS: Final = frozenset(
    {"USING", "GROUP", "ORDER", "LIMIT", "OFFSET", "UNION", "INTERSECT", "EXCEPT", ";"}
)
_SOURCES: Final = frozenset({"SELECT", "FROM", "WITH", "VALUES", "TABLE", "(", *_PIVOTS})


@dataclass(frozen=True)
class ValueList:
    """A list of a checked statement that is still to be filled."""

    pivot: dict[str, Any]
    source: Any
    expression: Any
    common: tuple[dict[str, Any], ...]
    """The common table expressions that the source may name."""

    def query(self, serialize: Callable[[str], str]) -> str:
        """The tree, as JSON, of the query that finds the values; all of its parts were checked."""
        tree = json.loads(serialize(_TEMPLATE))
        node = tree["statements"][0]["node"]
        node["cte_map"]["map"] = list(self.common)
        node["select_list"][0]["child"] = self.expression
        node["from_table"] = self.source
        return json.dumps(tree)

    def fill(self, values: Sequence[str]) -> None:
        self.pivot["entries"] = [_entry(value) for value in sorted(values)]


def marked(sql: str) -> str | None:
    """The statement with a list after each pivot's column that has none; None when there is no such."""
    try:
        tokens = sqlglot.tokenize(sql, read="duckdb")
    except SqlglotError:
        return None
    places = sorted(place for at in range(len(tokens)) for place in _missing(tokens, at))
    if not places:
        return None
    pieces, before = [], 0
    for place in places:
        pieces += [sql[before:place], f" IN ('{_MARK}')"]
        before = place
    return "".join([*pieces, sql[before:]])


def value_lists(tree: Any) -> list[ValueList]:
    """The lists to fill, those first that others are made from."""
    return list(_found(tree, ()))


def _found(value: Any, common: tuple[dict[str, Any], ...]) -> Iterator[ValueList]:
    if isinstance(value, list):
        for item in value:
            yield from _found(item, common)
    if not isinstance(value, dict):
        return
    for entry in value.get("cte_map", {}).get("map", []):
        yield from _found(entry["value"], common)
        common = (*common, entry)
    for key, item in value.items():
        if key != "cte_map":
            yield from _found(item, common)
    if value.get("type") == "PIVOT":
        for pivot in value["pivots"]:
            if _is_marked(pivot):
                yield ValueList(pivot, value["source"], pivot["pivot_expressions"][0], common)


def _is_marked(pivot: dict[str, Any]) -> bool:
    values = [value.get("value") for entry in pivot["entries"] for value in entry["values"]]
    return values == [_MARK] and len(pivot["pivot_expressions"]) == 1


def _entry(value: str) -> dict[str, Any]:
    constant = {"type": {"id": "VARCHAR", "type_info": None}, "is_null": False, "value": value}
    return {"values": [constant], "star_expr": None, "alias": ""}


def _missing(tokens: Sequence[Token], at: int) -> Iterator[int]:
    """Where lists are missing in the pivot that begins at a token, as offsets in the text."""
    if _word(tokens[at]) not in _PIVOTS:
        return
    following = [_word(token) for token in tokens[at + 1 : at + 3]]
    if following[:1] == ["("] and following[-1] not in _SOURCES:
        return  # `FROM t PIVOT (sum(x) FOR y IN (…))`, which has its list
    begun = listed = False
    for number, word in _outermost(tokens, at):
        if not begun:
            begun = word == "ON"
        elif word == "IN":
            listed = True
        elif word == "," or word in _ENDS:
            if not listed:
                yield tokens[number - 1].end + 1
            listed = False
        if word in _ENDS:
            return


def _word(token: Token) -> str:
    """A word or a sign of the language; nothing for what stands in quotes."""
    quoted = token.token_type in {TokenType.STRING, TokenType.IDENTIFIER}
    return "" if quoted else token.text.upper()


def _outermost(tokens: Sequence[Token], at: int) -> Iterator[tuple[int, str]]:
    """The tokens after one that lie in no further brackets, and an end where they all end."""
    depth = 0
    for number in range(at + 1, len(tokens)):
        word = _word(tokens[number])
        depth += (word == "(") - (word == ")")
        if depth < 0:
            yield number, ";"
            return
        if depth == 0:
            yield number, word
    yield len(tokens), ";"
