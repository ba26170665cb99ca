"""A sandbox with one dataset, started once for all tests of a module."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from steward.sandbox import Column, Dataset, Limits, Request, Response
from steward.sandbox.contract import Envelope
from steward.sandbox.providers.embedded import Embedded
from steward.testing.sandbox import lay_out

Run = Callable[..., Response]


@pytest.fixture(scope="package")
def order_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("datasets")
    # pytest's folders are closed to others; the sandbox of a root user reads as nobody.
    duckdb.sql(
        "SELECT i AS id, i % 3 AS g, CAST(i * 1.5 AS DECIMAL(10, 2)) AS amount, "
        "DATE '2026-01-01' + CAST(i AS INTEGER) AS day, 'name ' || i AS name FROM range(1000) r(i)"
    ).write_parquet(str(folder / "orders.parquet"))
    folder.chmod(0o755)
    # As the blob store keeps them: readable by the owner and its group alone.
    (folder / "orders.parquet").chmod(0o440)
    return folder


@pytest.fixture(scope="package")
def data(order_data: Path) -> Path:
    # By another name than the contract kit's own, which has a smaller scope.
    return order_data


@pytest.fixture(scope="package")
def orders(data: Path) -> Dataset:
    file = data / "orders.parquet"
    names = {
        "id": "BIGINT",
        "g": "BIGINT",
        "amount": "DECIMAL(10,2)",
        "day": "DATE",
        "name": "VARCHAR",
    }
    return Dataset(
        name="orders",
        source=f"read_parquet(['{file}'])",
        files=[str(file)],
        columns=[Column(name=name, type=kind) for name, kind in names.items()],
    )


@pytest.fixture(scope="package")
def kit_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lay_out(tmp_path_factory.mktemp("kit"))


@pytest.fixture(scope="package")
def embedded(order_data: Path, kit_data: Path) -> Iterator[Embedded]:
    """One for all tests that do not change it: starting one costs more than most of them."""
    made = Embedded([order_data, kit_data], ready=2)
    walls = made.prove()
    if walls.tier == "none":
        made.close()
        pytest.skip(f"no walls stand on this machine: {walls.reasons}")
    yield made
    made.close()


@pytest.fixture
def provider(embedded: Embedded) -> Embedded:
    return embedded


@pytest.fixture
def run(provider: Embedded, orders: Dataset) -> Iterator[Run]:
    """Runs code with the guard; `limits` as keywords."""
    never, bell = os.pipe()

    def execute(
        kind: str,
        code: str,
        *,
        guarded: bool = True,
        parameters: dict[str, int] | None = None,
        **limits: float,
    ) -> Response:
        request = Request.model_validate(
            {
                "kind": kind,
                "code": code,
                "datasets": [orders],
                "parameters": parameters or {},
                "limits": Limits(**limits),
            }
        )
        return provider.run(Envelope(request=request, scratch="", guarded=guarded), never)

    yield execute
    os.close(never)
    os.close(bell)
