"""Facts: the spans of one run added up by what they are about, hour by hour."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from steward.runs import Run, Status
from steward.trace import genai
from steward.trace.spans import Span

FactKind = Literal["run", "model", "tool", "agent"]

NANO: Final = 1_000_000_000
_OPERATIONS: Final[dict[str, tuple[FactKind, str]]] = {
    genai.CHAT: ("model", genai.MODEL),
    genai.EXECUTE_TOOL: ("tool", genai.TOOL),
    genai.INVOKE_AGENT: ("agent", genai.AGENT),
}
_LONGEST_NAME: Final = 200


@dataclass(frozen=True)
class Fact:
    hour: int
    kind: FactKind
    name: str
    agent: str = ""
    times: int = 0
    errors: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    nano_usd: int = 0
    milliseconds: int = 0

    def __add__(self, other: "Fact") -> "Fact":
        return replace(
            self,
            times=self.times + other.times,
            errors=self.errors + other.errors,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            nano_usd=self.nano_usd + other.nano_usd,
            milliseconds=self.milliseconds + other.milliseconds,
        )


def facts_of(run: Run, spans: Iterable[Span]) -> list[Fact]:
    """What a run that is over adds to the figures. Runs that it started add their own."""
    found: dict[tuple[int, str, str, str], Fact] = {}
    for fact in _facts(run, list(spans)):
        key = (fact.hour, fact.kind, fact.name, fact.agent)
        found[key] = found[key] + fact if key in found else fact
    return list(found.values())


def hour_of(moment: datetime) -> int:
    return int(moment.timestamp()) // 3600


def _facts(run: Run, spans: list[Span]) -> Iterator[Fact]:
    agents = {span.key: str(span.attributes.get(genai.AGENT, "")) for span in spans}
    for span in spans:
        about = _OPERATIONS.get(str(span.attributes.get(genai.OPERATION)))
        if about is None:
            continue
        kind, name = about
        yield Fact(
            hour_of(span.end),
            kind,
            (str(span.attributes.get(name) or "unknown"))[:_LONGEST_NAME],
            "" if kind == "agent" else agents.get(span.parent or "", "")[:_LONGEST_NAME],
            1,
            int(span.error is not None),
            int(span.attributes.get(genai.INPUT_TOKENS, 0)),
            int(span.attributes.get(genai.OUTPUT_TOKENS, 0)),
            round(float(span.attributes.get(genai.COST, 0.0)) * NANO),
            _milliseconds(span.start, span.end),
        )
    ended = run.ended_at or run.created_at
    yield Fact(
        hour_of(ended),
        "run",
        run.status.value,
        times=1,
        errors=int(run.status is Status.failed),
        milliseconds=_milliseconds(run.started_at or run.created_at, ended),
    )


def _milliseconds(start: datetime, end: datetime) -> int:
    return max(0, round((end - start).total_seconds() * 1000))
