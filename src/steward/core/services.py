"""Parts of an installation that tools and triggers may use: each under a key that says its name and its type."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from steward.core.errors import Unavailable

T = TypeVar("T")


@dataclass(frozen=True)
class Offer:
    name: str
    part: Any


@dataclass(frozen=True)
class Service(Generic[T]):
    name: str
    purpose: str
    """What cannot be done without it, as the subject of a sentence: `Sending mail`."""

    def of(self, part: T) -> Offer:
        return Offer(self.name, part)


class Services(Mapping[str, Any]):
    """Plug-ins may also look a part up by its name alone."""

    def __init__(self, *offers: Offer) -> None:
        self._parts: dict[str, Any] = {}
        self.add(*offers)

    def add(self, *offers: Offer) -> None:
        """Takes the place of what was offered under the same name."""
        self._parts |= {each.name: each.part for each in offers}

    def use(self, service: Service[T]) -> T:
        """The part; Unavailable where this installation runs without it."""
        found = self.find(service)
        if found is None:
            raise Unavailable(
                f"{service.purpose} needs the {service.name} service, which this installation does not run."
            )
        return found

    def find(self, service: Service[T]) -> T | None:
        return cast("T | None", self._parts.get(service.name))

    def __getitem__(self, name: str) -> Any:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)
