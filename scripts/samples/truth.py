"""What is really in the samples: same customers, keys, foreign keys and planted problems."""

from collections.abc import Mapping
from dataclasses import dataclass

from scripts.samples.export import Dialect, render

_PLAIN = Dialect(encoding="utf-8", delimiter=",", line_end="\n")


@dataclass(frozen=True, slots=True)
class TruthRow:
    """One row of one dataset belongs to one real customer."""

    dataset: str
    row_id: str
    entity_id: str


@dataclass(frozen=True, slots=True)
class PlantedKey:
    """Columns that together identify a row."""

    dataset: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlantedForeignKey:
    """A reference to another dataset; `noisy` values match once spaces and case are removed."""

    dataset: str
    column: str
    target_dataset: str
    target_column: str
    missing: int
    noisy: int
    orphans: int


@dataclass(frozen=True, slots=True)
class PlantedProblem:
    """Something wrong or odd with one column, and the rows where it is so."""

    dataset: str
    column: str
    kind: str
    meaning: str
    row_ids: tuple[str, ...]

    @property
    def count(self) -> int:
        return len(self.row_ids)


@dataclass(frozen=True, slots=True)
class Truth:
    """The answers that results on the samples are measured against."""

    rows: tuple[TruthRow, ...]
    keys: tuple[PlantedKey, ...]
    foreign_keys: tuple[PlantedForeignKey, ...]
    problems: tuple[PlantedProblem, ...]

    def csv(self) -> bytes:
        """The rows as a CSV file with the columns dataset, row_id and entity_id."""
        body = [(row.dataset, row.row_id, row.entity_id) for row in self.rows]
        return render(("dataset", "row_id", "entity_id"), body, _PLAIN)

    def problem(self, dataset: str, column: str, kind: str) -> PlantedProblem:
        for problem in self.problems:
            if (problem.dataset, problem.column, problem.kind) == (dataset, column, kind):
                return problem
        raise KeyError(f"no problem {kind!r} is planted in column {column!r} of {dataset!r}")


class Ledger:
    """Collects the planted problems of one dataset while its rows are written."""

    def __init__(self, dataset: str, meanings: Mapping[tuple[str, str], str]) -> None:
        self._dataset = dataset
        self._meanings = meanings
        self._rows: dict[tuple[str, str], list[str]] = {key: [] for key in meanings}

    def note(self, column: str, kind: str, row_id: str) -> None:
        self._rows[column, kind].append(row_id)

    def problems(self) -> tuple[PlantedProblem, ...]:
        return tuple(
            PlantedProblem(self._dataset, column, kind, meaning, tuple(self._rows[column, kind]))
            for (column, kind), meaning in self._meanings.items()
        )
