"""Column names that do not collide; DuckDB does not tell upper from lower case, so neither does this."""

from collections.abc import Iterable


class Names:
    """Names already given; `take` returns the wanted one or the nearest that is free."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {name.lower() for name in taken}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._taken

    def take(self, wanted: str, otherwise: str | None = None) -> str:
        name = wanted
        if name in self and otherwise is not None:
            name = otherwise
        stem, number = name, 2
        while name in self:
            name, number = f"{stem}_{number}", number + 1
        self._taken.add(name.lower())
        return name


def fresh(taken: Iterable[str], wanted: str) -> str:
    """A name for an auxiliary column that none of the given ones has."""
    return Names(taken).take(wanted)
