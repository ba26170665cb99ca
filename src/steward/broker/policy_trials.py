"""Explains decisions and tries changes of policy on calls that happened, changing nothing."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from steward.broker.groups import Groups
from steward.broker.plans import Facts, Plan
from steward.broker.policy import (
    Amounts,
    Asker,
    Origin,
    Question,
    Resource,
    decide,
    simulate,
)
from steward.broker.policy_words import explain
from steward.broker.presets import refuse_faults
from steward.broker.rulebook import Rulebook
from steward.broker.toolbox import Toolbox
from steward.core import NotFound
from steward.identity import Access, Role
from steward.runs import EntryType, Json, Runs

_PAST_RUNS = 200


class PolicyTrials:
    def __init__(self, runs: Runs, rulebook: Rulebook, groups: Groups, tools: Toolbox) -> None:
        self._runs = runs
        self._rulebook = rulebook
        self._groups = groups
        self._tools = tools

    def check(
        self,
        access: Access,
        tool: str,
        *,
        user_id: str | None = None,
        destination: str | None = None,
        playbook: str | None = None,
        branch: str = "main",
        untrusted_arguments: bool = False,
        read_untrusted: bool = False,
        safe_mode: bool | None = None,
        text: str | None = None,
    ) -> dict[str, Any]:
        """The decision about a call that nobody makes, with its reasons in words."""
        known = self._tools.get(access.scope, tool)
        asker = user_id or access.user_id
        role = self._groups.role(access.scope, asker)
        if role is None:
            raise NotFound("There is no such person in this project.")
        if safe_mode is None:
            safe_mode = self._rulebook.settings(access.scope).safe_mode
        question = Question(
            asker=Asker(asker, role, self._groups.of(access.scope, asker)),
            scope=access.scope,
            tool=tool,
            risk=known.risk,
            resource=Resource.named(destination),
            effects=known.effects,
            playbook=playbook,
            branch=branch,
            destination=destination,
            safe_mode=safe_mode,
            origin=Origin(untrusted_arguments, read_untrusted),
            amounts=Amounts(0, 0, Decimal(0)),
        )
        policies = self._rulebook.in_force(access.scope, playbook)
        if text is not None:
            refuse_faults(text)
            policies = replace(policies, project=text)
        decision = decide(policies, question)
        return {**decision.to_json(), "explanation": explain(decision)}

    def simulate(
        self, access: Access, level: str, text: str, subject: str | None = None
    ) -> list[dict[str, Any]]:
        """Calls of the latest runs that the changed text would decide otherwise."""
        refuse_faults(text)
        old = self._rulebook.in_force(access.scope, subject)
        changed: dict[str, Any] = {level: text}
        new = replace(old, **changed)
        found = []
        for run_id, key, question in self._past(access):
            found += [
                {
                    "run_id": run_id,
                    "key": key,
                    "tool": question.tool,
                    "before": change.before.verdict.value,
                    "after": change.after.verdict.value,
                    "looser": change.is_looser,
                }
                for change in simulate(old, new, [question])
            ]
        return found

    def _past(self, access: Access) -> Iterator[tuple[str, str, Question]]:
        for run in self._runs.records.listed(access.scope, limit=_PAST_RUNS):
            role = self._groups.role(access.scope, run.created_by) or Role.viewer
            asker = Asker(run.created_by, role, self._groups.of(access.scope, run.created_by))
            for entry in self._runs.journal.entries(access.scope, run.id):
                if entry.type == EntryType.call_planned and "result" in entry.data:
                    plan = self._runs.payload(entry.data["result"])
                    question = self._asked(access, asker, plan)
                    if question is not None:
                        yield run.id, entry.of, question

    def _asked(self, access: Access, asker: Asker, plan: Json) -> Question | None:
        tool = self._tools.known(Plan(**plan))
        if tool is None:
            return None
        body, origin, estimate = plan["body"], plan["provenance"], plan["estimate"]
        facts = Facts.from_body(body)
        return Question(
            asker=asker,
            scope=access.scope,
            tool=tool.name,
            risk=tool.risk,
            resource=Resource.named(facts.destination),
            effects=tool.effects,
            branch=body["branch"],
            destination=facts.destination,
            places=facts.places,
            recipients=facts.recipients,
            addresses=facts.addresses,
            acts_as=facts.acts_as,
            origin=Origin(
                origin["untrusted_arguments"],
                not origin["trusted"],
                tuple(origin["sources"]),
                origin.get("asked_for", False),
            ),
            amounts=Amounts(
                estimate["rows"], estimate["bytes"], Decimal(estimate["usd"]), facts.amount
            ),
        )
