"""Weighs each call of a step before it is made: where its values come from, whether it is refused, what is doubtful."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steward.agents.operating.doubts import doubts, is_asked_for
from steward.agents.operating.enforcement import refusal
from steward.agents.operating.equipment import Equipment, further_tools
from steward.agents.operating.job import Job
from steward.agents.operating.links import without_links
from steward.agents.operating.provenance import STEP, label_parts, trusted_for
from steward.agents.operating.result_views import Shown
from steward.agents.operating.wanted_calls import Known, Made, Wanted
from steward.broker import NONE, Labels, Part, Risk, Role, only_reads, read_parts
from steward.runs import Json


@dataclass(frozen=True)
class Weighed:
    """What was found about a call."""

    labels: Mapping[str, Labels]
    refused: str | None = None
    """Why it is not made, whoever wants it."""
    doubts: tuple[str, ...] = ()
    """What a person should look at, if one is asked."""
    asked_for: bool = False
    """Whether it does what a person asked for and no more."""


class CallReview:
    """All that a step has seen and done so far, against which its next call is held."""

    def __init__(self, job: Job, equipment: Equipment) -> None:
        self._job = job
        self._has = equipment
        self._seen: list[tuple[str, Labels]] = [
            *job.suspect,
            *((each.searched, each.labels) for each in job.given),
        ]
        self.made: list[Made] = []
        """Calls of this step, those that were refused included."""
        self.labels = NONE.joined(*(each.labels for each in job.given))
        """Where everything that was read so far comes from."""

    @property
    def texts(self) -> tuple[str, ...]:
        """What the agent can have read."""
        return tuple(text for text, _ in self._seen)

    @property
    def has_failed(self) -> bool:
        """Whether a planned tool was tried in vain; what was refused was not tried: asking for nonsense opens nothing."""
        return any(
            made.failed and made.was_tried and made.tool in self._job.step.tools
            for made in self.made
        )

    def see(self, shown: Shown) -> None:
        self._seen.append((shown.searched, shown.labels))
        self.labels = self.labels.joined(shown.labels)

    def weigh(self, tool: str, arguments: Mapping[str, Json], *, planned: bool) -> Weighed:
        """`planned`: the plan's own arguments, as they stand."""
        if not self._has.knows(tool):
            return Weighed({}, refused=self._has.why_missing(tool))
        schema = self._has.schema(tool)
        parts = read_parts(schema, arguments)
        labels = self._provenance(tool, parts, planned=planned)
        wanted = Wanted(
            self._job.step,
            tool,
            self._has.risk(tool),
            arguments,
            parts,
            labels,
            spends=self._has.spends(tool),
            only_reads=only_reads(schema, arguments),
            earlier=self._job.earlier,
            known=self._known() if labels else None,
        )
        why = self._refused(wanted)
        if why is not None:
            return Weighed(labels, refused=why)
        found = doubts(wanted, plan_is_trusted=self._job.arguments_trusted)
        return Weighed(labels, None, found, is_asked_for(wanted.risk, found))

    def disarmed(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """What is written inside from foreign text, with links that nobody can follow by accident."""
        if not self._has.knows(tool) or self._has.risk(tool) is not Risk.write:
            return arguments
        planned = self._job.step.arguments
        told = [*self._job.trusted, *map(str, planned.values())]
        parts = read_parts(self._has.schema(tool), arguments)
        written = {part.argument for part in parts if part.role is Role.content} - set(planned)
        return {
            name: without_links(value, told) if name in written else value
            for name, value in arguments.items()
        }

    def _refused(self, wanted: Wanted) -> str | None:
        step, agent = wanted.step, self._job.agent
        if wanted.tool in further_tools(agent, self._has.skill) and wanted.tool not in step.allowed:
            more = {"tools": [*step.tools, wanted.tool]}
            # Its own notes are no data of the project: the agent's highest risk is about those.
            risk = max(agent.highest_risk, wanted.risk, key=lambda each: each.rank)
            tools = [*agent.tools, wanted.tool]
            agent = agent.model_copy(update={"tools": tools, "highest_risk": risk})
            wanted = wanted.within(step.model_copy(update=more))
        return refusal(wanted, agent, self.made)

    def _provenance(self, tool: str, parts: Sequence[Part], *, planned: bool) -> dict[str, Labels]:
        if planned and self._job.arguments_trusted:
            return {}
        told = trusted_for(self._has.risk(tool), self._job.trusted, self._job.names)
        return label_parts(parts, told, self._seen)

    def _known(self) -> Known:
        """What open arguments are held against."""
        given = {
            source.removeprefix(STEP): each
            for each in self._job.given
            for source in each.labels.sources
            if source.startswith(STEP)
        }
        return Known(
            self._job.trusted,
            {name: each.value for name, each in given.items()},
            {name: each.searched for name, each in given.items()},
        )
