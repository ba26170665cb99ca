"""Wires one installation of Steward together."""

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from secrets import token_bytes
from typing import Any

from steward.agents import Live, Threads, builtin_roster
from steward.agents.composed import ComposedAgents
from steward.agents.skills import ScriptTools, Skills
from steward.app.activity import Activity
from steward.app.alerting import AlertBystanders
from steward.app.analysing import RunAnalyses
from steward.app.connecting import open_connections
from steward.app.governing import Governing, Scrubbing, govern
from steward.app.modelling import open_models
from steward.app.parts import PartSources
from steward.app.present_access import present_access
from steward.app.removing import Removing, remove_by_retention
from steward.app.sign_on import CheckedWay, open_sign_on
from steward.app.staffing import Planning, Staff, hire, know_prices, put_to_work
from steward.app.tracing import Observations, observe_runs, stream_events, watch_runs
from steward.broker import TOOLS, Toolbox, approval_claims
from steward.connections import Desk, Folders, Http, Mailer
from steward.core import Clock, Ids, Misconfigured, NotFound, Settings, SystemClock
from steward.definitions import DefinitionStore
from steward.evaluation import Reports
from steward.flows import DEFAULT_BUDGET, CodeChecks, DirectCall
from steward.identity import Access, ClientDocuments, Identity, Passwords
from steward.identity.sign_on import SignOn
from steward.models import ConfiguredModels, Lineup, ModelDesk, Setups
from steward.playbooks import Bring, Playbooks, Unattended
from steward.plugins import Plugins, PluginTools
from steward.projects import (
    AgentKind,
    Applies,
    BudgetKind,
    ConnectionKind,
    DefinitionKind,
    PlaybookKind,
    PolicyKind,
    ProjectCode,
    ToolsKind,
)
from steward.runs import Doorbell, HeadLog, Runs
from steward.sandbox import Provider, Sandbox
from steward.store import (
    BlobStore,
    Bus,
    Database,
    EventLog,
    FileBlobs,
    Keyring,
    PostgresBus,
    Scope,
    SecretSources,
    SecretStore,
    Signer,
    migrate,
    open_keyring,
)
from steward.tools import KEPT_ADDRESSES, McpTools, ServiceTools, load_tools
from steward.trace import Collector, Metrics
from steward.workbench import Workbench

_LONGEST_LOAD = timedelta(days=2)
HASHING_KEY = "steward.redaction_key"


@dataclass(frozen=True)
class Steward:
    """An open installation; one attribute per room or part."""

    settings: Settings
    clock: Clock
    ids: Ids
    database: Database
    blobs: BlobStore
    bus: Bus
    events: EventLog
    keyring: Keyring
    secrets: SecretStore
    identity: Identity
    removing: Removing
    client_documents: ClientDocuments
    sign_on: SignOn
    workbench: Workbench
    definitions: DefinitionStore
    connections: Desk
    runs: Runs
    governing: Governing
    playbooks: Playbooks
    project_code: ProjectCode
    plugins: Plugins
    threads: Threads
    live: Live
    staff: Staff
    planning: Planning
    sandbox: Sandbox
    code_checks: CodeChecks
    skills: Skills
    agents: ComposedAgents
    models: ConfiguredModels
    evaluations: Reports
    metrics: Metrics
    observations: Observations
    activity: Activity
    analyses: RunAnalyses
    collector: Collector | None

    @property
    def setups(self) -> Setups:
        """Models that people set up."""
        assert self.models.setups is not None  # noqa: S101
        return self.models.setups

    def close(self) -> None:
        self.runs.close()
        self.plugins.close()
        if self.models.servers is not None:
            self.models.servers.close()
        if self.collector is not None:
            self.collector.close()
        self.sandbox.shut()
        self.workbench.close()
        self.bus.close()
        self.database.close()


