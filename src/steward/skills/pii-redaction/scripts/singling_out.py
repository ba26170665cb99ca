"""How many rows a combination of columns singles out; counts only, never a value."""

from typing import Any


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def below(con: Any, table: str, columns: list[str], k: int) -> tuple[int, int, int]:
    keys = ", ".join(quoted(column) for column in columns)
    groups = f"SELECT count(*) AS n FROM {table} GROUP BY {keys}"
    smallest, exposed, unique = con.execute(
        f"SELECT coalesce(min(n), 0), coalesce(sum(CASE WHEN n < {int(k)} THEN n ELSE 0 END), 0), "
        f"coalesce(sum(CASE WHEN n = 1 THEN 1 ELSE 0 END), 0) FROM ({groups})"
    ).fetchone()
    return int(smallest), int(exposed), int(unique)


def main(arguments: dict[str, Any], con: Any) -> dict[str, Any]:
    table = quoted(arguments["dataset"])
    columns, k = list(dict.fromkeys(arguments["columns"])), arguments["k"]
    rows = con.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    smallest, exposed, unique = below(con, table, columns, k)
    without = []
    for column in columns:
        rest = [each for each in columns if each != column]
        if rest:
            _, left, _ = below(con, table, rest, k)
            without.append({"column": column, "rows_below_k_without_it": left})
    # The column whose loss protects most comes first.
    without.sort(key=lambda each: (each["rows_below_k_without_it"], each["column"]))
    return {
        "rows": int(rows),
        "k": k,
        "smallest_group": smallest,
        "rows_below_k": exposed,
        "unique_rows": unique,
        "is_k_anonymous": exposed == 0,
        "leaving_out": without,
    }
