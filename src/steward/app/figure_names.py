"""Names of what figures are kept for, as people know them: titles of flows, names of people."""

from collections.abc import Callable
from functools import lru_cache

from steward.agents.threads import PROGRAM as CHAT_PROGRAM
from steward.app.compose import Steward
from steward.broker.grants import DIRECT_PROGRAM
from steward.core.errors import NotFound
from steward.flows.launch import PROGRAM as FLOW_PROGRAM
from steward.identity import Access
from steward.observe import Dimension
from steward.playbooks.people import SUBJECT

_PROGRAMS = {
    CHAT_PROGRAM: "Chat",
    DIRECT_PROGRAM: "Changes by hand",
    FLOW_PROGRAM: "Flows without a playbook",
}


def figure_names(steward: Steward, access: Access, by: Dimension) -> Callable[[str], str]:
    """What to call each name of a dimension."""
    return _people(steward) if by == "person" else flow_titles(steward, access)


def flow_titles(steward: Steward, access: Access) -> Callable[[str], str]:
    """Titles of flows; names of anything else are what they are."""

    @lru_cache(1_000)
    def title(flow: str) -> str:
        if not flow.startswith(SUBJECT):
            return _PROGRAMS.get(flow, flow)
        try:
            return steward.playbooks.library.get(access, flow.removeprefix(SUBJECT)).title
        except NotFound:
            return "A deleted playbook"

    return title


def _people(steward: Steward) -> Callable[[str], str]:
    @lru_cache(1_000)
    def name(user_id: str) -> str:
        try:
            return steward.identity.users.get(user_id).name
        except NotFound:
            return user_id

    return name