def open_steward(
    settings: Settings,
    *,
    clock: Clock | None = None,
    passwords: Passwords | None = None,
    models: Lineup | None = None,
    provider: Provider | None = None,
) -> Steward:
    """Opens the installation in `settings.home`, creating or migrating what is missing.

    `models` and the `provider` of sandboxes stand in for those of the settings.
    """
    clock = clock or SystemClock()
    ids = Ids(clock)
    _make_home(settings.home)
    database = open_database(settings)
    with ExitStack() as on_failure:
        on_failure.callback(database.close)
        migrate(database)
        blobs = open_blobs(settings)
        keyring = open_keyring(database, key_file(settings), ids.new("key"))
        on_failure.pop_all()
    bus = Bus() if database.is_sqlite else PostgresBus(database)
    events = EventLog(database, bus, clock, ids)
    secrets = SecretStore(database, keyring, clock, events, SecretSources(settings.secrets.sources))
    scrubbing = Scrubbing(database, secrets, clock)
    workbench = Workbench(
        database,
        blobs,
        clock,
        ids,
        events,
        settings.home.resolve() / "work",
        hashing_key=lambda scope: _hashing_key(secrets, scope),
        scrub=scrubbing,
    )
    definitions = DefinitionStore(database, workbench, events, clock)
    identity = Identity(database, clock, ids, events, settings.identity, keyring, passwords)
    runs = Runs(
        database,
        blobs,
        bus,
        events,
        clock,
        ids,
        HeadLog(Signer.of(keyring), approval_claims),
        scrubbing,
        _doorbell(settings, database, keyring),
        settings.runs.most_lost,
    )
    sandbox = open_sandbox(settings, provider)
    services: dict[str, Any] = {
        "workbench": workbench,
        "secrets": secrets,
        "blobs": blobs,
        "clock": clock,
        "definitions": definitions,
        "runs": runs,
        "events": events,
        "bus": bus,
        "folders": Folders.of(settings.connections.file_folders, settings.home),
        "sandbox": sandbox,
        "http": Http(
            allow_private=settings.network.allow_private,
            tells_trace=settings.trace.tell_services,
        ),
        "mail": Mailer(allow_private=settings.network.allow_private),
        "name_of": lambda user_id: identity.users.get(user_id).name,
    }
    services["connections"] = connections = open_connections(
        settings, database, secrets, events, clock, ids, identity, workbench, services
    )
    load_tools()
    toolbox = Toolbox(TOOLS)
    skills = Skills(database, blobs, events, clock, toolbox.names)
    plugins = Plugins(
        database, blobs, events, bus, clock, connections.keepers, settings.home.resolve()
    )
    _fill(toolbox, skills, connections, plugins)
    live, roster = Live(database, bus, clock), builtin_roster()
    configured = open_models(
        settings, database, secrets, events, clock, identity, connections, services
    )
    desk = ModelDesk(models or configured, conceal=scrubbing)
    agents = ComposedAgents(database, events, clock, ids, toolbox, skills, desk.all_names)
    governing = govern(
        database,
        events,
        clock,
        ids,
        keyring,
        identity,
        runs,
        workbench,
        services,
        toolbox,
    )
    services |= {"role_of": governing.groups.role, "agents": agents, "notes": agents.notes}
    runs.parts.chores += [
        workbench.tidy,
        secrets.purge_deleted,
        lambda: secrets.forget_unused(KEPT_ADDRESSES, clock.now() - _LONGEST_LOAD),
    ]
    staff = hire(governing.broker, desk, live, keyring, roster, skills, agents, scrubbing.scrubber)
    governing.launcher.employ(staff.hands.run, agents.tools_of)
    playbooks = Playbooks(
        database,
        events,
        clock,
        ids,
        identity.members,
        governing.groups,
        governing.rulebook,
        governing.broker,
        governing.launcher,
        runs,
        settings.home.resolve(),
        workbench.versions,
        bus=bus,
        keyring=keyring,
        secrets=secrets,
        notifications=identity.notifications,
        services=services,
    )
    playbooks.names |= {
        "agents": lambda scope: [each.agent.name for each in agents.listed(scope)],
        "connections": lambda scope: [each.name for each in connections.documents.listed(scope)],
        "skills": lambda scope: [each.name for each in skills.catalogue(scope)],
    }
    playbooks.manifests.sources |= PartSources(
        toolbox, skills, agents, connections, desk, governing.rulebook, plugins
    ).by_kind()
    _introduce(playbooks, workbench, identity)
    playbooks.blueprints.bring = _loads_text(workbench, governing)
    governing.launcher.around = Unattended(
        playbooks.library, playbooks.needs, identity.notifications, playbooks.manifests
    )
    services |= {
        "playbooks": playbooks,
        "work_on_data": playbooks.work_on_data,
        "project_code": ProjectCode(
            (
                ConnectionKind(connections, secrets),
                ToolsKind(governing.rulebook),
                PolicyKind(governing.rulebook, playbooks),
                AgentKind(agents),
                DefinitionKind(definitions),
                PlaybookKind(playbooks),
                BudgetKind(governing.period_budgets, playbooks),
            ),
            Applies(database, clock),
            partial(present_access, identity),
        ),
    }
    services["threads"] = threads = Threads(
        database,
        runs,
        workbench,
        governing.broker.tools,
        roster,
        events,
        clock,
        ids,
        DEFAULT_BUDGET,
    )
    metrics = Metrics()
    planning = put_to_work(
        staff,
        governing,
        runs,
        workbench,
        threads,
        skills,
        metrics,
        lambda user_id: identity.users.get(user_id).locale,
        definitions,
    )
    observations = observe_runs(
        database,
        events,
        clock,
        ids,
        identity,
        runs,
        governing.budgets,
        AlertBystanders(identity, playbooks, governing.direct_calls, settings.http),
        settings.observe,
    )
    know_prices(playbooks, staff, governing, skills, observations.agents, clock)
    stream_events(
        settings,
        database,
        events,
        clock,
        identity,
        runs,
        observations.audit,
        services["http"],
        metrics,
    )
    services["activity"] = activity = Activity(
        identity, playbooks, governing.period_budgets, observations, clock
    )
    return Steward(
        settings=settings,
        clock=clock,
        ids=ids,
        database=database,
        blobs=blobs,
        bus=bus,
        events=events,
        keyring=keyring,
        secrets=secrets,
        identity=identity,
        removing=remove_by_retention(
            settings, database, clock, events, identity, runs, workbench, threads
        ),
        sign_on=open_sign_on(
            settings,
            database,
            secrets,
            events,
            clock,
            ids,
            keyring,
            identity,
            services["http"],
        ),
        client_documents=ClientDocuments(CheckedWay(services["http"])),
        workbench=workbench,
        definitions=definitions,
        connections=connections,
        runs=runs,
        governing=governing,
        playbooks=playbooks,
        project_code=services["project_code"],
        plugins=plugins,
        threads=threads,
        live=live,
        staff=staff,
        planning=planning,
        sandbox=sandbox,
        code_checks=CodeChecks(sandbox, workbench.versions),
        skills=skills,
        agents=agents,
        models=configured,
        evaluations=Reports(database, events, clock, ids),
        metrics=metrics,
        observations=observations,
        activity=activity,
        analyses=RunAnalyses(observations.analyst, runs, playbooks, desk),
        collector=watch_runs(runs, metrics, clock, settings.trace),
    )


