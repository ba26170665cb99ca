"""What a playbook needs before it runs: datasets with their columns, and connections; what is missing is said in words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, Literal

from steward.core import Invalid, NotFound, Problem
from steward.flows import Flow, Graph, SubflowNode
from steward.identity import Role
from steward.playbooks.model import ColumnKind, DataNeed, Playbook
from steward.store import Scope
from steward.versions import MAIN, Dataset

_SIGNED: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMERIC: Final = (*_SIGNED, *(f"U{name}" for name in _SIGNED), "DECIMAL", "FLOAT", "DOUBLE")
_FITTING: Final[Mapping[ColumnKind, tuple[str, ...]]] = {
    "any": ("",),
    "number": _NUMERIC,
    # Moments of several zones are kept as text; the steps look at each value.
    "date": ("DATE", "TIMESTAMP", "VARCHAR"),
}
"""How the types begin that a kind of column may have."""
_SHOWN: Final = 12
_DATASET: Final = "dataset"

Datasets = Callable[[Scope, str], Sequence[Dataset]]
Names = Callable[[Scope], Sequence[str]]


@dataclass(frozen=True)
class NeededColumn:
    name: str
    kind: ColumnKind
    read_from: str
    """Its name in the dataset that is read."""
    type: str | None
    """None where that dataset has no such column."""


@dataclass(frozen=True)
class Need:
    kind: Literal["dataset", "connection"]
    name: str
    read_from: str
    """The dataset that stands for it; of a connection, its name."""
    problem: str | None
    columns: tuple[NeededColumn, ...] = ()


@dataclass(frozen=True)
class Needs:
    datasets: Datasets
    """What there is on a branch."""
    connections: Names

    def of(
        self,
        scope: Scope,
        role: Role,
        playbook: Playbook,
        flow: Flow,
        branch: str,
        inputs: Mapping[str, Any] | None = None,
    ) -> list[Need]:
        """What is needed; a runner is told what is missing, and not what else there is.

        With `inputs`, the datasets that they name are among it.
        """
        tells = role is not Role.runner
        found: list[Need] = []
        wanted_data = [*playbook.data, *_named(playbook.inputs, inputs or {})]
        if wanted_data:
            try:
                there = {each.name: each for each in self.datasets(scope, branch)}
            except NotFound:
                said = f"there is no branch {branch[:100]}, so its datasets cannot be read"
                found += [_unread(need, said) for need in wanted_data]
            else:
                found += [_dataset(need, there, tells=tells) for need in wanted_data]
        wanted = list(dict.fromkeys(connections_in(flow)))
        if wanted:
            known = list(self.connections(scope))
            found += [_connection(name, known, tells=tells) for name in wanted]
        return found

    def names_any(self, playbook: Playbook, flow: Flow, inputs: Mapping[str, Any]) -> bool:
        """Whether it needs anything at all; to say so, nothing is read."""
        named = next(_named(playbook.inputs, inputs), None)
        return bool(playbook.data) or named is not None or any(connections_in(flow))

    def missing(
        self,
        scope: Scope,
        playbook: Playbook,
        flow: Flow,
        branch: str,
        role: Role = Role.editor,
        inputs: Mapping[str, Any] | None = None,
    ) -> list[Problem]:
        """What keeps it from running to its end."""
        return [
            Problem(f"/{need.kind}s/{need.name}", need.problem)
            for need in self.of(scope, role, playbook, flow, branch, inputs)
            if need.problem
        ]

    def require(
        self,
        scope: Scope,
        role: Role,
        playbooks: Sequence[tuple[Playbook, Flow]],
        branch: str,
        inputs: Mapping[str, Any],
    ) -> None:
        """Refuses to begin what would end in the middle, after people have answered its questions.

        The inputs are the first one's; what those get that are parts of it is known only later.
        """
        found = [
            problem
            for index, (playbook, flow) in enumerate(playbooks)
            for problem in self.missing(
                scope, playbook, flow, branch, role, None if index else inputs
            )
        ]
        # What several of them need is said once.
        problems = list(dict.fromkeys(found))
        if problems:
            raise Invalid(said_of(problems), code="not-ready", problems=problems)


def said_of(problems: Sequence[Problem]) -> str:
    """All of them in sentences."""
    return " ".join(f"{each.message[:1].upper()}{each.message[1:]}." for each in problems)


def _named(schema: Mapping[str, Any], inputs: Mapping[str, Any]) -> Iterator[DataNeed]:
    """The datasets that inputs name whose schema says `format: dataset`, of themselves or of their items."""
    properties = schema.get("properties")
    for name, wanted in properties.items() if isinstance(properties, Mapping) else ():
        if not isinstance(wanted, Mapping):
            continue
        items = wanted.get("items")
        given: list[Any] = []
        if wanted.get("format") == _DATASET:
            given = [inputs.get(name)]
        elif isinstance(items, Mapping) and items.get("format") == _DATASET:
            given = inputs[name] if isinstance(inputs.get(name), list) else []
        for each in given:
            if isinstance(each, str) and each:
                # As it is: a name that somebody gives may be one that no document could have.
                yield DataNeed.model_construct(
                    dataset=each, columns={}, source=None, renamed={}, may_be_empty=False
                )


def _dataset(need: DataNeed, there: Mapping[str, Dataset], *, tells: bool) -> Need:
    found = there.get(need.read_from)
    types = {column.name: column.type for column in found.columns} if found else {}
    columns = tuple(
        NeededColumn(name, kind, need.column(name), types.get(need.column(name)))
        for name, kind in need.columns.items()
    )
    if found is None:
        instead = _instead(need.read_from, list(there)) if tells else ""
        said = f"there is no dataset {need.read_from}{instead}"
        return Need("dataset", need.dataset, need.read_from, said, columns)
    problems = list(_faults(need, found, columns, list(types) if tells else []))
    return Need("dataset", need.dataset, need.read_from, "; ".join(problems) or None, columns)


def _unread(need: DataNeed, problem: str) -> Need:
    columns = tuple(
        NeededColumn(name, kind, need.column(name), None) for name, kind in need.columns.items()
    )
    return Need("dataset", need.dataset, need.read_from, problem, columns)


def branches_of(playbook: Playbook) -> list[str]:
    """The branches of the data that its runs work on by themselves: those of its triggers, else main."""
    found = [each.works_on() for each in playbook.triggers if each.is_subscribed]
    return list(dict.fromkeys(found)) or [MAIN]


def tested_branch(playbook: Playbook, known: Sequence[str]) -> str:
    """The branch whose data a test begins with: the one that its triggers have it work on, else main."""
    found = branches_of(playbook)
    return found[0] if len(found) == 1 and found[0] in known else MAIN


def _faults(
    need: DataNeed, found: Dataset, columns: Sequence[NeededColumn], there: list[str]
) -> Iterator[str]:
    missing = [each.read_from for each in columns if each.type is None]
    if missing:
        word = "column" if len(missing) == 1 else "columns"
        has = f"; it has {_listed(there)}" if there else ""
        yield f"the dataset {found.name} has no {word} {_listed(missing)}{has}"
    if found.rows == 0:
        # Nothing is known about the types of what has no rows.
        if not need.may_be_empty:
            yield f"the dataset {found.name} has no rows"
        return
    for each in columns:
        if each.type is not None and not each.type.startswith(_FITTING[each.kind]):
            yield f"the column {each.read_from} of {found.name} has values that are no {each.kind}s"


def _connection(name: str, known: list[str], *, tells: bool) -> Need:
    if name in known:
        return Need("connection", name, name, None)
    said = f"there is no connection {name}{_instead(name, known) if tells else ''}"
    return Need("connection", name, name, f"{said}; an editor adds it under Connections")


def connections_in(flow: Graph) -> Iterator[str]:
    """Connections that steps name as they are, also inside loops; one that an expression names is known only later."""
    for node in flow.nodes:
        called = node.tool_call()
        name: Any = called.arguments.get("connection") if called is not None else None
        if isinstance(name, str) and name and "${" not in name:
            yield name
        if isinstance(node, SubflowNode) and node.flow is not None:
            yield from connections_in(node.flow)
        for _, body in node.bodies():
            yield from connections_in(body)


def _instead(name: str, known: list[str]) -> str:
    close = get_close_matches(name, known, 1)
    return f" (did you mean {close[0]}?)" if close else ""


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
