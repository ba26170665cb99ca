"""What expressions can see at one place of a run: inputs, outputs of nodes, variables of bodies, with their labels."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from steward.flows.expressions import Expression, Path, Text, expression, expressions_in, filled
from steward.flows.node import Labels, Valued, joined
from steward.runs import Json


class State(StrEnum):
    pending = "pending"
    running = "running"
    done = "done"
    failed = "failed"
    skipped = "skipped"
    held = "held"
    """Not reached in this pass: something before it waits or has failed."""


@dataclass(frozen=True)
class Settled:
    """What became of a node."""

    state: State
    output: Valued = field(default=Valued(None))


@dataclass(frozen=True)
class Scope:
    inputs: Valued
    run: Mapping[str, Json]
    variables: Mapping[str, Valued] = field(default_factory=dict)
    outer: "Scope | None" = None
    settled: dict[str, Settled] = field(default_factory=dict)
    """Grows while the graph runs."""

    def inner(self, variables: Mapping[str, Valued]) -> "Scope":
        """The scope of a graph inside a node: it sees what is outside."""
        return Scope(self.inputs, self.run, {**self.variables, **variables}, self)

    def with_variables(self, variables: Mapping[str, Valued]) -> "Scope":
        merged = {**self.variables, **variables}
        return Scope(self.inputs, self.run, merged, self.outer, self.settled)

    def computed(self, text: str) -> Valued:
        parsed = expression(text)
        return Valued(parsed.value(self._lookup), self._labels([parsed]))

    def filled(self, value: Json) -> Valued:
        return Valued(filled(value, self._lookup), self._labels(_expressions(value)))

    def _lookup(self, path: Path) -> Json:
        match path.root:
            case "inputs":
                return _walked(self.inputs.value, path, 1)
            case "run":
                return _walked(self.run, path, 1)
            case "nodes":
                found = self._node(path.names[1])
                if path.names[2] == "state":
                    return found.state.value
                return _walked(found.output.value, path, 3)
            case name if name in self.variables:
                return _walked(self.variables[name].value, path, 1)
            case name:
                raise LookupError(f"there is no {name!r} here")

    def _node(self, node_id: str) -> Settled:
        scope: Scope | None = self
        while scope is not None:
            if node_id in scope.settled:
                return scope.settled[node_id]
            scope = scope.outer
        raise LookupError(f"the node {node_id!r} has not run")

    def _labels(self, parsed: Iterable[Expression]) -> Labels | None:
        paths = {path.names[:2]: path for each in parsed for path in each.paths}
        return joined([self._labels_of(path) for path in paths.values()])

    def _labels_of(self, path: Path) -> Labels | None:
        match path.root:
            case "inputs":
                parts = self.inputs.parts
                named = [path.names[1]] if len(path.names) > 1 else list(parts)
                return joined([self.inputs.labels, *(parts.get(name) for name in named)])
            case "nodes":
                try:
                    return self._node(path.names[1]).output.labels
                except LookupError:
                    return None
            case name:
                return self.variables[name].labels if name in self.variables else None


def _expressions(value: Json) -> Iterable[Expression]:
    for _, text in expressions_in(value):
        if isinstance(text, Text):
            for _, each in text.expressions:
                yield each


def _walked(value: Any, path: Path, start: int) -> Json:
    for position in range(start, len(path.names)):
        name = path.names[position]
        if not isinstance(value, Mapping) or name not in value:
            raise LookupError(f"there is no {'.'.join(path.names[: position + 1])!r}")
        value = value[name]
    return value
