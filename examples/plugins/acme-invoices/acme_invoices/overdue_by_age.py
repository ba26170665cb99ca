"""Sums a dataset of open invoices by how long they are overdue."""

from typing import Any

TOOL = {
    "title": "Overdue by age",
    "description": "Sums open invoices by how long they are overdue: up to 30, 60, 90 days, and longer.",
    "arguments": {
        "type": "object",
        "properties": {
            "invoices": {
                "type": "string",
                "format": "dataset",
                "description": "Dataset with one row for each open invoice.",
                "x-role": "target",
            },
            "due": {
                "type": "string",
                "description": "Column with the due date.",
                "x-role": "selector",
            },
            "amount": {
                "type": "string",
                "description": "Column with the open amount.",
                "x-role": "selector",
            },
            "today": {
                "type": "string",
                "description": "The day to count from, such as 2026-03-02.",
                "x-role": "plain",
            },
        },
        "required": ["invoices", "due", "amount", "today"],
    },
    "risk": "read",
}


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def main(arguments: dict[str, Any], con: Any) -> list[dict[str, Any]]:
    rows = con.execute(
        f"""
        SELECT CASE WHEN days <= 30 THEN 'up to 30 days' WHEN days <= 60 THEN 'up to 60 days'
                    WHEN days <= 90 THEN 'up to 90 days' ELSE 'longer' END AS age,
               count(*) AS invoices, sum(amount) AS amount
        FROM (SELECT date_diff('day', CAST({quoted(arguments["due"])} AS DATE), CAST(? AS DATE)) AS days,
                     CAST({quoted(arguments["amount"])} AS DECIMAL(18, 2)) AS amount
              FROM {quoted(arguments["invoices"])})
        WHERE days > 0 GROUP BY age ORDER BY min(days)
        """,
        [arguments["today"]],
    ).fetchall()
    return [{"age": age, "invoices": count, "amount": float(amount)} for age, count, amount in rows]
