"""Wires the broker: tools, policy, approvals, budgets and tokens around the runs of an installation."""

from dataclasses import dataclass
from typing import Any

from steward.broker import (
    TOOLS,
    Approvals,
    Broker,
    Budgets,
    CallPlanner,
    Deciding,
    Forking,
    Groups,
    Inbox,
    Judging,
    Measures,
    PeriodBudgets,
    Rulebook,
    RunTokens,
    Scrubber,
    TakingBack,
    TokenDesk,
    Toolbox,
    Undoing,
)
from steward.core import Clock, Ids
from steward.flows import ClientSessions, DirectCalls, Launcher, UndoCalls
from steward.identity import Identity
from steward.runs import Json, Runs
from steward.store import Database, EventLog, Keyring, Scope, SecretStore
from steward.workbench import Workbench

TOKEN_PURPOSE = "run tokens"  # noqa: S105
_FRESH_SECONDS = 2.0
_WORD = 12
"""Fewer letters than this, and nothing else, are an ordinary word: "postgres", "password"."""


@dataclass(frozen=True)
class Governing:
    """What stands between agents and the world; one attribute per noun."""

    rulebook: Rulebook
    groups: Groups
    approvals: Approvals
    budgets: Budgets
    period_budgets: PeriodBudgets
    tokens: TokenDesk
    broker: Broker
    undoing: UndoCalls
    inbox: Inbox
    deciding: Deciding
    judging: Judging
    forking: Forking
    measures: Measures
    launcher: Launcher
    direct_calls: DirectCalls
    client_sessions: ClientSessions


def govern(
    database: Database,
    events: EventLog,
    clock: Clock,
    ids: Ids,
    keyring: Keyring,
    identity: Identity,
    runs: Runs,
    workbench: Workbench,
    services: dict[str, Any],
    tools: Toolbox,
) -> Governing:
    rulebook = Rulebook(database, events, clock, identity.members)
    groups = Groups(database, identity.members, events)
    approvals = Approvals(database, runs, events, clock, ids, groups)
    budgets = Budgets(database, clock)
    period_budgets = PeriodBudgets(database, events, clock, ids, identity.members)
    runs.parts.chores.append(period_budgets.tidy)
    tokens = TokenDesk(RunTokens(keyring.derived(TOKEN_PURPOSE), clock), clock)
    planner = CallPlanner(database, tools, rulebook, groups, services)
    broker = Broker(tools, planner, rulebook, approvals, budgets, tokens, clock, services)
    runs.parts.on_lost.append(broker.forget_lost)
    undoing = Undoing(runs, workbench.versions, TOOLS, rulebook, services, database, events, clock)
    services["undoing"] = undoing
    taking_back = TakingBack(runs, workbench.versions, undoing)
    services["taking_back"] = taking_back
    direct_calls = DirectCalls(runs, broker, planner, tools)
    return Governing(
        rulebook=rulebook,
        groups=groups,
        approvals=approvals,
        budgets=budgets,
        period_budgets=period_budgets,
        tokens=tokens,
        broker=broker,
        undoing=UndoCalls(undoing, taking_back, direct_calls),
        measures=Measures(database),
        inbox=Inbox(runs, approvals, groups, clock),
        deciding=Deciding(approvals, runs, tools, planner),
        judging=Judging(runs, rulebook, groups, tools),
        forking=Forking(runs, workbench.versions, ids, rulebook),
        launcher=Launcher(runs, broker, tools),
        direct_calls=direct_calls,
        client_sessions=ClientSessions(runs, broker, tools, ids),
    )


class Scrubbing:
    """Takes the values of a project's secrets out of what is about to be written, by anything that writes there.

    Secrets are read again after a moment; one that this process sets counts at once.
    """

    def __init__(self, database: Database, secrets: SecretStore, clock: Clock) -> None:
        self._secrets = secrets
        self._clock = clock
        self._known: dict[Scope, _Known] = {}
        database.conceal = self.conceal

    def __call__(self, scope: Scope, value: Json) -> Json:
        """For records of runs: every secret."""
        return self._of(scope).every.scrub(value)

    def conceal(self, scope: Scope, value: Json) -> Json:
        """For names and descriptions: a mask in the place of an ordinary word would give the secret away."""
        return self._of(scope).unusual.scrub(value)

    def scrubber(self, scope: Scope) -> Scrubber:
        """For text that is shown while it is written."""
        return self._of(scope).every

    def _of(self, scope: Scope) -> "_Known":
        known, now = self._known.get(scope), self._clock.monotonic()
        if (
            known is None
            or now - known.read_at > _FRESH_SECONDS
            or known.changes != self._secrets.changes
        ):
            changes = self._secrets.changes
            known = _Known(now, changes, self._secrets.values(scope))
            self._known[scope] = known
        return known


class _Known:
    """The secrets of a project as they were read."""

    def __init__(self, read_at: float, changes: int, values: dict[str, str]) -> None:
        self.read_at = read_at
        self.changes = changes
        self.every = Scrubber(values)
        words = {name for name, value in values.items() if len(value) < _WORD and value.isalpha()}
        self.unusual = (
            Scrubber({name: value for name, value in values.items() if name not in words})
            if words
            else self.every
        )
