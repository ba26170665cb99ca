"""The escape battery against the walls alone, on every tier and user that this machine allows."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from steward.sandbox.contract import Tier
from steward.sandbox.providers.embedded import Embedded
from tests.sandbox.as_user import ORDINARY
from tests.sandbox.attacks import ATTACKS, Attack
from tests.sandbox.battery import TIGHT, endless, fell, fully, ground, quickly

TIERS: tuple[Tier, ...] = ("ns", "lsm")


def test_the_corpus_is_large_and_its_names_differ() -> None:
    assert len(ATTACKS) >= 80
    in_few = {attack.name for attack in [*quickly(), *endless()]}
    assert {attack.name for attack in ATTACKS if not attack.expression} <= in_few
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)


@pytest.mark.parametrize("tier", TIERS)
def test_nothing_gets_out(tier: Tier, tmp_path: Path) -> None:
    assert _fell_here(tier, tmp_path, quickly()) == []


@pytest.mark.soak
@pytest.mark.parametrize("tier", TIERS)
def test_escapes_each_in_a_process_of_its_own(
    tier: Tier, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """In `make test` those alone that have not been tried together, because only time ends them."""
    attacks = fully() if request.config.getoption("--full") else endless()
    assert _fell_here(tier, tmp_path, attacks) == []


def _fell_here(tier: Tier, folder: Path, attacks: Sequence[Attack]) -> list[str]:
    with ground(folder / "ground") as (root, aim):
        provider = Embedded([root], tiers=(tier,), limits=TIGHT)
        try:
            walls = provider.prove()
            if walls.tier != tier:
                pytest.skip(f"this machine does not carry {tier}: {walls.reasons}")
            return fell(provider, aim, attacks)
        finally:
            provider.close()


@pytest.mark.soak
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("tier", TIERS)
def test_escapes_as_an_ordinary_user(tier: Tier, request: pytest.FixtureRequest) -> None:
    """Also without namespaces: the weakest walls, which root's own closed interpreter may not reach."""
    pace = "full" if request.config.getoption("--full") else "quick"
    assert _as_ordinary_user(tier, pace) == []


def _as_ordinary_user(tier: Tier, pace: str) -> list[str]:
    here = Path(__file__).parent
    folder = Path(tempfile.mkdtemp(prefix="steward-battery-", dir="/tmp"))
    os.chown(folder, ORDINARY, ORDINARY)
    program = [here / "battery.py", tier, folder / "ground", pace]
    try:
        done = subprocess.run(
            [sys.executable, here / "as_user.py", *program],
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert (told["user"], told["tier"]) == (ORDINARY, tier), told
        wrong: list[str] = told["wrong"]
        return wrong
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)
