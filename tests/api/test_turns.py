"""Work of requests that blocks a thread: nobody's requests hold up those of others."""

import asyncio
import threading

from steward.api.context import ApiContext
from steward.core.shares import current_share
from steward.identity import Role
from steward.testing import Installation


def test_a_request_does_not_wait_for_the_many_of_somebody_else(installation: Installation) -> None:
    context: ApiContext = installation.api.state.context
    busy, quiet = installation.owner.access, installation.person(Role.operator).access
    go_on = threading.Event()

    async def both() -> str:
        many = [asyncio.create_task(context.in_turn(busy, go_on.wait)) for _ in range(100)]
        try:
            async with asyncio.timeout(30):
                return await context.in_turn(quiet, lambda: current_share().person)
        finally:
            go_on.set()
            await asyncio.gather(*many)

    assert asyncio.run(both()) == quiet.user_id
