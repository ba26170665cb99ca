"""Questions that others wrote, over databases of theirs: the shape in which the benchmark asks them."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.question_sets import Turn
from benchmarks.question_sets.comparing import Row


@dataclass(frozen=True)
class Case:
    turn: Turn
    answers: tuple[Sequence[Row], ...] = ()
    """The results of the queries that its authors call right; none where it cannot be answered."""


@dataclass(frozen=True)
class Database:
    name: str
    files: dict[str, Path]
    cases: tuple[Case, ...]


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
    return path
