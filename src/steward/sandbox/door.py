"""The sandbox as the rest of Steward sees it: one request in, one response out, never blocking."""

import asyncio
import os
import time

from steward.core import FairThreads, Misconfigured, Pace
from steward.sandbox.contract import Envelope, Request, Response, Tier
from steward.sandbox.providers import Provider
from steward.sandbox.providers.unconfined import Unconfined
from steward.sandbox.walls import Walls


class Sandbox:
    """At most `concurrency` executions at once; the others wait their turn, in fair shares.

    A person who has none running gets one beside them, up to twice as many in all: a small query does not wait for
    somebody else's long ones.

    Nothing runs below `minimum`, the weakest tier that the administrator accepts; with `none`, code
    runs even where no wall stands.
    """

    def __init__(self, provider: Provider, *, minimum: Tier = "lsm", concurrency: int = 4) -> None:
        self._provider = provider
        self._minimum: Tier = minimum
        self._threads = FairThreads(
            # An execution works in a process of its own, so the time that passes is what it costs.
            concurrency,
            concurrency,
            "sandbox",
            Pace(cost_clock=time.monotonic),
        )

    async def walls(self) -> Walls:
        """What stands on this machine, proven now or before; starts the provider."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._provider.prove)

    async def execute(self, request: Request) -> Response:
        """Guards and runs one request. Cancelling the task kills the execution."""
        return await self._run(Envelope(request=request, scratch=""))

    async def _run(self, envelope: Envelope) -> Response:
        cancelled, bell = os.pipe()
        work = self._threads.submit(self._execute, envelope, cancelled)
        answer = asyncio.wrap_future(work)
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            # What still waits for its turn is dropped; what runs is killed.
            if not work.cancel():
                os.write(bell, b"x")
                # The descriptors belong to the thread until it has seen the bell.
                await asyncio.wait([answer])
                # Nobody wants to know any more how it ended; asked for, it is not logged as forgotten.
                if not answer.cancelled():
                    answer.exception()
            raise
        finally:
            os.close(bell)
            os.close(cancelled)

    def _execute(self, envelope: Envelope, cancelled: int) -> Response:
        walls = self._provider.prove()
        if not walls.reaches(self._minimum):
            reasons = "; ".join(walls.reasons) or "no reason was given"
            raise Misconfigured(
                f"Code is not run here: the walls reach {walls.tier!r}, and the administrator asks "
                f"for {self._minimum!r} at least ({reasons}). `steward doctor` says what to do.",
                code="sandbox-too-weak",
            )
        if walls.tier == "none":
            return Unconfined().run(envelope, cancelled)
        return self._provider.run(envelope, cancelled)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.shut)

    def shut(self) -> None:
        """The same for callers without an event loop; ends every process."""
        self._provider.close()
        self._threads.shutdown(wait=False)
