"""Figures of flows by the hour in which their runs ended: what alert rules look at, added up as runs are counted."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from steward.observe._tables import ended_hours
from steward.observe.rollups import insert_into
from steward.store import Transaction

FIGURES: Final = ("runs", "failed", "milliseconds", "nano_usd", "tokens")


def add_ended(tx: Transaction, ended: Iterable[tuple[int, Sequence[Mapping[str, Any]]]]) -> None:
    """Adds runs, each as the hour in which it ended and its facts."""
    sums: dict[tuple[int, str], dict[str, int]] = {}
    for hour, rows in ended:
        for row in rows:
            into = sums.setdefault((hour, row["flow"]), dict.fromkeys(FIGURES, 0))
            into["nano_usd"] += row["nano_usd"]
            into["tokens"] += row["input_tokens"] + row["output_tokens"]
            if row["kind"] == "run" and row["is_root"]:
                into["runs"] += row["times"]
                into["failed"] += row["errors"]
                into["milliseconds"] += row["milliseconds"]
    if not sums:
        return
    new = insert_into(tx, ended_hours)
    renewed = {name: ended_hours.c[name] + new.excluded[name] for name in FIGURES}
    statement = new.on_conflict_do_update(
        index_elements=list(ended_hours.primary_key.columns), set_=renewed
    )
    # In one order everywhere: two that add at once cannot wait for each other.
    tx.execute(statement, [{"at": at, "flow": flow, **sums[at, flow]} for at, flow in sorted(sums)])
