"""Puts the three exports and their truth together from one seed."""

from collections.abc import Sequence
from dataclasses import dataclass

from scripts.samples import billing, crm, support
from scripts.samples.accounts import open_accounts
from scripts.samples.customers import Population
from scripts.samples.dice import Dice
from scripts.samples.export import Dialect, render
from scripts.samples.truth import Ledger, PlantedForeignKey, PlantedKey, Truth, TruthRow

DEFAULT_SEED = 20260
DEFAULT_CUSTOMERS = 1200


@dataclass(frozen=True, slots=True)
class SampleDataset:
    """One export: its bytes and how to read them."""

    name: str
    filename: str
    description: str
    content: bytes
    encoding: str
    delimiter: str
    decimal: str
    columns: tuple[str, ...]
    row_id: str
    rows: int


@dataclass(frozen=True, slots=True)
class SampleSet:
    """The three exports and the truth about them."""

    seed: int
    customers: int
    datasets: tuple[SampleDataset, ...]
    truth: Truth

    def dataset(self, name: str) -> SampleDataset:
        for dataset in self.datasets:
            if dataset.name == name:
                return dataset
        known = ", ".join(dataset.name for dataset in self.datasets)
        raise KeyError(f"no sample dataset is called {name!r}; there are {known}")


def generate(seed: int = DEFAULT_SEED, customers: int = DEFAULT_CUSTOMERS) -> SampleSet:
    """The samples of a seed: the same arguments give the same bytes, always and everywhere."""
    if customers < 1:
        raise ValueError(f"customers is {customers}, but at least 1 is needed")
    # A stream of draws for each part, so that a change to one leaves the others as they were.
    people, sales, desk, invoicing, helping = (Dice(seed * 8 + part) for part in range(5))
    population = Population(people).draw(customers)
    ledgers = {part.NAME: Ledger(part.NAME, part.MEANINGS) for part in (crm, billing, support)}
    crm_table = crm.build(sales, population, ledgers[crm.NAME])
    accounts, numbers = open_accounts(desk, population, crm_table.ids, crm_table.deleted_ids)
    bills = billing.build(invoicing, accounts, ledgers[billing.NAME])
    tickets = support.build(helping, population, bills, numbers, ledgers[support.NAME])
    datasets = (
        _dataset(crm.NAME, crm.DESCRIPTION, crm.COLUMNS, crm_table.rows, crm.DIALECT),
        _dataset(
            billing.NAME, billing.DESCRIPTION, billing.COLUMNS, bills.rows, billing.DIALECT, ","
        ),
        _dataset(support.NAME, support.DESCRIPTION, support.COLUMNS, tickets.rows, support.DIALECT),
    )
    truth_rows = (
        *_same_customers(crm.NAME, crm_table.rows, crm_table.entities),
        *_same_customers(billing.NAME, bills.rows, bills.entities),
        *_same_customers(support.NAME, tickets.rows, tickets.entities),
    )
    truth = _truth(truth_rows, ledgers)
    return SampleSet(seed, customers, datasets, truth)


def _dataset(
    name: str,
    description: str,
    columns: tuple[str, ...],
    rows: Sequence[tuple[str, ...]],
    dialect: Dialect,
    decimal: str = ".",
) -> SampleDataset:
    return SampleDataset(
        name=name,
        filename=f"{name}.csv",
        description=description,
        content=render(columns, rows, dialect),
        encoding=dialect.encoding,
        delimiter=dialect.delimiter,
        decimal=decimal,
        columns=columns,
        row_id=columns[0],
        rows=len(rows),
    )


def _same_customers(
    name: str, rows: Sequence[tuple[str, ...]], entities: Sequence[str]
) -> list[TruthRow]:
    return [TruthRow(name, row[0], entity) for row, entity in zip(rows, entities, strict=True)]


def _truth(rows: tuple[TruthRow, ...], ledgers: dict[str, Ledger]) -> Truth:
    problems = tuple(problem for ledger in ledgers.values() for problem in ledger.problems())
    counts = {(p.dataset, p.column, p.kind): p.count for p in problems}
    keys = (
        PlantedKey(crm.NAME, ("customer_id",)),
        PlantedKey(billing.NAME, ("invoice_no",)),
        PlantedKey(support.NAME, ("ticket_id",)),
    )
    foreign_keys = (
        PlantedForeignKey(
            dataset=billing.NAME,
            column="crm_id",
            target_dataset=crm.NAME,
            target_column="customer_id",
            missing=counts[billing.NAME, "crm_id", "missing"],
            noisy=0,
            orphans=counts[billing.NAME, "crm_id", "orphan"],
        ),
        PlantedForeignKey(
            dataset=support.NAME,
            column="account_ref",
            target_dataset=billing.NAME,
            target_column="account_no",
            missing=counts[support.NAME, "account_ref", "missing"],
            noisy=counts[support.NAME, "account_ref", "noise"],
            orphans=counts[support.NAME, "account_ref", "orphan"],
        ),
    )
    return Truth(rows, keys, foreign_keys, problems)
