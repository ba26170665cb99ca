"""The fence around SQL: exactly one SELECT, over the caller's datasets, with functions from a list.

The statement is parsed, never matched as text: by DuckDB's own parser, whose tree is walked against
lists of what may be in it, and by sqlglot, which must agree. The statement that runs is written
anew from the checked tree. This runs inside the sandbox, so a statement that breaks a parser breaks
nothing else.
"""

import json
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

import duckdb

from steward.sandbox.contract import MAX_CODE
from steward.sandbox.pivot_values import MOST_VALUES, ValueList, marked, value_lists
from steward.sandbox.refused import Finding, Refused
from steward.sandbox.second_opinion import refuse_other_reading
from steward.sandbox.sql_bounds import excess, is_bounded, stops_early
from steward.sandbox.sql_functions import FUNCTIONS, OPERATORS, TABLE_FUNCTIONS
from steward.sandbox.words import words

_EXPRESSIONS: Final = frozenset(
    words("""
    BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION LAMBDA LAMBDA_REF
    OPERATOR POSITIONAL_REFERENCE STAR SUBQUERY WINDOW
    """)
)
_TABLES: Final = frozenset(
    words("BASE_TABLE SUBQUERY JOIN TABLE_FUNCTION EXPRESSION_LIST EMPTY PIVOT")
)
_QUERIES: Final = frozenset(words("SELECT_NODE SET_OPERATION_NODE RECURSIVE_CTE_NODE"))
_OTHERS: Final = frozenset(
    words("""
    ORDER_MODIFIER LIMIT_MODIFIER LIMIT_PERCENT_MODIFIER DISTINCT_MODIFIER ORDER_DEFAULT ASCENDING
    DESCENDING
    """)
)
_READ: Final = "SELECT json_serialize_sql(CAST(? AS VARCHAR))"
_WRITE: Final = "SELECT json_deserialize_sql(CAST(? AS JSON))"
_NO_LIST: Final = "This PIVOT cannot be read without a list of values; list them after IN."
_NOWHERE: Final = (1 << 64) - 1
_OWN_SCHEMA: Final = "main"
_CALM: Final = frozenset({"", "main", "system", "memory", "temp"})
# Written like columns, run as functions that tell about the server.
_DISGUISED: Final = frozenset(
    {"current_catalog", "current_role", "current_schema", "current_user", "session_user", "user"}
)
# Inside these there are types and values, not code.
_LEAVES: Final = frozenset({"cast_type", "value", "return_type"})


@dataclass(frozen=True)
class Checked:
    """A statement that may run."""

    sql: str
    tables: tuple[str, ...]
    """The datasets it reads, as the caller names them."""
    columns: tuple[str, ...]
    """`dataset.column` for every column it may read; more rather than fewer when names are shared."""
    parameters: tuple[str, ...] = ()
    """The parameters it uses."""
    tree: Mapping[str, Any] = field(default_factory=dict, repr=False)
    lists: tuple[ValueList, ...] = ()
    """Lists of pivots whose values are still to be asked for; `complete` does."""

    def complete(self, ask: Callable[[str], Sequence[str]]) -> "Checked":
        """The statement with the values of its pivots; `ask` runs a query for some of them and gives its column."""
        if not self.lists:
            return self
        for each in self.lists:
            values = ask(_ask(_WRITE, each.query(lambda text: _ask(_READ, text))))
            if len(values) > MOST_VALUES:
                message = (
                    f"PIVOT would make more than {MOST_VALUES:,} columns. Pivot on a column with "
                    "fewer values, or list them after IN."
                )
                raise Refused([Finding("PIVOT", message)])
            each.fill(values)
        return replace(self, sql=_ask(_WRITE, json.dumps(self.tree)), lists=())


