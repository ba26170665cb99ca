"""A JSON document whose changes are numbered: a reader who has one number gets what changed since, as a JSON Patch.

Nothing is compared and nothing is queued. Each part of the document knows the number of its last change, so a reader is
one number, and one who reads slowly gets each part once, as it is by then.
"""

from collections import OrderedDict
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

Path = tuple[str, ...]
_WHOLE: Final[Path] = ()


@dataclass(frozen=True)
class Patch:
    """What a reader lacks: RFC 6902 operations that lead from one number to another."""

    number: int
    operations: tuple[dict[str, Any], ...]


class PatchedDocument:
    def __init__(self, number: int) -> None:
        """`number` is the first: numbers of another document must not be among its own, or a reader would mix them."""
        self.number = number
        self.document: dict[str, Any] = {}
        self._changed: OrderedDict[Path, int] = OrderedDict({_WHOLE: number})
        """Parts by the number of their last change, oldest first. Never more than the document has parts."""
        self._whole = number

    @property
    def parts(self) -> int:
        """How many parts are known to have changed on their own: what the document takes beside itself."""
        return len(self._changed)

    def replace(self, document: dict[str, Any]) -> None:
        """Another document in its place; every reader gets it whole."""
        self.document = document
        self.number += 1
        self._whole = self.number
        self._changed = OrderedDict({_WHOLE: self.number})

    def put(self, path: Path, value: Any) -> None:
        """Sets a member of an object; nothing happens when it has this value."""
        *above, name = path
        inside = self._object(above)
        if name in inside and inside[name] == value:
            return
        was = inside.get(name)
        if isinstance(was, dict):
            for known in [each for each in self._changed if each[: len(path)] == path]:
                del self._changed[known]
        inside[name] = value
        self.number += 1
        self._changed[path] = self.number
        self._changed.move_to_end(path)

    def add(self, path: Path, amounts: dict[str, int]) -> None:
        """Adds to the numbers of an object, which begins with zeros."""
        if not self._has(path):
            self.put(path, dict(amounts))
            return
        present = self._object(path)
        for name, amount in amounts.items():
            if amount:
                self.put((*path, name), present.get(name, 0) + amount)

    def get(self, path: Iterable[str]) -> Any:
        found: Any = self.document
        for name in path:
            found = found[name]
        return found

    def since(self, number: int | None) -> Patch:
        """All of it for a reader who has nothing, too old a number, or one of another document."""
        if number is None or not self._whole <= number <= self.number:
            whole = {"op": "replace", "path": "", "value": deepcopy(self.document)}
            return Patch(self.number, (whole,))
        later = []
        for path, changed in reversed(self._changed.items()):
            if changed <= number:
                break
            later.append(path)
        # Oldest first: an object is there before what is put into it.
        operations = tuple(
            {"op": "add", "path": _pointer(path), "value": deepcopy(self.get(path))}
            for path in reversed(later)
        )
        return Patch(self.number, operations)

    def _has(self, path: Path) -> bool:
        found: Any = self.document
        for name in path:
            if name not in found:
                return False
            found = found[name]
        return True

    def _object(self, path: Iterable[str]) -> dict[str, Any]:
        found: dict[str, Any] = self.get(path)
        return found


def _pointer(path: Path) -> str:
    """RFC 6901."""
    return "".join("/" + name.replace("~", "~0").replace("/", "~1") for name in path)
