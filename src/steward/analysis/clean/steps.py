"""Intermediate values of a row, each computed once in nested SELECTs, so that long rules stay short SQL."""

from itertools import count

from steward.analysis.consolidate.naming import Names
from steward.tables import Table, quote


class Steps:
    """Collects layers of SQL expressions over the row `s`; a layer may use what the ones before computed.

    `number` keeps the names of several collections over the same rows apart.
    """

    def __init__(self, table: Table, number: int) -> None:
        self._number = number
        self._names = Names(table.column_names)
        self._numbers = count()
        self._layers: list[list[tuple[str, str]]] = []

    def add(self, *expressions: str) -> list[str]:
        """Adds one layer and returns how to refer to its values."""
        names = [
            self._names.take(f"steward_{self._number}_{next(self._numbers)}") for _ in expressions
        ]
        self._layers.append(list(zip(names, expressions, strict=True)))
        return [f"s.{quote(name)}" for name in names]

    def one(self, expression: str) -> str:
        return self.add(expression)[0]

    def over(self, rows: str) -> str:
        """The rows, themselves a FROM item named `s`, with all values added, again named `s`."""
        for layer in self._layers:
            terms = ", ".join(f"{expression} AS {quote(name)}" for name, expression in layer)
            rows = f"(SELECT s.*, {terms} FROM {rows}) AS s"
        return rows
