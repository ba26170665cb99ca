"""Whether the datasets and columns that a step names exist by the time it runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from steward.agents.planning.plan import PlanStep
from steward.agents.planning.sql_names import sql_problems
from steward.core import Invalid, Problem
from steward.definitions import DatasetFacts
from steward.sandbox import QueryPlan, compile_plan

_LONGEST_PLAN: Final = 20_000
_NAMED: Final = 30
_COLUMN_NAMES: Final = frozenset({"column", "columns", "group_by", "key", "keys", "country_column"})
_MAKES_NEW: Final = frozenset({"ingest"})
"""Tools whose `dataset` is the name of what they make."""


@dataclass(frozen=True)
class Known:
    """The datasets at some point of a plan: those there now, and those that earlier steps make or change."""

    datasets: Mapping[str, DatasetFacts]
    made: Mapping[str, str] = field(default_factory=dict)
    """Casefolded name of a dataset that a step makes or changes → id of the step. Its columns are open."""
    needs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Step → every step that is done before it."""

    @classmethod
    def of(cls, datasets: Mapping[str, DatasetFacts]) -> "Known":
        return cls({name.casefold(): facts for name, facts in datasets.items()})

    def after(self, step: PlanStep) -> "Known":
        before = frozenset(step.needs).union(
            *(self.needs.get(need, frozenset()) for need in step.needs)
        )
        made = {name.casefold(): step.id for name in _made(step)}
        return Known(self.datasets, {**self.made, **made}, {**self.needs, step.id: before})

    def earlier(self, step: PlanStep) -> frozenset[str]:
        return frozenset(step.needs).union(
            *(self.needs.get(need, frozenset()) for need in step.needs)
        )

    def columns(self, dataset: str) -> tuple[str, ...] | None:
        """Its columns; None where they are not known before the plan runs."""
        name = dataset.casefold()
        if name in self.made or name not in self.datasets:
            return None
        return self.datasets[name].names

    def schema(self, only: Sequence[str] | None) -> dict[str, tuple[str, ...]] | None:
        """Datasets and columns for a compiler; None as soon as one of them is open."""
        if self.made and only is None:
            return None
        names = self.datasets if only is None else [name.casefold() for name in only]
        if any(name in self.made or name not in self.datasets for name in names):
            return None
        return {self.datasets[name].name: self.datasets[name].names for name in names}


def data_problems(step: PlanStep, known: Known, where: str) -> list[Problem]:
    tool, arguments = step.tools[0], step.arguments
    problems = list(_datasets(step, known, where))
    if problems:
        return problems
    special = _SPECIAL.get(tool)
    if special is not None:
        return list(special(arguments, known, where))
    return list(_columns(arguments, known, where))


def _made(step: PlanStep) -> list[str]:
    arguments = step.arguments
    target, dataset = arguments.get("target"), arguments.get("dataset")
    tool = step.tools[0] if step.tools else ""
    names = [target] if isinstance(target, str) else []
    if tool in {"ingest", "clean", "redact"} and isinstance(dataset, str) and not names:
        names = [dataset]
    if tool == "resolve_entities" and isinstance(target, str):
        names += [f"{target} mapping", f"{target} pairs"]
    return names


def _datasets(step: PlanStep, known: Known, where: str) -> Iterator[Problem]:
    if step.tools[0] in _MAKES_NEW:
        return
    for pointer, name in _named(step.arguments):
        wanted = name.casefold()
        maker = known.made.get(wanted)
        if maker is not None and maker not in known.earlier(step):
            yield Problem(
                where + pointer,
                f"the dataset {name!r} is made or changed by step {maker!r}; put that into `needs`",
            )
        elif maker is None and wanted not in known.datasets:
            there = sorted(each.name for each in known.datasets.values())[:_NAMED]
            yield Problem(
                where + pointer,
                f"there is no dataset {name!r}; there are: {', '.join(there) or 'none'}",
            )