def _fill(toolbox: Toolbox, skills: Skills, connections: Desk, plugins: Plugins) -> None:
    """Tools that differ from project to project, or come and go, are asked of those who have them."""
    toolbox.provide("skill", ScriptTools(skills))
    toolbox.provide("mcp", McpTools(connections))
    toolbox.provide("api", ServiceTools(connections))
    toolbox.provide("plugin", PluginTools(plugins))


def _hashing_key(secrets: SecretStore, scope: Scope) -> bytes:
    """The key with which a project's redactions hash; made when it is first needed, kept as a secret."""
    try:
        return bytes.fromhex(secrets.get(scope, HASHING_KEY))
    except NotFound:
        secrets.set(scope, HASHING_KEY, token_bytes(32).hex(), author="steward")
        return bytes.fromhex(secrets.get(scope, HASHING_KEY))


def open_sandbox(settings: Settings, provider: Provider | None = None) -> Sandbox:
    """Starts nothing by itself: the first execution raises the walls."""
    chosen = settings.sandbox
    return Sandbox(
        provider or _provider(settings), minimum=chosen.minimum, concurrency=chosen.concurrency
    )


def _introduce(playbooks: Playbooks, workbench: Workbench, identity: Identity) -> None:
    """Playbooks look at the data of a project when they are checked and filled in; invitations share playbooks."""
    identity.invitations.share = playbooks.library.share_within
    playbooks.needs.datasets = lambda scope, branch: workbench.datasets.workspace(
        scope, "steward"
    ).datasets(branch)
    playbooks.blueprints.datasets = lambda access: [
        each.name for each in workbench.datasets.workspace(access.scope, access.user_id).datasets()
    ]


