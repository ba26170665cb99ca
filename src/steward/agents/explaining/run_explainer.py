"""Says in a model's words what the analyst found about a run; sentences that no finding supports are not shown.

The findings come by rules. A model may only retell them: each sentence names the finding that it is from, and every
number and every name in it must be part of that finding. Otherwise Steward's own summary stays.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from steward.agents.explaining.figures import sourced
from steward.agents.guardrails import problem_in
from steward.agents.operating.model_requests import PaidDesk
from steward.agents.operating.result_views import Shown, as_message
from steward.broker import Broker, nonce_for, system_rule, untrusted
from steward.models import Asking, Message, Role, System, User, gist
from steward.runs import EntryType, Execution, Json, Runs, StepFailed

ANALYSIS_PROGRAM: Final = "analysis"
_RULES: Final = (
    "You explain to a person why a run of a data flow failed, was slow or was expensive. You get numbered findings. Say "
    "in two to five short sentences what happened, why, and what to look at first. Each sentence ends with the number of "
    "the finding that it retells, as in [1]. Use only names and numbers of that finding, written as they are there. Add "
    "nothing that no finding says. No headings, no lists, no links."
)
_SOURCE: Final = "findings about a run"
_GUARDRAILS: Final = ("no-links",)
_CITED: Final = re.compile(r"\[(\d{1,3})\]")
_SENTENCE: Final = re.compile(r"(?<=\])[.!?]?\s+(?=\S)")
_NAMES: Final = re.compile(r"[\"“”„`]([^\"“”„`\n]{1,200})[\"“”„`]")
_ENDING: Final = frozenset({"budget-exceeded", "too-many-steps"})


class RunExplainer:
    """The program `analysis`."""

    def __init__(self, broker: Broker, desk: PaidDesk, nonce_key: bytes) -> None:
        self._broker = broker
        self._desk = desk
        self._nonce_key = nonce_key

    def register(self, runs: Runs) -> None:
        runs.programs[ANALYSIS_PROGRAM] = self.program

    async def program(self, execution: Execution) -> Json:
        await self._broker.begin(execution)
        analysis = execution.request.document

        async def gather() -> Json:
            # Recorded, so that a journal replays where other keys and models are.
            has_model = self._desk.configured(execution.run.scope, Role.explainer)
            return {"has_model": has_model, "nonce": nonce_for(execution.run.id, self._nonce_key)}

        context = await execution.step("context", {}, gather, type=EntryType.context_gathered)
        try:
            text, note = await self._words(execution, analysis, context)
        finally:
            await self._desk.forget(execution)
        by_model = text is not None
        told = {"text": text or analysis["summary"], "by_model": by_model, "note": note}
        return {**analysis, **told}

    async def _words(
        self, execution: Execution, analysis: Mapping[str, Any], context: Mapping[str, Any]
    ) -> tuple[str | None, str]:
        """What the model says, where it may be shown; and why not, where it may not."""
        findings = analysis["findings"]
        if not context["has_model"] or not findings:
            return None, ""
        try:
            text = await self._asked(execution, findings, context["nonce"])
        except StepFailed as failure:
            if failure.code in _ENDING:
                raise
            return None, f"{gist(failure.message)} Steward shows its own summary instead."
        problem = unsupported_by(text, findings)
        if problem is None:
            return text, ""
        return None, f"The model's explanation is left out: {problem}"

    async def _asked(self, execution: Execution, findings: Sequence[Json], nonce: str) -> str:
        messages: list[Message] = [System(f"{system_rule(nonce)}\n\n{_RULES}")]
        for number, finding in enumerate(findings, start=1):
            bare = _shown(finding, quoted=False)
            shown = Shown(
                f"Finding [{number}]",
                _shown(finding, quoted=True),
                untrusted(_SOURCE),
                rows=bool(finding["quote"]),
                without_rows=bare if finding["quote"] else "",
            )
            messages.append(as_message(shown, nonce))
        messages.append(User("Explain the run."))
        answer = await self._desk.request(
            execution, "answer/request", Role.explainer, messages, (), Asking(), shown_as="answer"
        )
        return answer.text.strip()


def unsupported_by(text: str, findings: Sequence[Mapping[str, Any]]) -> str | None:
    """Why a text says more than the findings it cites; None where each sentence keeps to them."""
    if problem_in(_GUARDRAILS, "output", text) is not None:
        return "it has a link."
    sentences = [each for each in _SENTENCE.split(text) if each.strip(" .!?")]
    for sentence in sentences:
        cited = [int(number) for number in _CITED.findall(sentence)]
        if not cited or not all(1 <= number <= len(findings) for number in cited):
            return "a sentence does not name the finding that it is from."
        support = [findings[number - 1] for number in cited]
        problem = _beyond(_CITED.sub(" ", sentence), support)
        if problem is not None:
            return problem
    return None if sentences else "it is empty."


def _beyond(sentence: str, support: Sequence[Mapping[str, Any]]) -> str | None:
    """The first number or name of a sentence that its findings do not hold."""
    known = [_shown(finding, quoted=True) for finding in support]
    figures = sourced(sentence, [(_SOURCE, text) for text in known])
    unknown = next((each.text for each in figures if each.source is None), None)
    if unknown is not None:
        return f"its figure {unknown} is not in the finding that it names."
    everything = " ".join(known).casefold()
    for name in _NAMES.findall(sentence):
        if name.strip(" .,").casefold() not in everything:
            return f"it names {name[:60]!r}, which is not in the finding that it names."
    return None


def _shown(finding: Mapping[str, Any], *, quoted: bool) -> str:
    spans = [str(span["name"]) for span in finding["spans"]]
    document = {"kind": finding["kind"], "weight": finding["weight"], "text": finding["text"]}
    if spans:
        document["spans"] = spans
    if quoted and finding["quote"]:
        document["error or value"] = finding["quote"]
    return json.dumps(document, ensure_ascii=False)
