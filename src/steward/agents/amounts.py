"""Which columns of a plan's results are money, and in which currency: by what profiles know and what is filtered."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from steward.agents.asking.compiling import FUNCTION_NAMES
from steward.agents.asking.tokens import name_words
from steward.agents.checking import Catalogue, ColumnFacts, DatasetFacts
from steward.agents.plan import Plan
from steward.agents.writing import Amount

_WORDS: Final = frozenset(
    {"net", "gross", "tax", "amount", "price", "revenue", "cost", "value", "vat"}
)
_NO_MONEY: Final = frozenset({"count", "count_distinct"})


def amounts_of(plan: Plan, catalogue: Catalogue) -> dict[str, Amount]:
    """By the names that such columns have in results: as they are, or after a function."""
    found: dict[str, Amount] = {}
    for step in plan:
        for name in _datasets(step.arguments):
            facts = catalogue.datasets.get(name)
            if facts is not None:
                found |= _of_dataset(facts, step.arguments.get("plan"))
    return found


def _datasets(arguments: Mapping[str, Any]) -> Iterator[str]:
    plan, several = arguments.get("plan"), arguments.get("datasets")
    given = [arguments.get("dataset"), *(several if isinstance(several, list) else ())]
    if isinstance(plan, Mapping):
        given.append(plan.get("source"))
    yield from (name for name in given if isinstance(name, str))


def _of_dataset(facts: DatasetFacts, plan: Any) -> dict[str, Amount]:
    currency = next(
        (each for each in facts.columns if "currency" in (*each.meanings, each.name.casefold())),
        None,
    )
    if currency is None:
        return {}
    amount = Amount(currency.name, _only(currency) or _filtered(plan, currency.name))
    functions = [name for key, name in FUNCTION_NAMES.items() if key not in _NO_MONEY]
    return {
        name: amount
        for column in facts.columns
        if column.kind == "number" and _is_money(column)
        for name in (column.name, *(f"{function}_{column.name}" for function in functions))
    }


def _is_money(column: ColumnFacts) -> bool:
    return "money" in column.meanings or bool(_WORDS & set(name_words(column.name)))


def _only(currency: ColumnFacts) -> str | None:
    return currency.values[0] if currency.distinct == 1 and currency.values else None


def _filtered(plan: Any, column: str) -> str | None:
    """The currency that a query is limited to."""
    filters = plan.get("filters") if isinstance(plan, Mapping) else None
    for each in filters if isinstance(filters, list) else ():
        if isinstance(each, Mapping) and each.get("compare") == "=":
            value = each.get("right", {}).get("value")
            if column in str(each.get("left")) and isinstance(value, str):
                return value.upper()
    return None
