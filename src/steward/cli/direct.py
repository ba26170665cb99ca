"""What commands change, they change through the broker, like the pages."""

import asyncio

from steward.cli.projects import Here
from steward.data.versions import Commit
from steward.flows.direct_calls import Called, DirectCall
from steward.identity import Role


def call(here: Here, wanted: DirectCall, role: Role = Role.editor) -> Called:
    """Makes the call and waits for it; what stops it is raised, also that somebody must approve it first."""
    here.access.require(role)
    return asyncio.run(here.steward.governing.direct_calls.run(here.access, wanted))


def committed(here: Here, wanted: DirectCall) -> Commit:
    """The commit that a call made."""
    done = call(here, wanted)
    place = here.steward.workbench.datasets.workspace(here.scope, here.access.user_id)
    return place.commit_at(done.commits[-1])
