"""Limits of connections hold for all workers together."""

import threading

import pytest

from steward.connections.catalogue.rates import Rates
from steward.core.errors import RateLimited
from steward.testing import Installation

pytestmark = pytest.mark.every_database


def test_workers_share_the_limit_of_a_connection(installation: Installation) -> None:
    steward, scope = installation.steward, installation.scope
    taken: list[bool] = []

    def work() -> None:
        rates = Rates(steward.database, installation.clock)
        for _ in range(5):
            try:
                rates.take(scope, "con_1", 7)
            except RateLimited:
                taken.append(False)
            else:
                taken.append(True)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert (taken.count(True), len(taken)) == (7, 20)


def test_the_minute_moves_on(installation: Installation) -> None:
    rates = Rates(installation.steward.database, installation.clock)
    scope, clock = installation.scope, installation.clock
    rates.take(scope, "con_1", 2)
    clock.advance(seconds=50)
    rates.take(scope, "con_1", 2)
    with pytest.raises(RateLimited, match="Try again in 10 seconds"):
        rates.take(scope, "con_1", 2)
    # Another connection has a limit of its own.
    rates.take(scope, "con_2", 2)
    clock.advance(seconds=11)
    rates.take(scope, "con_1", 2)
    with pytest.raises(RateLimited, match="Try again in 49 seconds"):
        rates.take(scope, "con_1", 2)
