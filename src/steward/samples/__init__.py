"""The demo data and its truth: messy exports of three systems about the same customers, shipped as files.

`python -m scripts.samples --ship` of the repository makes the files; all people and companies in them are invented.
"""

import csv
import lzma
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["CUSTOMERS", "load_sample_truth", "load_samples"]

CUSTOMERS: Final = 1_200
"""Of how many customers the files tell."""

_SMALL: Final = 60
"""A set of its own, for evaluation: what its questions are read as depends on the values in it."""
_NAMES: Final = ("crm_customers", "billing_invoices", "support_tickets")
Row = tuple[str, str]
"""A dataset and the key of one of its rows."""


@dataclass(frozen=True, slots=True)
class SampleDataset:
    name: str
    content: bytes

    @property
    def filename(self) -> str:
        return f"{self.name}.csv"


def load_samples(customers: int = CUSTOMERS) -> tuple[SampleDataset, ...]:
    """The exports with the rows of the first so many customers, byte for byte as the systems wrote them."""
    if customers in (_SMALL, CUSTOMERS):
        return tuple(SampleDataset(name, _read(name, customers)) for name in _NAMES)
    truth = load_sample_truth(customers)
    return tuple(SampleDataset(name, _part(name, truth)) for name in _NAMES)


def load_sample_truth(customers: int = CUSTOMERS) -> dict[Row, str]:
    """To which real customer each row of the exports belongs."""
    whole = _truth(_SMALL if customers == _SMALL else CUSTOMERS)
    return {row: entity for row, entity in whole.items() if int(entity[2:]) <= customers}


@cache
def _truth(size: int) -> dict[Row, str]:
    lines = csv.reader(_read("truth", size).decode().splitlines()[1:])
    return {(dataset, row_id): entity for dataset, row_id, entity in lines}


def _read(name: str, size: int = CUSTOMERS) -> bytes:
    return lzma.decompress((files(__name__) / f"{name}.{size}.csv.xz").read_bytes())


def _part(name: str, truth: dict[Row, str]) -> bytes:
    records = _records(_read(name))
    rows = [row for dataset, row in _truth(CUSTOMERS) if dataset == name]
    chosen = [record for row, record in zip(rows, records[1:], strict=True) if (name, row) in truth]
    return b"".join([records[0], *chosen])


def _records(content: bytes) -> list[bytes]:
    """The lines of a CSV file; one with a line break between quotes goes on in the next."""
    found: list[bytes] = []
    open_quotes = False
    for line in content.splitlines(keepends=True):
        if open_quotes:
            found[-1] += line
        else:
            found.append(line)
        open_quotes ^= line.count(b'"') % 2 == 1
    return found
