"""The first start of an installation: an owner, an organisation, a demo project with sample data."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from steward.app.compose import Steward
from steward.core import Misconfigured
from steward.identity import User
from steward.samples import load_samples
from steward.store import Scope
from steward.versions import calls_only

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
        create_demo(steward, org_id, owner.id, progress)
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
    chosen = steward.settings.identity
    password = chosen.first_password.get_secret_value() if chosen.first_password else None
    owner = identity.users.find(chosen.first_owner) or identity.users.create(
        chosen.first_owner, OWNER_NAME, password
    )
    identity.projects.create_organisation(ORGANISATION, owner.id)
    return owner


def create_demo(
    steward: Steward, org_id: str, owner_id: str, progress: Progress = lambda _: None
) -> str:
    """The first project: its data is stored before it, so that it appears complete or not at all."""
    # The same id at every attempt, so that one which was cut short is continued.
    project_id = f"prj_{org_id.partition('_')[2]}"
    scope = Scope(org_id, project_id)
    workbench = steward.workbench
    present = {card.name for card in workbench.datasets.page(scope, owner_id)}
    with TemporaryDirectory() as folder:
        for dataset in load_samples():
            if dataset.name in present:
                continue
            progress(f"Loading {dataset.filename}")
            path = Path(folder) / dataset.filename
            path.write_bytes(dataset.content)
            # There is no project yet, and so nobody whose rules could be asked.
            with calls_only(required=False):
                workbench.bringing.load(scope, owner_id, path, dataset.filename, dataset.name)
    return steward.identity.projects.create(
        org_id, DEMO_PROJECT, owner_id, is_demo=True, project_id=project_id
    )
