"""Labels: every value knows where it comes from and whether people outside had a hand in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from steward.broker.tool import Outcome
from steward.core import Invalid


@dataclass(frozen=True)
class Labels:
    """Where a value comes from, such as `dataset:orders@ver_…` or `url:https://…`, and its trust.

    Joining is union of sources and "and" of trust: what touches something untrusted is untrusted.
    """

    sources: tuple[str, ...] = ()
    trusted: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", tuple(sorted(set(self.sources))))

    @classmethod
    def of(cls, outcome: Outcome) -> "Labels":
        """Those of a call's own result; what its arguments carry comes on top, see `result`."""
        return cls(outcome.sources, outcome.trusted)

    def joined(self, *others: "Labels") -> "Labels":
        everything = (self, *others)
        return Labels(
            tuple(source for each in everything for source in each.sources),
            all(each.trusted for each in everything),
        )

    def to_json(self) -> dict[str, Any]:
        return {"sources": list(self.sources), "trusted": self.trusted}

    @classmethod
    def from_json(cls, document: Any) -> "Labels":
        match document:
            case {"sources": list() as sources, "trusted": bool() as trusted} if all(
                isinstance(source, str) for source in sources
            ):
                return cls(tuple(sources), trusted)
        raise Invalid("Labels look like {'sources': ['…'], 'trusted': true}.")


NONE: Final = Labels()
"""Those of a value that a person of the project wrote or Steward itself made."""


def untrusted(*sources: str) -> Labels:
    return Labels(sources, trusted=False)


def joined(labels: Iterable[Labels]) -> Labels:
    return NONE.joined(*labels)


@dataclass(frozen=True)
class Provenance:
    """Labels of the parts of a call's arguments, by JSON pointer; the empty pointer is the whole."""

    parts: Mapping[str, Labels] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for pointer in self.parts:
            if pointer and not pointer.startswith("/"):
                raise Invalid(f"{pointer!r} is not a JSON pointer; it starts with a slash.")

    @classmethod
    def by_name(cls, arguments: Mapping[str, Labels]) -> "Provenance":
        """From argument names."""
        return cls({pointer_to(name): labels for name, labels in arguments.items()})

    @property
    def whole(self) -> Labels:
        """Those of the call: of all its parts together."""
        return joined(self.parts.values())

    def at(self, pointer: str) -> Labels:
        """What a value inherits from what contains it, and what it is made of."""
        return joined(
            labels
            for part, labels in self.parts.items()
            if _contains(part, pointer) or _contains(pointer, part)
        )

    def untrusted(self) -> dict[str, Labels]:
        """The parts an approval must point at."""
        return {part: labels for part, labels in sorted(self.parts.items()) if not labels.trusted}

    def to_json(self) -> dict[str, Any]:
        return {part: labels.to_json() for part, labels in sorted(self.parts.items())}

    @classmethod
    def from_json(cls, document: Any) -> "Provenance":
        if not isinstance(document, dict):
            raise Invalid("Provenance is an object from JSON pointers to labels.")
        return cls({str(part): Labels.from_json(labels) for part, labels in document.items()})


def result(outcome: Outcome, provenance: Provenance) -> Labels:
    """The labels of a call's value: a tool cannot launder what went into it."""
    return Labels.of(outcome).joined(provenance.whole)


def pointer_to(*parts: str | int) -> str:
    """The JSON pointer (RFC 6901) to a place."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def _contains(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith(f"{outer}/")
