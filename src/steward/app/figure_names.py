"""Names of what figures are kept for, as people know them: titles of flows, names of people."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from steward.agents import ANALYSIS_PROGRAM, CHAT_PROGRAM
from steward.broker import DIRECT_PROGRAM
from steward.core import NotFound
from steward.flows import FLOW_PROGRAM
from steward.flows import SESSION as CLIENT_PROGRAM
from steward.identity import Access, Identity
from steward.observe import Dimension, is_of_messages
from steward.playbooks import ANALYSES, SUBJECT, Playbooks
from steward.runs import is_of_tests

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
        case _:
            return flow_titles(playbooks, access)


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
            return playbooks.library.get(access, flow.removeprefix(SUBJECT)).title
        except NotFound:
            return program_title(flow)

    return title


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
