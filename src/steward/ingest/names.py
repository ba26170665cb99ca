"""Column names that DuckDB can tell apart, with a note of every name that had to change."""

from collections.abc import Sequence
from dataclasses import dataclass

from steward.ingest.findings import Note

_LONGEST = 200


@dataclass(frozen=True)
class Naming:
    names: tuple[str, ...]
    originals: tuple[str | None, ...]
    notes: tuple[Note, ...]


def unique_names(originals: Sequence[str | None]) -> Naming:
    """Every name kept where possible; empty and repeated ones get a number.

    Names are compared without case, as SQL does.
    """
    wanted = [_readable(original) for original in originals]
    # A name that stands in the file keeps it: numbers are given around those.
    taken = {name.lower() for name in wanted if name}
    used: set[str] = set()
    names: list[str] = []
    notes: list[Note] = []
    for position, name in enumerate(wanted, start=1):
        if name and name.lower() not in used:
            final = name
        else:
            final = _numbered(name, position, taken)
            reason = f"The name {name!r} appears more than once" if name else "No name is given"
            notes.append(
                Note("column-renamed", f"{reason}: column {position} is called {final!r}.", final)
            )
        used.add(final.lower())
        taken.add(final.lower())
        names.append(final)
        original = originals[position - 1]
        if original and name and original != name and name == final:
            notes.append(
                Note(
                    "column-renamed",
                    f"Spaces around a name, control characters and names over {_LONGEST} "
                    f"characters are tidied: column {position} is called {final!r}.",
                    final,
                )
            )
    return Naming(tuple(names), tuple(originals), tuple(notes))


def _readable(original: str | None) -> str:
    if original is None:
        return ""
    printable = "".join(c if c.isprintable() else " " for c in original)
    return " ".join(printable.split())[:_LONGEST].strip()


def _numbered(name: str, position: int, taken: set[str]) -> str:
    if not name:
        candidate, number = f"column_{position}", 2
        while candidate.lower() in taken:
            candidate, number = f"column_{position}_{number}", number + 1
        return candidate
    number = 2
    while (candidate := f"{name}_{number}").lower() in taken:
        number += 1
    return candidate
