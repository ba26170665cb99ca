"""Wires one installation of Steward together: each room once, after those that it uses."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from steward.agents import AgentCosts, Live, Threads, builtin_roster
from steward.agents.composed import ComposedAgents
from steward.agents.skills import ScriptTools, Skills
from steward.app.activity import Activity
from steward.app.agent_services import Planning, Staff, agent_past, hire, put_to_work
from steward.app.alerting import AlertBystanders
from steward.app.connection_services import open_connections
from steward.app.foundation import Foundation, lay_foundation
from steward.app.governance import Governance, govern
from steward.app.model_services import open_models
from steward.app.parts import PartSources
from steward.app.present_access import present_access
from steward.app.push_messages import WaitingNotices
from steward.app.removal import ProjectRemoval, remove_by_retention
from steward.app.run_analyses import RunAnalyses
from steward.app.sign_on import CheckedWay, open_sign_on
from steward.app.tracing import (
    Figures,
    Observations,
    observe_runs,
    open_figures,
    stream_events,
    watch_runs,
)
from steward.broker import TOOLS, Toolbox
from steward.connections import Desk
from steward.core import Clock, Settings, SystemClock
from steward.evaluation import Reports
from steward.flows import DEFAULT_BUDGET, CodeChecks, DirectCall
from steward.identity import Access, ClientDocuments, Passwords
from steward.identity.sign_on import SignOn
from steward.models import ConfiguredModels, Lineup, ModelDesk, Setups
from steward.playbooks import (
    THREADS,
    WATCHED_PLAYBOOKS,
    Bring,
    Playbooks,
    Surroundings,
)
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
from steward.sandbox import Provider
from steward.tools import (
    ACTIVITY_SUMMARY,
    AGENTS,
    CONNECTIONS,
    KEPT_ADDRESSES,
    NOTES,
    PLAYBOOK_CALLS,
    PLAYBOOK_DRAFTS,
    PROJECT_CODE,
    WORK_ON_DATA,
    McpTools,
    ServiceTools,
    load_tools,
)
from steward.trace import Collector, Metrics
from steward.workbench import Workbench

_LONGEST_LOAD = timedelta(days=2)


@dataclass(frozen=True)
class Equipment:
    """What agents and playbooks of an installation work with."""

    connections: Desk
    toolbox: Toolbox
    skills: Skills
    plugins: Plugins
    live: Live
    models: ConfiguredModels
    desk: ModelDesk
    agents: ComposedAgents


@dataclass(frozen=True)
class Steward(Foundation):
    """An open installation; one attribute per room or part."""

    removing: ProjectRemoval
    client_documents: ClientDocuments
    sign_on: SignOn
    connections: Desk
    governing: Governance
    playbooks: Playbooks
    project_code: ProjectCode
    plugins: Plugins
    threads: Threads
    live: Live
    staff: Staff
    planning: Planning
    code_checks: CodeChecks
    skills: Skills
    agents: ComposedAgents
    models: ConfiguredModels
    evaluations: Reports
    metrics: Metrics
    observations: Observations
    activity: Activity
    analyses: RunAnalyses
    waiting_notices: WaitingNotices
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
    base = lay_foundation(settings, clock or SystemClock(), passwords, provider)
    clock, database, events, identity = base.clock, base.database, base.events, base.identity
    runs, workbench = base.runs, base.workbench
    has, roster = _equip(base, models), builtin_roster()
    governing = govern(base, has.toolbox, has.agents.tools_of)
    runs.parts.chores += [
        workbench.tidy,
        base.secrets.purge_deleted,
        lambda: base.secrets.forget_unused(KEPT_ADDRESSES, clock.now() - _LONGEST_LOAD),
    ]
    staff = hire(base, governing.broker, has.desk, has.live, roster, has.skills, has.agents)
    figures = open_figures(base)
    playbooks = _open_playbooks(base, has, governing, staff, figures)
    project_code = _open_project_code(base, has, governing, playbooks)
    threads = Threads(
        database, runs, workbench, has.toolbox, roster, events, clock, base.ids, DEFAULT_BUDGET
    )
    metrics = Metrics()
    planning = put_to_work(base, staff, governing, playbooks, threads, has.skills, metrics)
    bystanders = AlertBystanders(identity, playbooks, governing.direct_calls, settings.http)
    observations = observe_runs(base, figures, governing.budgets, bystanders)
    stream_events(base, observations.audit, metrics)
    activity = Activity(identity, playbooks, governing.period_budgets, observations, clock)
    base.services.add(
        PLAYBOOK_CALLS.of(playbooks),
        PLAYBOOK_DRAFTS.of(playbooks),
        WATCHED_PLAYBOOKS.of(playbooks),
        WORK_ON_DATA.of(playbooks.work_on_data),
        PROJECT_CODE.of(project_code),
        THREADS.of(threads),
        ACTIVITY_SUMMARY.of(activity),
    )
    waiting_notices = WaitingNotices(base, governing.inbox, governing.groups, playbooks)
    runs.parts.beside.append(waiting_notices.serve)
    return Steward(
        **vars(base),
        removing=remove_by_retention(base, threads),
        sign_on=open_sign_on(base),
        client_documents=ClientDocuments(CheckedWay(base.http)),
        connections=has.connections,
        governing=governing,
        playbooks=playbooks,
        project_code=project_code,
        plugins=has.plugins,
        threads=threads,
        live=has.live,
        staff=staff,
        planning=planning,
        code_checks=CodeChecks(base.sandbox, workbench.versions),
        skills=has.skills,
        agents=has.agents,
        models=has.models,
        evaluations=Reports(database, events, clock, base.ids),
        metrics=metrics,
        observations=observations,
        activity=activity,
        analyses=RunAnalyses(observations.analyst, runs, playbooks, has.desk),
        waiting_notices=waiting_notices,
        collector=watch_runs(runs, metrics, clock, settings.trace),
    )


def _equip(base: Foundation, models: Lineup | None) -> Equipment:
    database, events, clock = base.database, base.events, base.clock
    connections = open_connections(base)
    load_tools()
    toolbox = Toolbox(TOOLS)
    skills = Skills(database, base.blobs, events, clock, toolbox.names)
    home = base.settings.home.resolve()
    plugins = Plugins(database, base.blobs, events, base.bus, clock, connections.keepers, home)
    # Tools that differ from project to project, or come and go, are asked of those who have them.
    toolbox.provide("skill", ScriptTools(skills))
    toolbox.provide("mcp", McpTools(connections))
    toolbox.provide("api", ServiceTools(connections))
    toolbox.provide("plugin", PluginTools(plugins))
    configured = open_models(base, connections)
    desk = ModelDesk(models or configured, conceal=base.scrubbing)
    agents = ComposedAgents(database, events, clock, base.ids, toolbox, skills, desk.all_names)
    base.services.add(CONNECTIONS.of(connections), AGENTS.of(agents), NOTES.of(agents.notes))
    live = Live(database, base.bus, clock)
    return Equipment(connections, toolbox, skills, plugins, live, configured, desk, agents)


def _open_playbooks(
    base: Foundation, has: Equipment, governing: Governance, staff: Staff, figures: Figures
) -> Playbooks:
    identity, workbench = base.identity, base.workbench
    parts = PartSources(
        has.toolbox,
        has.skills,
        has.agents,
        has.connections,
        has.desk,
        governing.rulebook,
        has.plugins,
    )
    return Playbooks(
        base.database,
        base.events,
        base.clock,
        base.ids,
        identity.members,
        governing.groups,
        governing.rulebook,
        governing.broker,
        governing.launcher,
        base.runs,
        base.settings.home.resolve(),
        workbench.versions,
        Surroundings(
            names=parts.names(),
            sources=parts.by_kind(),
            datasets=lambda scope, branch: workbench.datasets.workspace(scope, "steward").datasets(
                branch
            ),
            bring=_loads_text(workbench, governing),
            run_agent=staff.hands.run,
            expected_cost=AgentCosts(staff.desk, staff.hands, has.toolbox, has.skills).expected,
            agent_past=agent_past(figures.agents, base.clock),
        ),
        bus=base.bus,
        keyring=base.keyring,
        secrets=base.secrets,
        notifications=identity.notifications,
        services=base.services,
    )


def _open_project_code(
    base: Foundation, has: Equipment, governing: Governance, playbooks: Playbooks
) -> ProjectCode:
    return ProjectCode(
        (
            ConnectionKind(has.connections, base.secrets),
            ToolsKind(governing.rulebook),
            PolicyKind(governing.rulebook, playbooks),
            AgentKind(has.agents),
            DefinitionKind(base.definitions),
            PlaybookKind(playbooks),
            BudgetKind(governing.period_budgets, playbooks),
        ),
        Applies(base.database, base.clock),
        partial(present_access, base.identity),
    )


def _loads_text(workbench: Workbench, governing: Governance) -> Bring:
    """Loads CSV text as a dataset, as a person who uploads it would."""

    async def load(access: Access, name: str, csv: str) -> None:
        file, take = f"{name}.csv", workbench.bringing.take
        upload = await asyncio.to_thread(take, access.scope, file, [csv.encode()])
        arguments = {"dataset": name, "upload": upload.id}
        call = DirectCall("ingest", arguments, f"Load {file}", seen=True)
        await governing.direct_calls.run(access, call)

    return load
