"""What came back from a model: its parts, what it used, what it cost, and what was tried before."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from steward.models.messages import Call, Json, Part, Said, part_to_json, parts_from_json

SCHEMA_VERSION: Final = 1


@dataclass(frozen=True)
class Usage:
    """Tokens and money of one or more requests."""

    input_tokens: int = 0
    """Everything that was read, with what came from the provider's cache."""
    output_tokens: int = 0
    """Everything that was written, with what was thought."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    requests: int = 0
    cost: Decimal | None = Decimal(0)
    """US dollars; None where some price is not known."""

    def __add__(self, other: "Usage") -> "Usage":
        known = self.cost is not None and other.cost is not None
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.requests + other.requests,
            (self.cost or Decimal(0)) + (other.cost or Decimal(0)) if known else None,
        )

    def to_json(self) -> Json:
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cache_read_tokens": self.cache_read_tokens,
            "cache_write_tokens": self.cache_write_tokens,
            "requests": self.requests,
            # As text: a binary float cannot hold a cent.
            "cost": None if self.cost is None else format(self.cost, "f"),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "Usage":
        cost = data["cost"]
        return cls(**{**data, "cost": None if cost is None else Decimal(cost)})


@dataclass(frozen=True)
class Attempt:
    """A try that gave no answer."""

    model: str
    code: str
    message: str
    waited_s: float = 0.0
    """How long nothing was asked afterwards."""

    def to_json(self) -> Json:
        return {
            "model": self.model,
            "code": self.code,
            "message": self.message,
            "waited_s": self.waited_s,
        }


@dataclass(frozen=True)
class ModelAnswer:
    parts: tuple[Part, ...]
    model: str
    """Who answered, as `provider:name`."""
    finish: str = "stop"
    usage: Usage = Usage()
    rows_withheld: bool = False
    """Whether rows of the request were kept from this model."""
    attempts: tuple[Attempt, ...] = ()

    @property
    def said(self) -> Said:
        """The answer as a message of the conversation that goes on."""
        return Said(self.parts)

    @property
    def text(self) -> str:
        return self.said.text

    @property
    def calls(self) -> tuple[Call, ...]:
        return self.said.calls

    def to_json(self) -> Json:
        return {
            "schema_version": SCHEMA_VERSION,
            "parts": [part_to_json(part) for part in self.parts],
            "model": self.model,
            "finish": self.finish,
            "usage": self.usage.to_json(),
            "rows_withheld": self.rows_withheld,
            "attempts": [attempt.to_json() for attempt in self.attempts],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Json]) -> "ModelAnswer":
        return cls(
            parts_from_json(data["parts"]),
            data["model"],
            data["finish"],
            Usage.from_json(data["usage"]),
            data["rows_withheld"],
            tuple(Attempt(**attempt) for attempt in data["attempts"]),
        )
