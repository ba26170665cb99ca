"""Checks the figures of a text against the data they are said to come from."""

from typing import Any

AGGREGATES = {
    "distinct": "count(DISTINCT {})",
    "sum": "sum({})",
    "mean": "avg({})",
    "median": "median({})",
    "min": "min({})",
    "max": "max({})",
}


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def measured(figure: dict[str, Any]) -> str:
    if figure["aggregate"] == "count":
        return f"count({quoted(figure['column'])})" if figure.get("column") else "count(*)"
    if not figure.get("column"):
        raise ValueError(f"{figure['label']}: {figure['aggregate']} needs a column")
    before, after = AGGREGATES[figure["aggregate"]].split("{}")
    return before + quoted(figure["column"]) + after


def main(arguments: dict[str, Any], con: Any) -> dict[str, Any]:
    results = []
    for figure in arguments["figures"]:
        conditions, values = [], []
        for column, value in figure.get("where", {}).items():
            if value is None:
                conditions.append(f"{quoted(column)} IS NULL")
            else:
                conditions.append(f"CAST({quoted(column)} AS VARCHAR) = ?")
                values.append(value)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        found = con.execute(
            f"SELECT CAST({measured(figure)} AS DOUBLE) FROM {quoted(arguments['dataset'])}{where}",
            values,
        ).fetchone()[0]
        holds = (
            found is not None and abs(found - figure["value"]) <= figure.get("tolerance", 0) + 1e-9
        )
        results.append(
            {"label": figure["label"], "said": figure["value"], "found": found, "holds": holds}
        )
    wrong = [each["label"] for each in results if not each["holds"]]
    return {"figures": results, "holding": len(results) - len(wrong), "wrong": wrong}
