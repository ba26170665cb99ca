"""Changes the network policy of a project or its organisation: which places may be called."""

from typing import Annotated, Final, Literal

from pydantic import Field

from steward.broker import (
    CONTENT,
    PLAIN,
    TARGET,
    Arguments,
    Effects,
    Outcome,
    Preview,
    Risk,
    ToolContext,
    add_tool,
)
from steward.connections import NetworkPolicies, NetworkPolicy
from steward.core import Denied, NetworkRules, check_rules
from steward.identity import Role
from steward.runs import Found, Json, Reconciled, Ticket
from steward.tools._calls import happened, in_thread_of_call, off_loop
from steward.tools._installation import NETWORK

_LONGEST: Final = 300
Rule = Annotated[str, Field(min_length=1, max_length=_LONGEST)]


class ChangeNetwork(Arguments):
    level: Annotated[Literal["project", "organisation"], TARGET] = Field(
        "project", description="Whose policy changes; both are kept, and deny wins."
    )
    allow: Annotated[list[Rule] | None, CONTENT] = Field(
        None, description="The only places that may be called; unset: all that nothing denies."
    )
    deny: Annotated[list[Rule], CONTENT] = Field([], description="Places that must not be called.")
    programs: Annotated[bool, CONTENT] = Field(
        False, description="Whether connections may start programs in spite of the rules."
    )
    revision: Annotated[int, PLAIN] = Field(
        ge=0, description="The revision that was read; refused where it is not the newest."
    )

    @property
    def rules(self) -> NetworkRules:
        allow = None if self.allow is None else tuple(dict.fromkeys(self.allow))
        return NetworkRules(allow, tuple(dict.fromkeys(self.deny)), self.programs)


def _policies(context: ToolContext, level: str) -> NetworkPolicies:
    """Denied to those who may not change it; the broker has asked for the role in the project."""
    policies = context.services.use(NETWORK)
    policies.refuse_others(context.scope, context.author, level)
    if level == "organisation" and context.token_role is not None:
        raise Denied(
            "An API token belongs to one project and cannot change the network policy of the organisation."
        )
    return policies


def _summary(level: str) -> str:
    return f"Change the network policy of the {level}"


@in_thread_of_call
def preview(context: ToolContext, arguments: ChangeNetwork) -> Preview:
    policies = _policies(context, arguments.level)
    check_rules(arguments.rules)
    current = policies.current(context.scope, arguments.level)
    details = {"before": _shown(current.rules), "after": _shown(arguments.rules)}
    return Preview(_summary(arguments.level), details)


async def run(context: ToolContext, arguments: ChangeNetwork) -> Outcome:
    return await off_loop(
        lambda: _saved(context, arguments.level, arguments.rules, arguments.revision)
    )


@in_thread_of_call
def take_back(context: ToolContext, arguments: ChangeNetwork, inverse: Json) -> Outcome:
    """Sets the rules that were there before; refused where somebody changed them since."""
    policies = _policies(context, arguments.level)
    before = policies.at(context.scope, arguments.level, inverse["revision"] - 1)
    return _saved(context, arguments.level, before.rules, inverse["revision"])


@in_thread_of_call
def reconcile(context: ToolContext, arguments: ChangeNetwork, ticket: Ticket) -> Reconciled:
    """A revision remembers the call that made it."""
    policies = context.services.use(NETWORK)
    made = policies.made_by(context.scope, arguments.level, ticket.idempotency_key)
    return Reconciled(Found.not_happened) if made is None else happened(_changed(made))


def _saved(context: ToolContext, level: str, rules: NetworkRules, revision: int) -> Outcome:
    call = context.ticket.idempotency_key if context.ticket else ""
    saved = _policies(context, level).save(
        context.scope, context.author, level, rules, revision=revision, call=call
    )
    return _changed(saved)


def _changed(made: NetworkPolicy) -> Outcome:
    return Outcome(
        value={"level": made.level, "revision": made.revision},
        summary=_summary(made.level),
        inverse={"revision": made.revision},
    )


def _shown(rules: NetworkRules) -> Json:
    allow = None if rules.allow is None else list(rules.allow)
    return {"allow": allow, "deny": list(rules.deny), "programs": rules.programs}


add_tool(
    name="change_network",
    title="Change the network policy",
    description="Sets which hosts, ports and networks may be called for the project or all projects of the organisation.",
    arguments=ChangeNetwork,
    risk=Risk.write,
    run=run,
    effects=Effects(writes=True),
    dry_run=preview,
    undo=take_back,
    role=Role.admin,
    reconcile=reconcile,
    # An agent that could change this could open its own way out.
    direct_only=True,
)
