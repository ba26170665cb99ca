"""Splits the change of a value between two periods into effects that add up to it exactly."""

from typing import Any


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def sums(con: Any, arguments: dict[str, Any], period: str) -> dict[tuple[str, ...], list[float]]:
    keys = ", ".join(
        f"coalesce(CAST({quoted(each)} AS VARCHAR), '')" for each in arguments["items"]
    )
    quantity = arguments.get("quantity")
    amount = f"coalesce(sum({quoted(quantity)}), 0)" if quantity else "0"
    found = con.execute(
        f"SELECT {keys}, coalesce(sum({quoted(arguments['value'])}), 0), {amount} "
        f"FROM {quoted(arguments['dataset'])} "
        f"WHERE starts_with(CAST({quoted(arguments['period'])} AS VARCHAR), ?) GROUP BY ALL",
        [period],
    ).fetchall()
    return {tuple(row[:-2]): [float(row[-2]), float(row[-1])] for row in found}


def main(arguments: dict[str, Any], con: Any) -> dict[str, Any]:
    before = sums(con, arguments, arguments["before"])
    after = sums(con, arguments, arguments["after"])
    if not before or not after:
        empty = arguments["before"] if not before else arguments["after"]
        raise ValueError(f"there are no rows in the period {empty!r}")
    total_before = sum(each[0] for each in before.values())
    total_after = sum(each[0] for each in after.values())
    # Without a quantity on both sides an item has no price, so that it can only come and go.
    by_price = bool(arguments.get("quantity"))
    both = [
        key
        for key in before.keys() & after.keys()
        if not by_price or (before[key][1] and after[key][1])
    ]
    gone = sum(before[key][0] for key in before.keys() - set(both))
    come = sum(after[key][0] for key in after.keys() - set(both))
    effects = {"new": come, "lost": -gone}
    if by_price:
        old_value = sum(before[key][0] for key in both)
        old_amount = sum(before[key][1] for key in both)
        new_amount = sum(after[key][1] for key in both)
        average = old_value / old_amount if old_amount else 0.0
        at_old_price = sum(after[key][1] * before[key][0] / before[key][1] for key in both)
        effects["price"] = sum(after[key][0] for key in both) - at_old_price
        effects["volume"] = (new_amount - old_amount) * average
        effects["mix"] = at_old_price - old_value - effects["volume"]
    else:
        effects["changed"] = sum(after[key][0] - before[key][0] for key in both)
    change = total_after - total_before
    moved: list[dict[str, Any]] = []
    for key in before.keys() | after.keys():
        was, now = before.get(key, [0.0, 0.0])[0], after.get(key, [0.0, 0.0])[0]
        moved.append({"item": list(key), "before": was, "after": now, "change": now - was})
    moved.sort(key=lambda each: (-abs(each["change"]), each["item"]))
    shown = moved[: arguments["top"]]
    return {
        "before": round(total_before, 6),
        "after": round(total_after, 6),
        "change": round(change, 6),
        "change_percent": round(100 * change / total_before, 4) if total_before else None,
        "effects": {name: round(value, 6) for name, value in effects.items()},
        "unexplained": round(change - sum(effects.values()), 6),
        "items": shown,
        "items_left_out": len(moved) - len(shown),
        "change_of_items_left_out": round(sum(each["change"] for each in moved[len(shown) :]), 6),
    }
