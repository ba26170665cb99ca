"""What commands change, they change through the broker, like the pages."""

import asyncio
import signal
import time
from typing import Final

from steward.cli.output import progress
from steward.cli.projects import Here
from steward.core import Progress, Work, doing
from steward.flows import Called, DirectCall
from steward.identity import Role
from steward.versions import Commit

_QUIET: Final = 2.0
"""Seconds before anything is said: most calls are over by then."""


def call(here: Here, wanted: DirectCall, role: Role = Role.editor) -> Called:
    """Makes the call and waits for it; what stops it is raised, also that somebody must approve it first."""
    here.access.require(role)
    with doing(Work(_Telling())):
        return asyncio.run(_cancellable(here, wanted))


async def _cancellable(here: Here, wanted: DirectCall) -> Called:
    """Makes the call; Ctrl-C cancels its run, a second Ctrl-C ends the command at once."""
    cancel = asyncio.Event()
    loop = asyncio.get_running_loop()

    def interrupted() -> None:
        progress("Cancelling. Press Ctrl-C again to stop without waiting.")
        cancel.set()
        loop.remove_signal_handler(signal.SIGINT)

    loop.add_signal_handler(signal.SIGINT, interrupted)
    try:
        return await here.steward.governing.direct_calls.run(here.access, wanted, cancel)
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def committed(here: Here, wanted: DirectCall) -> Commit:
    """The commit that a call made."""
    done = call(here, wanted)
    place = here.steward.workbench.datasets.workspace(here.scope, here.access.user_id)
    return place.commit_at(done.commits[-1])


class _Telling:
    """Says how far a call is, once for each thing it does and then about every other second."""

    def __init__(self) -> None:
        self._said = ""
        self._next = time.monotonic() + _QUIET

    def __call__(self, made: Progress) -> None:
        now = time.monotonic()
        if now < self._next or (made.doing == self._said and now < self._next + _QUIET):
            return
        self._said, self._next = made.doing, now
        progress(f"{made.doing} {made.done:,} of {made.total:,}" if made.total else made.doing)
