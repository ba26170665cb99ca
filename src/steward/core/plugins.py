"""Plug-ins: built-ins register through the same door as third parties' packages."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Any, Generic, ParamSpec, TypeVar

from steward.core.errors import Conflict, NotFound

T = TypeVar("T")
Made = TypeVar("Made")
P = ParamSpec("P")


class Registry(Generic[T]):
    """Named things of one kind, found in a package's modules and in entry points `steward.<kind>`."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._items: dict[str, T] = {}
        self._origins: dict[str, str] = {}
        self.on_missing: list[Callable[[], object]] = []
        """Asked before a name counts as unknown: another process may have installed it a moment ago."""

    def add(self, name: str, item: T, *, origin: str = "") -> T:
        taken = self._origins.get(name)
        if taken is not None:
            raise Conflict(
                f"Two {self.kind}s are called {name!r}: one from {taken}, one from {origin or 'here'}. "
                "Rename or uninstall one of them."
            )
        self._items[name] = item
        self._origins[name] = origin or getattr(item, "__module__", "unknown")
        return item

    def register(self, name: str) -> Callable[[T], T]:
        """Decorator form of `add`."""

        def decorate(item: T) -> T:
            return self.add(name, item)

        return decorate

    def adding(self, make: Callable[P, Made], named: str = "name") -> Callable[P, Made]:
        """A constructor whose results are added under the name that they have themselves."""

        def add(*arguments: P.args, **given: P.kwargs) -> Made:
            made: Any = make(*arguments, **given)
            self.add(getattr(made, named), made)
            return made  # type: ignore[no-any-return]

        return add

    def remove(self, name: str) -> None:
        """Forgets what a plug-in had added."""
        self._items.pop(name, None)
        self._origins.pop(name, None)

    def look_again(self) -> None:
        """Lets those who know what is installed bring in what is missing here."""
        for bring in list(self.on_missing):
            bring()

    def get(self, name: str) -> T:
        if name not in self._items:
            self.look_again()
        try:
            return self._items[name]
        except KeyError:
            known = ", ".join(sorted(self._items)) or "none"
            raise NotFound(
                f"There is no {self.kind} called {name!r}. Known: {known}. "
                f"A package may add one through the entry point group 'steward.{self.kind}'."
            ) from None

    def load_package(self, package: str) -> None:
        """Imports every public module of a package, whose top level registers the built-ins."""
        module = importlib.import_module(package)
        for info in pkgutil.iter_modules(module.__path__):
            if not info.name.startswith("_"):
                importlib.import_module(f"{package}.{info.name}")

    def load_entry_points(self) -> None:
        """Adds what installed packages declare; names they take from built-ins are refused."""
        for point in entry_points(group=f"steward.{self.kind}"):
            self.add(point.name, point.load(), origin=point.value)

    def __iter__(self) -> Iterator[tuple[str, T]]:
        return iter(sorted(self._items.items()))

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, name: object) -> bool:
        return name in self._items
