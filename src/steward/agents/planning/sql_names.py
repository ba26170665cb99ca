"""Which tables and columns a piece of SQL names: a cheap look while planning; the guard in the sandbox decides."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sqlglot import exp

LONGEST: Final = 20_000
_DEEPEST: Final = 60
_NAMED: Final = 30


def sql_problems(sql: str, datasets: Mapping[str, tuple[str, ...] | None]) -> list[str]:
    """What is wrong with a query over datasets (name → columns, None: not known yet); empty when nothing shows."""
    if len(sql) > LONGEST:
        return [f"a query in a plan has at most {LONGEST:,} characters"]
    if _depth(sql) > _DEEPEST:
        return ["the query is nested too deeply"]
    return _parsed_problems(sql, datasets)


def _parsed_problems(sql: str, datasets: Mapping[str, tuple[str, ...] | None]) -> list[str]:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        statements = [each for each in sqlglot.parse(sql, read="duckdb") if each is not None]
    except (SqlglotError, RecursionError):
        return ["this is not SQL that can be read"]
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        return ["it must be exactly one SELECT"]
    found = statements[0]
    known = {name.casefold(): columns for name, columns in datasets.items()}
    local = {each.alias.casefold() for each in found.find_all(exp.CTE)}
    tables = [each for each in found.find_all(exp.Table) if isinstance(each.this, exp.Identifier)]
    wrong = []
    for table in tables:
        name = table.name.casefold()
        if name not in known and name not in local:
            there = ", ".join(sorted(datasets)[:_NAMED]) or "none"
            wrong.append(f"there is no dataset {table.name!r}; there are: {there}")
    return wrong or _columns(found, {each.name.casefold() for each in tables} - local, known)


def _columns(
    found: "exp.Query", tables: set[str], known: Mapping[str, tuple[str, ...] | None]
) -> list[str]:
    """Columns that no table has and nothing in the query makes. Silent where the query makes names of its own."""
    from sqlglot import exp

    if any(known[name] is None for name in tables):
        return []
    if found.find(exp.Lambda, exp.Unnest, exp.Pivot, exp.Struct, exp.Dot, exp.Values):
        return []
    there = {column.casefold() for name in tables for column in known[name] or ()}
    there |= {each.alias.casefold() for each in found.find_all(exp.Alias, exp.TableAlias)}
    there |= {
        each.name.casefold() for alias in found.find_all(exp.TableAlias) for each in alias.columns
    }
    there |= tables
    wrong = dict.fromkeys(
        each.name for each in found.find_all(exp.Column) if each.name.casefold() not in there
    )
    if not wrong or not tables:
        return []
    names = [column for name in sorted(tables) for column in known[name] or ()]
    return [
        f"there is no column {name!r}; there are: {', '.join(names[:_NAMED])}"
        for name in list(wrong)[:10]
        if name and name != "*"
    ]


def _depth(sql: str) -> int:
    deepest = depth = 0
    for letter in sql:
        if letter in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in ")]}":
            depth -= 1
    return deepest
