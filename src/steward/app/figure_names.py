"""Figures as one person sees them: which of them, and names as people know them, such as titles of flows."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import lru_cache

from steward.agents import ANALYSIS_PROGRAM, CHAT_PROGRAM, UNNAMED_AGENT
from steward.broker import DIRECT_PROGRAM
from steward.core import NotFound
from steward.flows import FLOW_PROGRAM
from steward.flows import SESSION as CLIENT_PROGRAM
from steward.identity import Access, Identity, Project, Role
from steward.observe import CostExplorer, CostReport, Dimension, is_of_messages
from steward.playbooks import ANALYSES, SUBJECT, Playbooks
from steward.runs import is_of_tests
from steward.store import Scope

_PROGRAMS = {
    ANALYSIS_PROGRAM: "Analyses of runs",
    CHAT_PROGRAM: "Chat",
    DIRECT_PROGRAM: "Changes by hand",
    CLIENT_PROGRAM: "Programs that call through MCP",
    FLOW_PROGRAM: "Flows without a playbook",
}


def figure_names(
    identity: Identity, playbooks: Playbooks, access: Access, by: Dimension
) -> Callable[[str], str]:
    """What to call each name of a dimension."""
    match by:
        case "person":
            return people_names(identity)
        case "tag":
            return str
        case "agent":
            return agent_title
        case "project":
            names = {each.id: each.name for each in _projects(identity, access)}
            return lambda project_id: names.get(project_id, project_id)
        case _:
            return flow_titles(playbooks, access)


def cost_report(
    identity: Identity,
    playbooks: Playbooks,
    costs: CostExplorer,
    access: Access,
    by: Dimension,
    days: int,
    now: datetime,
) -> CostReport:
    """What this person sees of the costs: of a project, or of all projects of its organisation that are open to them."""
    if by == "project":
        opened = [
            Access(access.principal, Scope(each.organisation.id, each.id), each.role)
            for each in _projects(identity, access)
        ]
        seen = [(each.scope, playbooks.people.sight(each).among) for each in opened]
        return costs.by_project(seen, now, days)
    among = playbooks.people.sight(access).among
    return costs.report(access.scope, now, days, by, among, flow_tags(playbooks, access))


def _projects(identity: Identity, access: Access) -> list[Project]:
    """Those of the organisation whose figures are open to the caller; a token has only its own."""
    found: list[Project] = []
    after = None
    while some := identity.projects.page(access.principal, after=after):
        found += some
        after = some[-1].id
    return [
        each
        for each in found
        if each.organisation.id == access.scope.org_id and each.role >= Role.viewer
    ]


def flow_tags(playbooks: Playbooks, access: Access) -> Callable[[str], Sequence[str]]:
    """Tags that flows have now; analyses, tests and messages about a playbook have those of it."""
    known = playbooks.library.tags(access.scope)

    def tags(flow: str) -> Sequence[str]:
        if not flow.startswith(SUBJECT):
            return ()
        return known.get(flow.removeprefix(SUBJECT).partition(":")[0], ())

    return tags


def flow_titles(playbooks: Playbooks, access: Access) -> Callable[[str], str]:
    """Titles of flows; names of anything else are what they are."""

    @lru_cache(1_000)
    def title(flow: str) -> str:
        if is_special(flow) or not flow.startswith(SUBJECT):
            return program_title(flow)
        try:
            return playbooks.library.title(access, flow.removeprefix(SUBJECT))
        except NotFound:
            return program_title(flow)

    return title


def agent_title(agent: str) -> str:
    return "Unnamed agents in flows" if agent == UNNAMED_AGENT else agent


def is_special(flow: str) -> bool:
    """Whether it is about a playbook but no run of it: a message of alerts, an analysis or a test."""
    is_analysis = flow.startswith(SUBJECT) and flow.endswith(f":{ANALYSES}")
    return is_of_messages(flow) or is_of_tests(flow) or is_analysis


def program_title(flow: str) -> str:
    """The title of a flow that is no playbook, or none any more."""
    if is_of_messages(flow):
        return "Messages of alerts"
    if is_of_tests(flow):
        return "Tests and shadow runs"
    if is_special(flow):
        return _PROGRAMS[ANALYSIS_PROGRAM]
    return "A deleted playbook" if flow.startswith(SUBJECT) else _PROGRAMS.get(flow, flow)


def people_names(identity: Identity) -> Callable[[str], str]:
    """Names of people by their id."""

    @lru_cache(1_000)
    def name(user_id: str) -> str:
        try:
            return identity.users.get(user_id).name
        except NotFound:
            return user_id

    return name
