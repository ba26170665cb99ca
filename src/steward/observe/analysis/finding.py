"""One thing that the analyst found: a sentence, how much it matters, and the spans that show it."""

from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from steward.observe.trace_tree import TraceRow

FindingKind = Literal[
    "error", "budget", "change", "retries", "repeats", "time", "cost", "wait", "queue"
]
Weight = Literal["cause", "warning", "note"]
_ORDER: Final[dict[Weight, int]] = {"cause": 0, "warning": 1, "note": 2}


@dataclass(frozen=True)
class SpanRef:
    """Leads to a span of the trace that is analysed."""

    run_id: str
    key: str
    position: int
    name: str

    @classmethod
    def of(cls, row: TraceRow) -> "SpanRef":
        return cls(row.run_id, row.key, row.position, row.span.name)


@dataclass(frozen=True)
class Finding:
    kind: FindingKind
    weight: Weight
    text: str
    """In Steward's own words."""
    quote: str = ""
    """Words of others, such as a service's error: shown, and never believed."""
    spans: tuple[SpanRef, ...] = ()

    @property
    def order(self) -> int:
        return _ORDER[self.weight]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def duration_text(milliseconds: float) -> str:
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h"


def usd_text(usd: float) -> str:
    return f"${usd:.4f}" if usd < 1 else f"${usd:.2f}"


def share_text(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f}%" if whole > 0 else "0%"
