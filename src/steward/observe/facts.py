"""Facts: the spans of one run added up by what they are about, minute by minute."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from steward.runs import Run, Status
from steward.trace import Span, genai

FactKind = Literal["run", "model", "tool", "agent"]

NANO: Final = 1_000_000_000
_OPERATIONS: Final[dict[str, tuple[FactKind, str]]] = {
    genai.CHAT: ("model", genai.MODEL),
    genai.EXECUTE_TOOL: ("tool", genai.TOOL),
    genai.INVOKE_AGENT: ("agent", genai.AGENT),
}
_LONGEST_NAME: Final = 200
_LONGEST_CODE: Final = 80
CONNECTED: Final = ("api", "mcp")
"""How names of tools begin that belong to a connection: the next word is its name."""
THROUGH: Final = frozenset(
    {"http_request", "load_from_connection", "load_from_service", "query_connection"}
)
"""Tools of Steward that ask the service or database of the connection in their argument `connection`."""


@dataclass(frozen=True)
class Fact:
    minute: int
    """Since 1970, UTC."""
    kind: FactKind
    name: str
    agent: str = ""
    code: str = ""
    """How it failed; empty where it did not."""
    times: int = 0
    errors: int = 0
    changes: int = 0
    """Calls that changed something and can be undone."""
    input_tokens: int = 0
    output_tokens: int = 0
    nano_usd: int = 0
    milliseconds: int = 0
    connector: str = ""
    """The connection that a call went through; empty where it went through none."""
    judged: int = 0
    """Steps of agents that were held against their plan."""
    adhered: int = 0
    """Of these, the ones in which a primary tool of the plan did the work."""

    @property
    def hour(self) -> int:
        return self.minute // 60

    def __add__(self, other: "Fact") -> "Fact":
        return replace(
            self,
            times=self.times + other.times,
            errors=self.errors + other.errors,
            changes=self.changes + other.changes,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            nano_usd=self.nano_usd + other.nano_usd,
            milliseconds=self.milliseconds + other.milliseconds,
            judged=self.judged + other.judged,
            adhered=self.adhered + other.adhered,
        )


def facts_of(run: Run, spans: Iterable[Span]) -> list[Fact]:
    """What a run that is over adds to the figures. Runs that it started add their own."""
    return added_up(_facts(run, list(spans)))


def hourly_facts(found: Iterable[Fact]) -> list[Fact]:
    """The same by the hour: each is in the first minute of its hour."""
    return added_up(replace(fact, minute=fact.hour * 60) for fact in found)


def added_up(found: Iterable[Fact]) -> list[Fact]:
    sums: dict[tuple[int, str, str, str, str, str], Fact] = {}
    for fact in found:
        key = (fact.minute, fact.kind, fact.name, fact.agent, fact.code, fact.connector)
        sums[key] = sums[key] + fact if key in sums else fact
    return list(sums.values())


def hour_of(moment: datetime) -> int:
    return int(moment.timestamp()) // 3600


def minute_of(moment: datetime) -> int:
    return int(moment.timestamp()) // 60


def connector_of(tool: str, arguments: object = None) -> str:
    """The connection of a call: "crm" of "api.crm.find", or the one that its arguments name; empty for none."""
    word, _, rest = tool.partition(".")
    if word in CONNECTED:
        return rest.partition(".")[0]
    said = arguments.get("connection") if isinstance(arguments, Mapping) else None
    return said[:_LONGEST_NAME] if tool in THROUGH and isinstance(said, str) else ""


def _facts(run: Run, spans: list[Span]) -> Iterator[Fact]:
    agents = {span.key: str(span.attributes.get(genai.AGENT, "")) for span in spans}
    for span in spans:
        about = _OPERATIONS.get(str(span.attributes.get(genai.OPERATION)))
        if about is None or is_shared(run, span):
            continue
        kind, name = about
        yield Fact(
            minute_of(span.end),
            kind,
            (str(span.attributes.get(name) or "unknown"))[:_LONGEST_NAME],
            "" if kind == "agent" else agents.get(span.parent or "", "")[:_LONGEST_NAME],
            _code(span.error),
            1,
            int(span.error is not None),
            int(span.attributes.get(genai.CHANGES, 0)),
            int(span.attributes.get(genai.INPUT_TOKENS, 0)),
            int(span.attributes.get(genai.OUTPUT_TOKENS, 0)),
            round(float(span.attributes.get(genai.COST, 0.0)) * NANO),
            _milliseconds(span.start, span.end),
            str(span.attributes.get(genai.CONNECTION, "")) if kind == "tool" else "",
            int(genai.ADHERED in span.attributes),
            int(span.attributes.get(genai.ADHERED) is True),
        )
    ended = run.ended_at or run.created_at
    whole = next((span.error for span in spans if span.key == f"{run.id}:run"), None)
    failed = run.status is Status.failed
    yield Fact(
        minute_of(ended),
        "run",
        run.status.value,
        code=_code(whole or run.status.value) if failed else "",
        times=1,
        errors=int(failed),
        milliseconds=_milliseconds(run.started_at or run.created_at, ended),
    )


def is_shared(run: Run, span: Span) -> bool:
    """Whether a fork has it from the run that it was forked from, which counts it. A fork has that before it starts."""
    return run.forked_from is not None and run.started_at is not None and span.end < run.started_at


def _code(error: str | None) -> str:
    return (error or "")[:_LONGEST_CODE]


def _milliseconds(start: datetime, end: datetime) -> int:
    return max(0, round((end - start).total_seconds() * 1000))
