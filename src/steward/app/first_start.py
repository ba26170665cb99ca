"""The first start of an installation: an owner, an organisation, a demo project with sample data."""

from collections.abc import Callable
from dataclasses import dataclass

import sqlalchemy as sa

from steward.app.compose import Steward
from steward.core.errors import Misconfigured
from steward.data.files import files
from steward.data.samples import generate
from steward.identity import User
from steward.store import Scope
from steward.store.eventlog import events

OWNER_EMAIL = "owner@localhost"
OWNER_NAME = "Owner"
ORGANISATION = "My organisation"
DEMO_PROJECT = "Demo: customer data"
Progress = Callable[[str], None]


@dataclass(frozen=True)
class FirstStart:
    owner: User
    created: bool


def prepare_first_start(
    steward: Steward, progress: Progress = lambda _: None, *, demo: bool | None = None
) -> FirstStart:
    """Fills an empty installation and finishes a first start that was cut short; else changes nothing."""
    identity = steward.identity
    owner = identity.users.first_owner() or _first_owner(steward, progress)
    if identity.projects.any_exists():
        return FirstStart(owner, created=False)
    org_id = identity.projects.organisations()[0].id
    if steward.settings.demo if demo is None else demo:
        progress("Creating the demo project with sample data")
        create_demo(steward, org_id, owner.id)
    else:
        identity.projects.create(org_id, "My project", owner.id)
    return FirstStart(owner, created=True)


def _first_owner(steward: Steward, progress: Progress) -> User:
    identity = steward.identity
    if identity.projects.organisations():
        raise Misconfigured(
            "This installation has no active owner. Make one with 'steward user role EMAIL owner'."
        )
    progress("Creating the first user")
    owner = identity.users.find(OWNER_EMAIL) or identity.users.create(OWNER_EMAIL, OWNER_NAME)
    identity.projects.create_organisation(ORGANISATION, owner.id)
    return owner


def create_demo(steward: Steward, org_id: str, owner_id: str) -> str:
    """The first project: its files are stored before it, so that it appears complete or not at all."""
    # The same id at every attempt, so that one which was cut short leaves nothing behind.
    project_id = f"prj_{org_id.partition('_')[2]}"
    scope = Scope(org_id, project_id)
    with steward.database.write(scope) as tx:
        tx.execute(sa.delete(files))
        tx.execute(sa.delete(events))
    for dataset in generate().datasets:
        steward.files.add(
            scope,
            dataset.filename,
            [dataset.content],
            author=owner_id,
            media_type="text/csv",
            description=dataset.description,
        )
    return steward.identity.projects.create(
        org_id, DEMO_PROJECT, owner_id, is_demo=True, project_id=project_id
    )
