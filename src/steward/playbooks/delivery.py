"""How a trigger hands its events to runs: which ones, each once, in what order, how many at a time, and when silence is odd."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from steward.core import Problem
from steward.flows import ExpressionError, Path, expression
from steward.runs import Json

KEPT_DAYS: Final = 30
_YEAR: Final = 366 * 86_400


class Part(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class Once(Part):
    """When two events count as the same one, so that only the first starts a run."""

    by: str = Field(
        "id",
        max_length=1_000,
        description="`id` as the sender gave it, `content` for a hash of the event, or an expression "
        "such as event.data.order_id.",
    )
    seconds: int = Field(
        7 * 86_400, ge=0, le=_YEAR, description="Within how many seconds; 0: never the same."
    )


class Batch(Part):
    """Several events in one run, which finds them under inputs.events."""

    most: int = Field(ge=2, le=1_000, description="Events in one run at most.")
    seconds: int = Field(
        60, ge=1, le=86_400, description="How long the first event waits for others at most."
    )


class Rate(Part):
    runs: int = Field(ge=1, le=100_000, description="Runs started at most …")
    seconds: int = Field(60, ge=1, le=86_400, description="… within so many seconds.")


class Delivery(Part):
    """What happens between an event that was stored and the run that it starts."""

    filter: str | None = Field(
        None,
        max_length=4_000,
        description="Only events for which this is true start a run, such as event.data.amount > 100.",
    )
    once: Once = Once()
    order_by: str | None = Field(
        None,
        max_length=1_000,
        description="Events with the same value run one after the other, such as event.data.customer.",
    )
    batch: Batch | None = None
    rate: Rate | None = None
    at_once: int | None = Field(
        None,
        ge=1,
        le=1_000,
        description="Runs of this playbook that triggers started, at a time; further events wait.",
    )
    retries: int = Field(
        0, ge=0, le=20, description="How often a failed run is started again, each time later."
    )
    silence: Literal["learn", "off"] | int = Field(
        "learn",
        description="After how many seconds without an event its owner is told; `learn`: from its rhythm.",
    )
    keep_days: int = Field(
        KEPT_DAYS, ge=1, le=3_650, description="How long events that are over are kept."
    )

    def problems(self) -> Iterator[Problem]:
        """Expressions that cannot be read, by JSON pointer."""
        written = {"/filter": self.filter, "/order_by": self.order_by}
        if self.once.by not in {"id", "content"}:
            written["/once/by"] = self.once.by
        for pointer, text in written.items():
            if text is None:
                continue
            try:
                parsed = expression(text)
            except ExpressionError as problem:
                yield Problem(pointer, str(problem))
                continue
            others = sorted({path.root for path in parsed.paths} - {"event"})
            if others:
                yield Problem(pointer, f"there is no {others[0]!r} here; an event is called event")
        if isinstance(self.silence, int) and not 1 <= self.silence <= _YEAR:
            yield Problem("/silence", "seconds between 1 and a year")
        if self.batch is not None and self.order_by is not None:
            yield Problem("/batch", "events in a batch have one order already; leave order_by out")


def retry_delay(attempts: int) -> timedelta:
    """How long after a failed run the next one starts: half a minute, doubled each time, an hour at most."""
    return timedelta(seconds=min(30 * 2 ** max(attempts - 1, 0), 3_600))


def lookup_in(variables: Mapping[str, Json]) -> Any:
    """What expressions about events see: `event`, or `events` of a batch."""

    def lookup(path: Path) -> Json:
        if path.root not in variables:
            raise LookupError(f"there is no {path.root!r} here")
        value: Any = variables[path.root]
        for position in range(1, len(path.names)):
            name = path.names[position]
            if not isinstance(value, Mapping) or name not in value:
                raise LookupError(f"there is no {'.'.join(path.names[: position + 1])!r}")
            value = value[name]
        return value

    return lookup
