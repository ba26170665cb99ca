"""Which columns of a plan's results are amounts, and in what unit: by definitions and by what is filtered."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from steward.agents.asking.compiling import FUNCTION_NAMES
from steward.agents.asking.reading import ColumnRef, Measured
from steward.agents.asking.wording import Words
from steward.agents.asking.world import World
from steward.agents.explaining.written_values import Amount
from steward.agents.planning.plan import Plan
from steward.agents.planning.plan_checks import Catalogue

_NO_AMOUNT: Final = frozenset({"count", "count_distinct"})


def amounts_of(plan: Plan, catalogue: Catalogue) -> dict[str, Amount]:
    """By the names that such columns have in results: as they are, or after a function."""
    found: dict[str, Amount] = {}
    for step in plan:
        for name in _datasets(step.arguments):
            if name in catalogue.datasets:
                # A chart of the query's rows has no plan of its own.
                found = _of_dataset(name, catalogue.world, step.arguments.get("plan")) | found
    return found


def _datasets(arguments: Mapping[str, Any]) -> Iterator[str]:
    plan, several = arguments.get("plan"), arguments.get("datasets")
    given = [arguments.get("dataset"), *(several if isinstance(several, list) else ())]
    if isinstance(plan, Mapping):
        given.append(plan.get("source"))
    yield from (name for name in given if isinstance(name, str))


def _of_dataset(table: str, world: World, plan: Any) -> dict[str, Amount]:
    functions = [name for key, name in FUNCTION_NAMES.items() if key not in _NO_AMOUNT]
    found: dict[str, Amount] = {}
    for column in world.datasets[table].names:
        measured = Measured(function="sum", column=ColumnRef(column=column or "-"))
        amount = _amount(table, measured, world, plan) if column else None
        if amount is not None:
            found[column] = amount
            found |= {f"{function}_{column}": amount for function in functions}
    for name, metric in world.definitions.metrics.items():
        amount = _amount(table, Measured(metric=name), world, plan)
        if metric.over == table and amount is not None:
            found[name] = amount
    return found


def _amount(table: str, measured: Measured, world: World, plan: Any) -> Amount | None:
    column = world.unit_column(table, measured)
    if column is not None:
        return Amount(column.column, _filtered(plan, column.column))
    unit = Words(world.definitions).unit(measured, table)
    return Amount("", unit) if unit else None


def _filtered(plan: Any, column: str) -> str | None:
    """The currency that a query is limited to."""
    filters = plan.get("filters") if isinstance(plan, Mapping) else None
    for each in filters if isinstance(filters, list) else ():
        if isinstance(each, Mapping) and each.get("compare") == "=":
            value = each.get("right", {}).get("value")
            if column in str(each.get("left")) and isinstance(value, str):
                return value.upper()
    return None
