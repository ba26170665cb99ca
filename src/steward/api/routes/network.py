"""The network policy: which places may be called for a project, and for every project of its organisation."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Request, Response
from pydantic import ConfigDict, Field, StringConstraints

from steward.api.context import steward_of
from steward.api.documents import IfMatch, Input, Output, revision_from, set_etag
from steward.api.guards import AsAdmin
from steward.api.routing import Router
from steward.app import people_names
from steward.connections import NetworkPolicy
from steward.core import Denied, NetworkLevel, NetworkRules, check_reach, check_rules
from steward.flows import DirectCall
from steward.identity import Access

router = Router(prefix="/projects/{project_id}/network", tags=["projects"])

Level = Literal["project", "organisation"]
Rule = Annotated[str, StringConstraints(min_length=1, max_length=300, strip_whitespace=True)]


class NetworkPolicyIn(Input):
    """Rules such as `*.example.com:443`, `10.0.0.0/8` or `private`; null in `allow`: everything that nothing denies."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"allow": ["*.example.com:443"], "deny": ["private"], "programs": False}]
        }
    )

    allow: list[Rule] | None = Field(None, max_length=500)
    deny: list[Rule] = Field([], max_length=500)
    programs: bool = False


class NetworkPolicyOut(Output):
    level: Level
    allow: list[str] | None
    deny: list[str]
    programs: bool
    revision: int
    may_change: bool
    updated_at: datetime | None
    updated_by: str | None


class NetworkSavedOut(NetworkPolicyOut):
    run_id: str
    """The run of the change: undo goes by it."""


class NetworkTryIn(NetworkPolicyIn):
    host: str = Field(min_length=1, max_length=253)
    port: int = Field(443, ge=1, le=65_535)


class NetworkTriedOut(Output):
    allowed: bool
    reason: str | None


@router.get("/{level}")
def read_network_policy(
    request: Request, response: Response, access: AsAdmin, level: Level
) -> NetworkPolicyOut:
    """The rules of the project or of its organisation; both are kept, and deny wins."""
    found = steward_of(request).connections.network.current(access.scope, level)
    set_etag(response, found.revision)
    return NetworkPolicyOut(**_shown(request, access, found))


@router.put("/{level}")
async def change_network_policy(
    request: Request,
    response: Response,
    access: AsAdmin,
    level: Level,
    body: NetworkPolicyIn,
    if_match: IfMatch = None,
) -> NetworkSavedOut:
    """Sets the rules. They count for every call from now on, and the change can be undone."""
    steward = steward_of(request)
    arguments = {**body.model_dump(), "level": level, "revision": revision_from(if_match)}
    title = f"Change the network policy of the {level}"
    call = DirectCall("change_network", arguments, title=title, seen=True)
    done = await steward.governing.direct_calls.run(access, call)
    found = steward.connections.network.current(access.scope, level)
    set_etag(response, found.revision)
    return NetworkSavedOut(**_shown(request, access, found), run_id=done.run.id)


@router.post("/{level}/try")
def try_network_policy(
    request: Request, access: AsAdmin, level: Level, body: NetworkTryIn
) -> NetworkTriedOut:
    """Whether a host could be called under these rules and those of the other level. Nothing is looked up or called."""
    rules = check_rules(
        NetworkRules(None if body.allow is None else tuple(body.allow), tuple(body.deny))
    )
    network = steward_of(request).connections.network
    levels = [
        NetworkLevel(each.name, rules) if each.name == level else each
        for each in network.levels(access.scope)
    ]
    try:
        check_reach(levels, body.host, body.port, ())
    except Denied as refused:
        return NetworkTriedOut(allowed=False, reason=refused.message)
    return NetworkTriedOut(allowed=True, reason=None)


def _shown(request: Request, access: Access, policy: NetworkPolicy) -> dict[str, Any]:
    steward = steward_of(request)
    owns = steward.identity.members.owns_organisation(access.scope, access.user_id)
    return {
        "level": policy.level,
        "allow": policy.rules.allow,
        "deny": policy.rules.deny,
        "programs": policy.rules.programs,
        "revision": policy.revision,
        "may_change": policy.level == "project" or (owns and access.principal.limits is None),
        "updated_at": policy.created_at,
        "updated_by": people_names(steward.identity)(policy.author) if policy.author else None,
    }