def check(
    sql: str, datasets: Mapping[str, Sequence[str]], parameters: Collection[str] = ()
) -> Checked:
    """Refuses all but one SELECT over `datasets` (name to columns); gives the statement to run.

    `parameters` names the values that `$name` stands for; the engine binds them.
    """
    if len(sql) > MAX_CODE:
        raise Refused([Finding("length", f"The statement is longer than {MAX_CODE:,} characters.")])
    if "\0" in sql or any("\ud800" <= character <= "\udfff" for character in sql):
        raise Refused([Finding("text", "The statement holds a character that is none.")])
    try:
        tree, sql = _parse(sql)
        walk = _Walk(sql, datasets, parameters)
        walk.query(tree["statements"][0]["node"], frozenset())
        if walk.findings:
            raise Refused(walk.findings[:50])
        written = _rewrite(tree, sql)
        known = {name.casefold() for name in walk.tables} | walk.common
        refuse_other_reading(sql, written, known)
        lists = value_lists(tree)
        if lists and written == _bare(sql):
            raise Refused([Finding("PIVOT", _NO_LIST)])
    except RecursionError:
        raise Refused([Finding("nesting", "The statement is nested too deeply.")]) from None
    return Checked(
        written,
        tuple(sorted(walk.tables)),
        tuple(walk.used_columns()),
        tuple(sorted(walk.parameters)),
        tree,
        tuple(lists),
    )


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    opened = duckdb.connect(
        ":memory:",
        config={
            "threads": 1,
            "autoinstall_known_extensions": False,
            "enable_external_access": False,
        },
    )
    opened.execute("SET lock_configuration = true")
    return opened


_parsing = threading.Lock()


def _ask(question: str, text: str) -> str:
    """Parses or writes SQL; the text is an argument, so nothing in it is planned or run."""
    with _parsing:
        row = _parser().execute(question, [text]).fetchone()
    return str(row[0]) if row else ""


def _parse(sql: str) -> tuple[dict[str, Any], str]:
    """The tree of a statement, and the text it was read from, which may have got lists for its pivots."""
    tree = _serialized(sql)
    if tree["error"] and (with_lists := marked(sql)) is not None:
        listed = _serialized(with_lists)
        tree, sql = (tree, sql) if listed["error"] else (listed, with_lists)
    if tree["error"]:
        raise Refused([_not_select(sql, tree)])
    count = len(tree["statements"])
    if count != 1:
        message = f"Send exactly one SELECT statement; these are {count}."
        raise Refused([Finding("statements", message)])
    return tree, sql


def _serialized(sql: str) -> dict[str, Any]:
    try:
        tree: dict[str, Any] = json.loads(_ask(_READ, sql))
    except duckdb.Error as problem:
        first = str(problem).partition("\n")[0]
        raise Refused([Finding("syntax", f"This is not SQL: {first}")]) from None
    return tree


def _not_select(sql: str, tree: Mapping[str, Any]) -> Finding:
    if tree.get("error_type") == "parser":
        line, column = _place(sql, int(tree.get("position", 0) or 0))
        return Finding("syntax", f"This is not SQL: {tree['error_message']}", line, column)
    kind = _kind(sql)
    line, column = _place(sql, len(sql.encode()) - len(sql.lstrip().encode()))
    if kind == "PIVOT":
        return Finding("PIVOT", _NO_LIST, line, column)
    return Finding(kind, f"{kind} is not a SELECT; only one SELECT may be run.", line, column)


def _kind(sql: str) -> str:
    """What a statement that is no SELECT is called, for the message."""
    try:
        with _parsing:
            kinds = [str(s.type).rpartition(".")[2] for s in _parser().extract_statements(sql)]
    except duckdb.Error:
        return "statement"
    if "pivot" in sql.lower() and kinds and set(kinds) <= {"SELECT", "MULTI", "CREATE", "DROP"}:
        return "PIVOT"
    return kinds[0] if kinds else "statement"


def _place(sql: str, offset: int) -> tuple[int, int]:
    """Line and column, from 1, of an offset that counts bytes."""
    before = sql.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore")
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


