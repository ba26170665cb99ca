"""Installations for evaluation: empty but for sample data, apart from everything real, gone afterwards."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from argon2 import PasswordHasher

from steward.app.compose import Steward, open_steward
from steward.core import (
    BlobSettings,
    ConnectionsSettings,
    DatabaseSettings,
    ModelsSettings,
    MovableClock,
    RunsSettings,
    Settings,
    TraceSettings,
    copied,
)
from steward.definitions import Definitions, diff_definitions
from steward.evaluation import Cast, Site, Suite
from steward.identity import Access, Passwords, Principal, Role, User, Via
from steward.samples import load_samples
from steward.store import Scope
from steward.versions import calls_only

_MOMENT: Final = datetime(2026, 3, 1, tzinfo=UTC)
"""Now, in every evaluation: plans that say "last month" come out alike."""


class Sites:
    """Makes one installation for each size of sample data and copies it for each suite."""

    def __init__(self, settings: Settings, folder: Path, cast: Cast) -> None:
        self._settings = settings
        self._folder = folder
        self._cast = cast
        self._made: dict[tuple[int, bool], tuple[Path, Mapping[str, Access]]] = {}
        self._opened = 0

    @contextmanager
    def open(self, suite: Suite) -> Iterator[Site]:
        customers = suite.head.customers
        template, people = self._template(customers, suite.head.profiled)
        self._opened += 1
        home = self._folder / f"suite-{self._opened}"
        shutil.copytree(template, home)
        clock = MovableClock(_MOMENT)
        steward = open_steward(self._apart(home), clock=clock, models=self._cast)
        try:
            for table in suite.head.data:
                _load(steward, people["owner"], home, table.name, table.csv.encode())
            _define(steward, people["owner"], suite.head.definitions)
            if suite.head.tools:
                rulebook = steward.governing.rulebook
                rulebook.change_settings(people["owner"], 0, tools=suite.head.tools)
            yield _site(steward, people, clock, self._cast, customers)
        finally:
            steward.close()
            shutil.rmtree(home, ignore_errors=True)

    def _template(self, customers: int, profiled: bool) -> tuple[Path, Mapping[str, Access]]:
        if (customers, profiled) not in self._made:
            home = self._folder / f"samples-{customers}{'-profiled' if profiled else ''}"
            clock = MovableClock(_MOMENT)
            # Nobody signs in here.
            passwords = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
            steward = open_steward(self._apart(home), clock=clock, passwords=passwords)
            try:
                people = _people(steward)
                samples = load_samples(customers) if customers else ()
                for each in samples:
                    _load(steward, people["owner"], home, each.name, each.content)
                if profiled:
                    _profile(steward, people["owner"])
            finally:
                steward.close()
            self._made[customers, profiled] = home, people
        return self._made[customers, profiled]

    def _apart(self, home: Path) -> Settings:
        """The machine's sandbox and network rules, and nothing else of the real installation."""
        return self._settings.model_copy(
            update={
                "home": home,
                "database": DatabaseSettings(),
                "blobs": BlobSettings(),
                "runs": RunsSettings(),
                "trace": TraceSettings(),
                "models": ModelsSettings(),
                "connections": ConnectionsSettings(discovery=False),
            }
        )


def _define(steward: Steward, owner: Access, definitions: Definitions) -> None:
    """What the suite says that words mean, as if people had confirmed it."""
    changes = diff_definitions(Definitions(), definitions)
    if changes:
        steward.definitions.save(
            owner.scope, owner.user_id, changes, message="As the suite says", call="suite"
        )


def _people(steward: Steward) -> Mapping[str, Access]:
    identity = steward.identity
    owner = identity.users.create("owner@example.com", "Owner")
    organisation = identity.projects.create_organisation("Evaluation", owner.id)
    project = identity.projects.create(organisation.id, "Evaluation", owner.id)
    people = {"owner": _enter(steward, owner, project)}
    for role in (role for role in Role if role is not Role.owner):
        user = identity.users.create(f"{role.name}@example.com", role.name.title())
        with steward.database.write(Scope(organisation.id, project)) as tx:
            identity.members.add_within(tx, user.id, role)
        people[role.name] = _enter(steward, user, project)
    return people


def _enter(steward: Steward, user: User, project_id: str) -> Access:
    principal = Principal(user.id, user.email, user.name, Via.session)
    return steward.identity.projects.enter(principal, project_id)


def _load(steward: Steward, access: Access, home: Path, name: str, content: bytes) -> None:
    path = home / "loading.csv"
    path.write_bytes(content)
    with calls_only(required=False):
        steward.workbench.bringing.load(access.scope, access.user_id, path, f"{name}.csv", name)
    path.unlink()


def _profile(steward: Steward, access: Access) -> None:
    bench = steward.workbench
    for each in bench.datasets.workspace(access.scope, access.user_id).datasets():
        bench.insights.profile(access.scope, each.name, each.version)


def _site(
    steward: Steward, people: Mapping[str, Access], clock: MovableClock, cast: Cast, customers: int
) -> Site:
    governing = steward.governing
    return copied(
        Site,
        governing,
        access=people["owner"],
        people=people,
        clock=clock,
        cast=cast,
        runs=steward.runs,
        threads=steward.threads,
        workbench=steward.workbench,
        tools=governing.broker.tools,
        customers=customers,
    )
