"""Checks before a recipe starts: size, schemas, columns, keys. Each says go, warn or stop, and why."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from steward.agents.planning.plan_checks import Catalogue
from steward.agents.recipes.compiling import compiled, parameters_of
from steward.agents.recipes.model import ColumnCheck, KeyCheck, Recipe, SchemaCheck, SizeCheck
from steward.core import Invalid
from steward.definitions import DatasetFacts

Verdict = Literal["go", "warn", "stop"]


class Coverage(Protocol):
    """What is known of how two columns go together, from a sample."""

    @property
    def sampled(self) -> int: ...
    @property
    def filled(self) -> int: ...
    @property
    def found(self) -> int: ...
    @property
    def unique(self) -> bool: ...


Cover = Callable[[DatasetFacts, str, DatasetFacts, str], "Coverage | None"]
"""Looks at a bounded number of rows; None when even that would cost too much."""


@dataclass(frozen=True)
class Finding:
    name: str
    verdict: Verdict
    message: str


@dataclass(frozen=True)
class Preflight:
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        found = {each.verdict for each in self.findings}
        return "stop" if "stop" in found else "warn" if "warn" in found else "go"


def preflight(
    recipe: Recipe, given: Mapping[str, Any], catalogue: Catalogue, cover: Cover
) -> Preflight:
    """Everything that can be told before the start, at a cost that does not grow with the data."""
    try:
        values = parameters_of(recipe, given)
        compiled(recipe, given, catalogue)
    except Invalid as error:
        problems = error.problems or ()
        told = [
            Finding(f"plan{number}", "stop", f"{each.pointer}: {each.message}")
            for number, each in enumerate(problems, 1)
        ]
        return Preflight(tuple(told) or (Finding("plan", "stop", error.message),))
    findings = [Finding("plan", "go", "The plan is valid, and everything it names exists.")]
    for number, check in enumerate(recipe.preflight, 1):
        match check:
            case SizeCheck():
                found = _size(check, values, catalogue)
            case SchemaCheck():
                found = _schemas(check, values, catalogue)
            case ColumnCheck():
                found = _column(check, values, catalogue)
            case KeyCheck():
                found = _key(check, values, catalogue, cover)
        findings += [
            Finding(f"{check.check}{number}.{place}", verdict, message)
            for place, (verdict, message) in enumerate(found, 1)
        ]
    return Preflight(tuple(findings))


Told = Iterator[tuple[Verdict, str]]


def _named(values: Mapping[str, Any], catalogue: Catalogue, parameter: str) -> list[DatasetFacts]:
    given = values.get(parameter, [])
    names = given if isinstance(given, list) else [given]
    known = {name.casefold(): facts for name, facts in catalogue.datasets.items()}
    return [known[name.casefold()] for name in names if str(name).casefold() in known]


def _size(check: SizeCheck, values: Mapping[str, Any], catalogue: Catalogue) -> Told:
    for parameter in check.datasets:
        for dataset in _named(values, catalogue, parameter):
            rows = f"{dataset.name} has {dataset.rows:,} rows"
            if dataset.rows > check.stop_rows:
                yield (
                    "stop",
                    f"{rows}, more than the {check.stop_rows:,} this is made for. Take a part of it.",
                )
            elif dataset.rows > check.warn_rows:
                yield "warn", f"{rows}; this will take a while."
            elif dataset.rows == 0:
                yield "stop", f"{dataset.name} has no rows."
            else:
                yield "go", f"{rows}."


def _schemas(check: SchemaCheck, values: Mapping[str, Any], catalogue: Catalogue) -> Told:
    datasets = _named(values, catalogue, check.datasets)
    if len(datasets) < 2:
        yield "stop", "Name at least two datasets."
        return
    first = datasets[0]
    for other in datasets[1:]:
        mine = {name.casefold() for name in first.names}
        theirs = {name.casefold() for name in other.names}
        share = len(mine & theirs) / max(1, len(mine | theirs))
        clashes = [
            column.name
            for column in first.columns
            if (found := other.column(column.name)) is not None and found.kind != column.kind
        ]
        said = f"{first.name} and {other.name} share {len(mine & theirs)} of {len(mine | theirs)} columns"
        if share < check.stop_below:
            yield "stop", f"{said}: these are different things."
        elif clashes:
            yield "warn", f"{said}, but {', '.join(clashes[:3])} are of different types."
        elif share < check.warn_below:
            yield "warn", f"{said}; the others will be empty where they are missing."
        else:
            yield "go", f"{said}."


def _column(check: ColumnCheck, values: Mapping[str, Any], catalogue: Catalogue) -> Told:
    wanted = values.get(check.column, [])
    for dataset in _named(values, catalogue, check.dataset):
        for name in wanted if isinstance(wanted, list) else [wanted]:
            if dataset.column(str(name)) is None:
                yield (
                    "stop",
                    f"{dataset.name} has no column {name!r}. It has: {', '.join(dataset.names[:20])}.",
                )
            else:
                yield "go", f"{dataset.name} has the column {name}."


def _key(check: KeyCheck, values: Mapping[str, Any], catalogue: Catalogue, cover: Cover) -> Told:
    left = _named(values, catalogue, check.dataset)
    right = _named(values, catalogue, check.other)
    mine, theirs = values.get(check.column), values.get(check.other_column)
    if not left or not right or not isinstance(mine, str) or not isinstance(theirs, str):
        return
    seen = cover(left[0], mine, right[0], theirs)
    if seen is None:
        yield "warn", f"{right[0].name} is too large to look how many keys match."
        return
    if not seen.filled:
        yield (
            "stop",
            f"{mine} of {left[0].name} is empty in all {seen.sampled:,} rows that were looked at.",
        )
        return
    share = seen.found / seen.filled
    said = (
        f"{share:.0%} of {seen.filled:,} values of {left[0].name}.{mine} that were looked at are in "
        f"{right[0].name}.{theirs}"
    )
    if share < check.stop_below:
        yield "stop", f"{said}: this is no key. Look for one with the recipe find-keys."
    elif share < check.warn_below:
        yield "warn", f"{said}; the other rows find no partner."
    else:
        yield "go", f"{said}."
    if not seen.unique:
        yield (
            "warn",
            f"{theirs} repeats in {right[0].name}, so that rows of {left[0].name} are multiplied.",
        )
