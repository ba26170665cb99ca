"""Counts the rows of a dataset that break rules, with a few row numbers as examples."""

from typing import Any


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def filled(column: str) -> str:
    return f"nullif(trim(CAST({quoted(column)} AS VARCHAR)), '') IS NOT NULL"


def number(column: str) -> str:
    return f"TRY_CAST({quoted(column)} AS DOUBLE)"


def breach(rule: dict[str, Any], reference: str | None) -> str:
    """The condition under which a row breaks the rule; rows without a value break only `filled`."""
    columns = rule["columns"]
    first = columns[0]
    every = " AND ".join(filled(column) for column in columns)
    keys = ", ".join(quoted(column) for column in columns)
    match rule["rule"]:
        case "filled":
            return f"NOT ({every})"
        case "unique":
            return f"({every}) AND count(*) OVER (PARTITION BY {keys}) > 1"
        case "between":
            limits = [f"{number(first)} IS NULL"]
            if "least" in rule:
                limits.append(f"{number(first)} < {float(rule['least'])!r}")
            if "most" in rule:
                limits.append(f"{number(first)} > {float(rule['most'])!r}")
            return f"({every}) AND ({' OR '.join(limits)})"
        case "one_of":
            listed = ", ".join(text(value) for value in rule.get("values", [])) or "NULL"
            return f"({every}) AND CAST({quoted(first)} AS VARCHAR) NOT IN ({listed})"
        case "pattern":
            wanted = text(rule.get("pattern", ""))
            return (
                f"({every}) AND NOT regexp_full_match(CAST({quoted(first)} AS VARCHAR), {wanted})"
            )
        case "not_after":
            return f"({every}) AND {quoted(first)} > {quoted(columns[-1])}"
        case _:
            if reference is None:
                raise ValueError("refers_to needs the argument reference")
            targets = rule.get("to") or columns
            pairs = " AND ".join(
                f"CAST(r.{quoted(target)} AS VARCHAR) = CAST(d.{quoted(column)} AS VARCHAR)"
                for column, target in zip(columns, targets, strict=True)
            )
            found = f"SELECT 1 FROM {quoted(reference)} r WHERE {pairs}"
            return f"({every}) AND NOT EXISTS ({found})"


def main(arguments: dict[str, Any], con: Any) -> dict[str, Any]:
    table = quoted(arguments["dataset"])
    rows = con.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    results = []
    for rule in arguments["rules"]:
        condition = breach(rule, arguments.get("reference"))
        inner = f"SELECT row_number() OVER () AS line, {condition} AS broken FROM {table} d"
        count = con.execute(f"SELECT count(*) FROM ({inner}) WHERE broken").fetchone()[0]
        examples = con.execute(
            f"SELECT line FROM ({inner}) WHERE broken ORDER BY line LIMIT 5"
        ).fetchall()
        results.append(
            {
                "rule": rule["rule"],
                "columns": rule["columns"],
                "broken": int(count),
                "share": round(count / rows, 6) if rows else 0.0,
                "example_rows": [int(row[0]) for row in examples],
            }
        )
    return {
        "dataset": arguments["dataset"],
        "rows": int(rows),
        "rules": results,
        "holding": sum(1 for each in results if each["broken"] == 0),
    }
