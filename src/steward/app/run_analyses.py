"""Analyses of runs: what rules find, at once; and a run that has a model say it in words, governed as any agent."""

from collections.abc import Mapping
from typing import Any

from steward.agents import ANALYSIS_PROGRAM
from steward.broker import Grant, Risk
from steward.core import Unavailable
from steward.identity import Access, Role
from steward.models import ModelDesk
from steward.models import Role as ModelRole
from steward.observe import Analysis, Analyst
from steward.playbooks import SUBJECT, Playbooks, analyses_about
from steward.runs import Run, RunRequest, Runs

_BUDGET = {"usd": "0.25", "seconds": 600}
_MOST_FINDINGS = 12
"""That a model is shown; the first ones matter most."""


class RunAnalyses:
    def __init__(
        self, analyst: Analyst, runs: Runs, playbooks: Playbooks, models: ModelDesk
    ) -> None:
        self._analyst = analyst
        self._runs = runs
        self._playbooks = playbooks
        self._models = models

    def find(self, access: Access, run_id: str) -> Analysis:
        """What rules find, in as much of the run as the caller sees."""
        sight = self._playbooks.people.sight(access)
        return self._analyst.analyse(access.scope, run_id, sight.shows)

    def has_model(self, access: Access) -> bool:
        return self._models.configured(access.scope, ModelRole.explainer)

    def start(self, access: Access, run_id: str) -> Run:
        """A run whose output explains another one; those who see that one see it too."""
        request = self._request(access, run_id)
        return self._runs.start(access.scope, access.user_id, request)

    async def explain(self, access: Access, run_id: str) -> Mapping[str, Any]:
        """The same, driven here until it is over: for a terminal that waits for it."""
        request = self._request(access, run_id)
        _, ended = await self._runs.start_and_drive(access.scope, access.user_id, request)
        if not ended or "output" not in ended:
            error = (ended or {}).get("error") or {}
            raise Unavailable(str(error.get("message") or "The analysis did not come to its end."))
        output: Mapping[str, Any] = ended["output"]
        return {name: output[name] for name in ("text", "by_model", "note")}

    def _request(self, access: Access, run_id: str) -> RunRequest:
        access.require(Role.operator)
        run = self._runs.get(access.scope, run_id)
        sight = self._playbooks.people.sight(access)

        def shows(subject: str | None) -> bool:
            # Others who see the flow may not see each flow that it started.
            own = subject == run.subject or subject is None or not subject.startswith(SUBJECT)
            return own and sight.shows(subject)

        found = self._analyst.analyse(access.scope, run_id, shows)
        document = {
            "of": run.id,
            "verdict": found.verdict,
            "summary": found.summary,
            "compared_with": found.compared_with,
            "findings": [each.to_json() for each in found.findings[:_MOST_FINDINGS]],
        }
        is_of_playbook = run.subject is not None and run.subject.startswith(SUBJECT)
        return RunRequest(
            title=f"Analysis of {run.title}"[:200],
            program=ANALYSIS_PROGRAM,
            document=document,
            grant=Grant(frozenset(), Risk.read).started_by(access).to_json(),
            budget=_BUDGET,
            subject=analyses_about(run.subject or "") if is_of_playbook else None,
            queue="llm",
        )
