"""The playbooks of one installation; one attribute per noun."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from steward.broker import Broker, Groups, Outcome, Preview, Rulebook, ToolContext
from steward.core import Clock, Ids, Invalid, Problem, Services
from steward.definitions import Work
from steward.flows import Flow, FlowRunner, Launcher, RunAgent
from steward.identity import Access, Members, Notifications, Principal, Via
from steward.playbooks.blueprint import Blueprints, Bring
from steward.playbooks.compiling import compiled, problems
from steward.playbooks.deployer import Deployer
from steward.playbooks.deployment_files import DeploymentFiles
from steward.playbooks.deployments import Deployments
from steward.playbooks.dispatch import Dispatch
from steward.playbooks.drafts import Drafts
from steward.playbooks.exchange import Exchange
from steward.playbooks.fan_outs import FanOuts
from steward.playbooks.foresight import PastCosts
from steward.playbooks.library import Library
from steward.playbooks.manifest import Manifests
from steward.playbooks.model import Playbook
from steward.playbooks.needs import Datasets, Names, Needs
from steward.playbooks.people import People, subject_of
from steward.playbooks.pins import PinSource
from steward.playbooks.playbook_builder import PlaybookBuilder, chosen, yaml_of
from steward.playbooks.presence import Presence
from steward.playbooks.prices import Expected, FindAgentPast, Prices
from steward.playbooks.rehearsals import Rehearsals
from steward.playbooks.retries import Retries
from steward.playbooks.run_differences import RunDifferences
from steward.playbooks.running import Running
from steward.playbooks.shadows import Shadows
from steward.playbooks.subscriptions import Subscriptions
from steward.playbooks.trigger_desk import TriggerDesk
from steward.playbooks.trigger_events import TOPIC, TriggerEvents
from steward.playbooks.unattended import Unattended
from steward.playbooks.watch import Watch
from steward.runs import Json, Runs
from steward.store import Bus, Database, EventLog, Keyring, Scope, SecretStore
from steward.versions import Versions


@dataclass(frozen=True)
class Surroundings:
    """What playbooks use of rooms that they do not know."""

    names: Mapping[str, Names]
    """What playbooks may name besides tools, by field: `connections`, `skills`, `agents`."""
    sources: Mapping[str, PinSource]
    """Where the parts of a deployment are looked up, by kind."""
    datasets: Datasets
    bring: Bring
    run_agent: RunAgent
    expected_cost: Expected
    agent_past: FindAgentPast


class Playbooks:
    """Also the service `playbooks` of the tools that call and draft them."""

    def __init__(
        self,
        database: Database,
        events: EventLog,
        clock: Clock,
        ids: Ids,
        members: Members,
        groups: Groups,
        rulebook: Rulebook,
        broker: Broker,
        launcher: Launcher,
        runs: Runs,
        home: Path,
        versions: Versions,
        around: Surroundings,
        *,
        bus: Bus,
        keyring: Keyring,
        secrets: SecretStore,
        notifications: Notifications,
        services: Services,
    ) -> None:
        """`services` are those that sources of triggers may use, by name."""
        self._clock = clock
        self._launcher = launcher
        self._names = around.names
        self.people = People(database, members, groups)
        self.library = Library(database, events, clock, ids, self.people, self.problems)
        self.needs = Needs(around.datasets, around.names["connections"])
        self.deployments = Deployments(database, clock)
        self.manifests = Manifests(
            self.library, self.people, self.needs, self.problems, around.sources
        )
        self.running = Running(
            database,
            self.library,
            self.deployments,
            self.people,
            runs,
            launcher,
            broker,
            rulebook,
            self.needs,
            self.manifests,
        )
        past = PastCosts(runs)
        self.prices = Prices(
            self.library,
            self.manifests,
            self.people,
            past,
            broker.tools,
            around.expected_cost,
            around.agent_past,
        )
        self.flow_runner = FlowRunner(
            runs,
            broker,
            around.run_agent,
            Unattended(self.library, self.needs, notifications, self.manifests),
            FanOuts(past, self.prices, self.people).foresee,
            self.manifests.code_problem,
        )
        self.rehearsals = Rehearsals(
            database,
            clock,
            ids,
            self.library,
            self.people,
            self.running,
            runs,
            self.flow_runner,
            versions,
        )
        subscriptions = Subscriptions(database, events, notifications, clock, ids, keyring)
        self.shadows = Shadows(
            database,
            clock,
            bus,
            self.library,
            self.people,
            self.manifests,
            self.deployments,
            self.rehearsals,
            runs,
            RunDifferences(runs, self.flow_runner, broker.tools),
        )
        self.deploying = Deployer(
            self.library,
            self.people,
            self.running,
            subscriptions,
            self.manifests,
            self.deployments,
            self.rehearsals,
            self.shadows,
        )
        self.retries = Retries(self.library, self.people, self.running, runs)
        trigger_events = TriggerEvents(database, events, bus, clock, ids, runs, subscriptions)
        dispatch = Dispatch(
            database,
            events,
            clock,
            runs,
            subscriptions,
            self.deploying.pinned,
            self.running.on_trigger,
        )
        watch = Watch(
            database, events, bus, clock, subscriptions, trigger_events, dispatch, services
        )
        self.triggers = TriggerDesk(
            self.library, self.deploying, subscriptions, trigger_events, watch, secrets, clock
        )
        runs.parts.beside.append(watch.serve)
        runs.parts.beside.append(self.shadows.serve)
        runs.parts.chores += [trigger_events.tidy, self.shadows.tidy]
        # What waits for a place gets it as soon as a run is over.
        runs.parts.on_end.append(lambda _: bus.wake(TOPIC))
        self.exchange = Exchange(self.library, database)
        self.deployment_files = DeploymentFiles(self.library, self.deploying, self.exchange)
        self.blueprints = Blueprints(home, self.library, around.datasets, around.bring)
        self.building = PlaybookBuilder(self.library, self.people)
        self.presence = Presence(database, clock, self.library)
        self.drafts = Drafts(database, clock, self.library)

    def problems(self, access: Access, playbook: Playbook) -> Iterator[Problem]:
        """Everything wrong with a playbook whose form is right, in this project, now."""
        yield from problems(playbook, self._launcher.catalogue(access.scope, _flow(playbook)))
        for index, trigger in enumerate(playbook.triggers):
            for found in trigger.problems(self._clock.now()):
                yield Problem(f"/triggers/{index}{found.pointer}", found.message)
        for field, names in self._names.items():
            known = frozenset(names(access.scope))
            for index, name in enumerate(getattr(playbook, field)):
                if name not in known:
                    yield Problem(f"/{field}/{index}", f"there is no {field[:-1]} {name!r} here")

    def preview_draft(self, form: Json, understood: Json) -> str:
        return yaml_of(chosen(form, understood))

    def draft(self, context: ToolContext, form: Json, understood: Json) -> Outcome:
        return self.building.draft(context, chosen(form, understood))

    def work_on_data(self, scope: Scope, user_id: str) -> list[Work]:
        """The steps of every playbook that the person may see, to find what uses a definition."""
        viewer = self.people.author(scope, user_id)
        access = Access(Principal(user_id, "", "", Via.session), scope, viewer.role)
        found = []
        for card in self.library.listed(access, limit=1_000):
            playbook = self.library.revision(access, card.id).playbook
            steps = playbook.steps or (playbook.graph or {}).get("nodes") or []
            needs = [each.model_dump(mode="json") for each in playbook.data]
            found.append(Work(card.slug, card.title, (*steps, *needs)))
        return found

    def watched_playbook(self, scope: Scope, user_id: str, named: str) -> str:
        """The subject of the runs of a playbook that the person sees; NotFound for all others."""
        viewer = self.people.author(scope, user_id)
        return subject_of(self.library.seen_by(scope, viewer, named).id)

    async def preview(self, context: ToolContext, playbook: str, inputs: Json) -> Preview:
        return await self.running.preview(context, playbook, inputs)

    async def call(self, context: ToolContext, playbook: str, inputs: Json) -> Outcome:
        return await self.running.call(context, playbook, inputs)


def _flow(playbook: Playbook) -> Flow | None:
    try:
        return compiled(playbook)
    except Invalid:
        # What is wrong with it is told where problems are.
        return None
