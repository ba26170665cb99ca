"""Whoever compares the same data at the same time, and whoever tidies up meanwhile, leaves the others their files."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scripts.samples import generate
from steward.testing import Installation
from steward.workbench import entity_resolution as resolving

pytestmark = pytest.mark.every_database


@pytest.fixture
def datasets(installation: Installation, tmp_path: Path) -> list[str]:
    access = installation.owner.access
    found = generate(customers=30).datasets[:2]
    for dataset in found:
        path = tmp_path / dataset.filename
        path.write_bytes(dataset.content)
        installation.steward.workbench.bringing.load(
            access.scope, access.user_id, path, dataset.filename, dataset.name
        )
    return [dataset.name for dataset in found]


def test_the_same_data_is_compared_by_several_at_once(
    installation: Installation, datasets: list[str]
) -> None:
    access, workbench = installation.owner.access, installation.steward.workbench
    with ThreadPoolExecutor(3) as pool:
        begun = [
            pool.submit(workbench.resolving.propose, access.scope, access.user_id, datasets)
            for _ in range(3)
        ]
    assert len({each.result()["rules"] for each in begun}) == 1


def test_a_folder_in_use_outlives_tidying_up(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work = installation.steward.workbench.resolving
    monkeypatch.setattr(resolving, "_KEPT_FOLDERS", 0)
    stale = at_work._folder / "stale"
    stale.mkdir(parents=True)
    os.utime(stale, (0, 0))
    with resolving._locked(stale):
        at_work._forget_old(at_work._folder / "current")
        assert stale.exists()
    at_work._forget_old(at_work._folder / "current")
    assert not stale.exists()