def _loads_text(workbench: Workbench, governing: Governing) -> Bring:
    """Loads CSV text as a dataset, as a person who uploads it would."""

    async def load(access: Access, name: str, csv: str) -> None:
        file, take = f"{name}.csv", workbench.bringing.take
        upload = await asyncio.to_thread(take, access.scope, file, [csv.encode()])
        arguments = {"dataset": name, "upload": upload.id}
        call = DirectCall("ingest", arguments, f"Load {file}", seen=True)
        await governing.direct_calls.run(access, call)

    return load


def _provider(settings: Settings) -> Provider:
    chosen = settings.sandbox
    home = settings.home.resolve()
    seconds = chosen.start.total_seconds()
    match chosen.provider:
        case "docker":
            from steward.sandbox import Docker

            return Docker(chosen.image, command=[chosen.docker], start_seconds=seconds)
        case "kubernetes":
            from steward.sandbox import Kubernetes, Placement, reach

            placement = Placement(
                chosen.image, chosen.claim, home, chosen.runtime_class, start_seconds=seconds
            )
            return Kubernetes(reach(chosen.namespace), placement)
        case "microsandbox":
            from steward.sandbox import Microsandbox

            return Microsandbox(chosen.image, start_seconds=seconds)
        case "embedded":
            from steward.sandbox import Embedded

            return Embedded(data_folders(settings), ready=chosen.ready)


def data_folders(settings: Settings) -> list[Path]:
    """Where data lies that code in the sandbox may read; what is kept in S3 is copied to the last of them."""
    home = settings.home.resolve()
    names = ["work"] if settings.blobs.url is not None else ["blobs", "work"]
    return [home / name for name in names]


def open_database(settings: Settings) -> Database:
    url = settings.database.url
    if url is not None:
        return Database(url.get_secret_value(), pool_size=settings.database.pool_size)
    path = (settings.home / "steward.db").resolve()
    return Database(f"sqlite:///{path}", pool_size=settings.database.pool_size)


def _doorbell(settings: Settings, database: Database, keyring: Keyring) -> Doorbell | None:
    """NATS where it is set; one process on SQLite needs nothing but its own bus."""
    url = settings.runs.nats_url
    if url is None or database.is_sqlite:
        return None
    try:
        from steward.runs import NatsDoorbell
    except ModuleNotFoundError:
        raise Misconfigured("NATS needs Steward's 'nats' extra; install it first.") from None
    # All processes of an installation share its keys, so they find the same queues by name.
    return NatsDoorbell(url.get_secret_value(), keyring.derived_for_good("doorbell").hex()[:16])


def open_blobs(settings: Settings) -> BlobStore:
    if settings.blobs.url is None:
        return FileBlobs((settings.home / "blobs").resolve())
    try:
        from steward.store import S3Blobs
    except ModuleNotFoundError:
        raise Misconfigured("S3 storage needs Steward's 's3' extra; install it first.") from None
    return S3Blobs(settings.blobs, settings.home / "incoming")


def key_file(settings: Settings) -> Path:
    return settings.home / "keys" / "secrets.json"


def _make_home(home: Path) -> None:
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise Misconfigured(
            f"The home folder {home} cannot be created ({error.strerror}). Set STEWARD_HOME to a "
            "folder you may write to."
        ) from None