def _named(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Datasets that arguments name, with their places."""
    for name in ("dataset", "source_dataset"):
        if isinstance(arguments.get(name), str):
            yield f"/{name}", arguments[name]
    several = arguments.get("datasets")
    for number, name in enumerate(several if isinstance(several, list) else ()):
        if isinstance(name, str):
            yield f"/datasets/{number}", name


def _columns(value: Any, known: Known, where: str) -> Iterator[Problem]:
    """Arguments that are called like columns hold columns of the datasets beside them."""
    if not isinstance(value, Mapping):
        return
    there = _together(value, known)
    if there is None:
        return
    for pointer, name in _column_names(value, where):
        yield from _missing(name, there, pointer)


def _together(arguments: Mapping[str, Any], known: Known) -> dict[str, str] | None:
    """Columns of all datasets that the arguments name, casefolded; None where some are open or none is named."""
    names = [name for _, name in _named(arguments)]
    found: dict[str, str] = {}
    for name in names:
        columns = known.columns(name)
        if columns is None:
            return None
        found |= {column.casefold(): column for column in columns}
    return found if names else None


def _column_names(value: Any, where: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            place = f"{where}/{key}"
            if key in _COLUMN_NAMES and isinstance(inner, str):
                yield place, inner
            elif key in _COLUMN_NAMES and isinstance(inner, list):
                for number, one in enumerate(inner):
                    if isinstance(one, str):
                        yield f"{place}/{number}", one
            else:
                yield from _column_names(inner, place)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _column_names(inner, f"{where}/{number}")


def _missing(name: str, there: Mapping[str, str], where: str) -> Iterator[Problem]:
    if name.casefold() not in there:
        names = ", ".join(list(there.values())[:_NAMED])
        yield Problem(where, f"there is no column {name!r} here; there are: {names}")


def _chart(arguments: Mapping[str, Any], known: Known, where: str) -> Iterator[Problem]:
    there, chart = _together(arguments, known), arguments.get("chart")
    if there is None or not isinstance(chart, Mapping):
        return
    for name in ("x", "y", "colour", "value"):
        if isinstance(chart.get(name), str):
            yield from _missing(chart[name], there, f"{where}/chart/{name}")


def _redact(arguments: Mapping[str, Any], known: Known, where: str) -> Iterator[Problem]:
    there, columns = _together(arguments, known), arguments.get("columns")
    if there is not None and isinstance(columns, Mapping):
        for name in columns:
            yield from _missing(name, there, f"{where}/columns")


def _clean(arguments: Mapping[str, Any], known: Known, where: str) -> Iterator[Problem]:
    from steward.analysis.clean import catalogue
    from steward.broker import problems_of

    operation, given = arguments.get("operation"), arguments.get("arguments", {})
    chosen = dict(catalogue()).get(operation) if isinstance(operation, str) else None
    if chosen is not None and isinstance(given, dict):
        yield from problems_of(chosen.schema(), given, f"{where}/arguments")
    yield from _columns(arguments, known, where)


def _join(arguments: Mapping[str, Any], known: Known, where: str) -> Iterator[Problem]:
    names, pairs = arguments.get("datasets"), arguments.get("on")
    if not (isinstance(names, list) and isinstance(pairs, list)):
        return
    sides = [known.columns(name) if isinstance(name, str) else None for name in names]
    for number, pair in enumerate(pairs):
        if not isinstance(pair, Mapping):
            continue
        for position, columns in enumerate(sides):
            side = "left" if position == 0 else "right"
            if columns is not None and isinstance(pair.get(side), str):
                there = {column.casefold(): column for column in columns}
                yield from _missing(pair[side], there, f"{where}/on/{number}/{side}")


def _query_plan(arguments: Mapping[str, Any], known: Known, where: str) -> Iterator[Problem]:
    given, only = arguments.get("plan"), arguments.get("datasets")
    if given is None:
        return
    if isinstance(given, str) and len(given) > _LONGEST_PLAN:
        yield Problem(f"{where}/plan", f"a query plan has at most {_LONGEST_PLAN:,} characters")
        return
    try:
        plan = _query(given)
        names = [plan.source, *(join.dataset for join in plan.joins)]
        schema = known.schema(only if isinstance(only, list) else None)
        if schema is None and not any(name.casefold() in known.made for name in names):
            schema = known.schema([name for name in names if name.casefold() in known.datasets])
        if schema is not None:
            compile_plan(plan, schema)
    except Invalid as error:
        for each in error.problems or [Problem("", error.message)]:
            yield Problem(f"{where}/plan{each.pointer}", each.message)
    except RecursionError:
        yield Problem(f"{where}/plan", "it is nested too deeply")


def _query(given: Any) -> QueryPlan:
    import json

    return QueryPlan.parse(given if isinstance(given, str) else json.dumps(given))


def _sql(arguments: Mapping[str, Any], known: Known, where: str) -> Iterator[Problem]:
    yield from _select(arguments.get("sql"), arguments, known, f"{where}/sql")


def _transform(arguments: Mapping[str, Any], known: Known, where: str) -> Iterator[Problem]:
    if arguments.get("language", "sql") == "sql":
        yield from _select(arguments.get("code"), arguments, known, f"{where}/code")


def _select(sql: Any, arguments: Mapping[str, Any], known: Known, where: str) -> Iterator[Problem]:
    if not isinstance(sql, str):
        return
    only = arguments.get("datasets")
    allowed = {name.casefold() for name in only} if isinstance(only, list) else None
    columns: dict[str, tuple[str, ...] | None] = {
        facts.name: known.columns(facts.name) for facts in known.datasets.values()
    }
    columns |= dict.fromkeys(known.made)
    if allowed is not None:
        columns = {name: each for name, each in columns.items() if name.casefold() in allowed}
    for message in sql_problems(sql, columns):
        yield Problem(where, message)


_SPECIAL: Final[dict[str, Callable[[Mapping[str, Any], Known, str], Iterator[Problem]]]] = {
    "chart": _chart,
    "clean": _clean,
    "execute_query_plan": _query_plan,
    "execute_sql": _sql,
    "join": _join,
    "query": _sql,
    "redact": _redact,
    "transform": _transform,
}
