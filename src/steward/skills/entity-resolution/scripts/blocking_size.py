"""How many pairs a choice of blocks would compare, and which rows it leaves alone."""

from typing import Any


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def main(arguments: dict[str, Any], con: Any) -> dict[str, Any]:
    table = quoted(arguments["dataset"])
    rows = con.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    found = []
    alone = []
    for block in arguments["blocks"]:
        keys = ", ".join(quoted(column) for column in block)
        filled = " AND ".join(
            f"nullif(trim(CAST({quoted(column)} AS VARCHAR)), '') IS NOT NULL" for column in block
        )
        groups = f"SELECT count(*) AS n FROM {table} WHERE {filled} GROUP BY {keys}"
        pairs, largest, inside, single = con.execute(
            "SELECT coalesce(sum(n * (n - 1) // 2), 0), coalesce(max(n), 0), coalesce(sum(n), 0), "
            f"coalesce(sum(CASE WHEN n = 1 THEN 1 ELSE 0 END), 0) FROM ({groups})"
        ).fetchone()
        found.append(
            {
                "columns": block,
                "pairs": int(pairs),
                "largest_block": int(largest),
                "rows_without_a_value": int(rows - inside),
                "rows_alone_in_their_block": int(single),
            }
        )
        shared = f"({filled}) AND count(*) OVER (PARTITION BY {keys}) > 1"
        alone.append(f"NOT ({shared})")
    never = con.execute(
        f"SELECT count(*) FROM (SELECT {' AND '.join(alone)} AS lonely FROM {table}) WHERE lonely"
    ).fetchone()[0]
    return {
        "rows": int(rows),
        "blocks": found,
        "pairs_at_most": sum(each["pairs"] for each in found),
        "rows_never_compared": int(never),
    }