class _Walk:
    """Goes through DuckDB's tree; whatever it does not know is refused."""

    def __init__(
        self, sql: str, datasets: Mapping[str, Sequence[str]], parameters: Collection[str]
    ) -> None:
        self._sql = sql
        self._parameters = parameters
        self._datasets = {name.casefold(): name for name in datasets}
        self._columns = datasets
        self._known_columns = {c.casefold() for columns in datasets.values() for c in columns}
        self._at = 0
        self._named: set[str] = set()
        self._starred = False
        self.findings: list[Finding] = []
        self.tables: set[str] = set()
        self.parameters: set[str] = set()
        self.common: set[str] = set()

    def refuse(self, construct: str, message: str) -> None:
        line, column = _place(self._sql, self._at)
        self.findings.append(Finding(construct, message, line, column))

    def query(self, node: Mapping[str, Any], scope: frozenset[str]) -> None:
        kind = str(node.get("type"))
        if kind not in _QUERIES:
            self.refuse(kind, f"{kind} is not a kind of query that may be run.")
            return
        for entry in node.get("cte_map", {}).get("map", []):
            inner = entry["value"]["query"]["node"]
            name = str(entry["key"]).casefold()
            own = {name} if inner.get("type") == "RECURSIVE_CTE_NODE" else set()
            if own and not is_bounded(inner) and not stops_early(node):
                self._refuse_endless(str(entry["key"]))
            self.common.add(name)
            self.query(inner, scope | own)
            self.values(entry["value"], scope, skip={"query"})
            scope |= {name}
        self.values(node, scope, skip={"cte_map"})

    def _refuse_endless(self, name: str) -> None:
        message = (
            f"The recursive query {name!r} has no condition that ends it. Add a WHERE to its "
            "recursive part, such as WHERE n < 100, or read its first rows with a LIMIT."
        )
        self.refuse("RECURSIVE", message)

    def values(
        self,
        node: Mapping[str, Any],
        scope: frozenset[str],
        skip: set[str] | frozenset[str] = frozenset(),
    ) -> None:
        for key, value in node.items():
            if key in _LEAVES:
                self._leaf(value, scope)
            elif key not in skip:
                self.any(value, scope)

    def _leaf(self, value: Any, scope: frozenset[str]) -> None:
        """Types and constants name no code; should a type ever hold an expression, it is walked."""
        if isinstance(value, list):
            for item in value:
                self._leaf(item, scope)
        elif isinstance(value, dict):
            if "class" in value:
                self._expression(value, scope)
            else:
                for item in value.values():
                    self._leaf(item, scope)

    def any(self, value: Any, scope: frozenset[str]) -> None:
        if isinstance(value, list):
            for item in value:
                self.any(item, scope)
        elif isinstance(value, dict):
            self._node(value, scope)

    def _node(self, node: dict[str, Any], scope: frozenset[str]) -> None:
        location = node.get("query_location")
        if isinstance(location, int) and location != _NOWHERE:
            self._at = location
        kind = node.get("type")
        if "class" in node:
            self._expression(node, scope)
        elif not isinstance(kind, str):
            self.values(node, scope)
        elif kind in _QUERIES:
            self.query(node, scope)
        elif kind in _TABLES:
            self._table(node, scope)
        elif kind in _OTHERS:
            self.values(node, scope)
        else:
            self.refuse(kind, f"{kind.replace('_', ' ').title()} may not be used here.")

    def _expression(self, node: dict[str, Any], scope: frozenset[str]) -> None:
        kind = str(node["class"])
        if kind == "PARAMETER":
            self._parameter(str(node.get("identifier")))
            return
        if kind not in _EXPRESSIONS:
            readable = kind.replace("_", " ").lower()
            self.refuse(kind, f"A {readable} may not be used here.")
            return
        if kind in {"FUNCTION", "WINDOW"}:
            self._function(node, FUNCTIONS)
            self._refuse_excess(excess(node, as_table=False))
        elif kind == "COLUMN_REF":
            self._column([str(name).casefold() for name in node.get("column_names", [])])
        elif kind == "STAR":
            self._starred = True
        self.values(node, scope)

    def _parameter(self, name: str) -> None:
        if name not in self._parameters:
            given = ", ".join(sorted(self._parameters)) or "none"
            message = f"No value was given for the parameter ${name}. Given are: {given}."
            self.refuse("PARAMETER", message)
        self.parameters.add(name)

    def _column(self, names: list[str]) -> None:
        self._named.update(names)
        if len(names) == 1 and names[0] in _DISGUISED and names[0] not in self._known_columns:
            self.refuse(names[0], f"{names[0]} may not be used here.")

    def _function(self, node: Mapping[str, Any], allowed: frozenset[str]) -> None:
        name = str(node.get("function_name", "")).lower()
        homes = {str(node.get("schema", "")).lower(), str(node.get("catalog", "")).lower()}
        if not homes <= _CALM:
            self.refuse(name, f"Functions are called by their name alone, not as {homes}.")
        elif name not in allowed and name not in OPERATORS:
            self.refuse(name, f"The function {name}() may not be called.")

    def _refuse_excess(self, message: str | None) -> None:
        if message is not None:
            self.refuse("too much", message)

    def _table(self, node: dict[str, Any], scope: frozenset[str]) -> None:
        kind = node["type"]
        if kind == "BASE_TABLE":
            self._base_table(node, scope)
        elif kind == "TABLE_FUNCTION":
            function = node["function"]
            if function.get("class") != "FUNCTION":
                self.refuse("table function", "This is no table function that may be called.")
                return
            self._at = function.get("query_location", self._at)
            self._function(function, TABLE_FUNCTIONS)
            self._refuse_excess(excess(function, as_table=True))
            self.values(function, scope)
            self.values(node, scope, skip={"function"})
            return
        elif kind == "PIVOT" and any(entry.get("pivot_enum") for entry in node.get("pivots", [])):
            self.refuse("PIVOT", "A pivot lists its values after IN.")
        self.values(node, scope)

    def _base_table(self, node: dict[str, Any], scope: frozenset[str]) -> None:
        name = str(node["table_name"])
        schema, catalog = str(node.get("schema_name", "")), str(node.get("catalog_name", ""))
        if node.get("at_clause") is not None:
            self.refuse("AT", "Versions are chosen by the branch, not with AT.")
        if not schema and not catalog and name.casefold() in scope:
            return
        known = self._datasets.get(name.casefold())
        if known is None or schema.lower() not in {"", _OWN_SCHEMA} or catalog:
            shown = ".".join(part for part in (catalog, schema, name) if part)
            there = ", ".join(sorted(self._datasets.values())[:20]) or "none"
            self.refuse("table", f"There is no dataset {shown!r} here. There are: {there}.")
            return
        self.tables.add(known)
        # Qualified, so that nothing else of that name can step in between.
        node["schema_name"] = _OWN_SCHEMA

    def used_columns(self) -> Iterator[str]:
        for table in sorted(self.tables):
            for column in self._columns[table]:
                if self._starred or column.casefold() in self._named:
                    yield f"{table}.{column}"


def _rewrite(tree: dict[str, Any], sql: str) -> str:
    """The statement written from the tree; the text as given if writing changes its meaning."""
    try:
        written = _ask(_WRITE, json.dumps(tree))
        again = json.loads(_ask(_READ, written))
    except duckdb.Error:
        return _bare(sql)
    return written if _meaning(again) == _meaning(tree) else _bare(sql)


def _bare(sql: str) -> str:
    """Without what would end the statement when it is put in brackets."""
    return sql.strip().rstrip(";").rstrip() + "\n"


def _meaning(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _meaning(v) for k, v in value.items() if k != "query_location"}
    if isinstance(value, list):
        return [_meaning(item) for item in value]
    return value
