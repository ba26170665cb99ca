"""What a deployment pins: every part that decides what a run does, each by its hash."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from steward.broker import FixedParts
from steward.flows import AgentNode, CodeNode, Flow, Graph, Node, SubflowNode, tools_in
from steward.playbooks.model import Playbook
from steward.playbooks.needs import connections_in
from steward.runs import Json, digest
from steward.store import Scope

CALL: Final = "call_playbook"
_IN_DOCUMENT: Final = frozenset({"graph", "prompt", "policy", "code"})
Kind = Literal[
    "graph", "flow", "prompt", "policy", "agent", "skill", "tool", "connection", "model", "code"
]


@dataclass(frozen=True)
class Pin:
    """One part, as it was when somebody deployed."""

    kind: str
    name: str
    hash: str
    version: str = ""
    fixed: bool = False
    """Whether runs of the deployment keep to exactly this; otherwise Steward tells when it has changed since."""
    content: Json = None
    """What runs keep to, where name and version do not lead back to it: the text of a policy, the models of a role."""

    @property
    def is_in_document(self) -> bool:
        """Whether it is a text that the revision has inside, such as a prompt or the code of a step."""
        return self.fixed and self.content is None and self.kind in _IN_DOCUMENT

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Changed:
    """A part of which two lists of pins differ; a side that does not have it is None."""

    kind: str
    name: str
    before: Pin | None
    after: Pin | None

    @property
    def is_in_document(self) -> bool:
        pin = self.after or self.before
        return pin is not None and pin.is_in_document


PinSource = Callable[[Scope, Sequence[str]], Iterable[Pin]]
"""The parts of these names as they are now; a name that leads nowhere is left out."""


@dataclass(frozen=True)
class Named:
    """What a flow uses, by name."""

    nodes: list[str]
    """Types of nodes."""

    tools: list[str]
    agents: list[str]
    skills: list[str]
    connections: list[str]
    flows: list[str]
    """Playbooks that it calls, by reference or by the tool that calls one."""
    triggers: list[str]
    """Types of triggers."""
    has_agents: bool

    @property
    def parts(self) -> list[str]:
        """What packages of others may bring, each as its kind and its name."""
        named = {
            "tool": self.tools,
            "node": self.nodes,
            "agent": self.agents,
            "trigger": self.triggers,
            "connection": self.connections,
        }
        return [f"{kind} {name}" for kind, names in named.items() for name in names]


def named_in(playbook: Playbook, flow: Flow) -> Named:
    agents, skills, flows = list(playbook.agents), list(playbook.skills), []
    has_agents = False
    for node in every_node(flow):
        if isinstance(node, AgentNode):
            has_agents = True
            agents += [node.agent] if node.agent else []
            skills += [node.skill] if node.skill else []
        if isinstance(node, SubflowNode) and node.ref:
            flows.append(node.ref)
        called = node.tool_call()
        name: Any = called.arguments.get("playbook") if called and called.tool == CALL else None
        if isinstance(name, str) and name and "${" not in name:
            flows.append(name)
    return Named(
        nodes=_unique(node.type for node in every_node(flow)),
        triggers=_unique(trigger.type for trigger in playbook.triggers),
        tools=_unique([*tools_in(flow), *(playbook.tools or ())]),
        agents=_unique(agents),
        skills=_unique(skills),
        connections=_unique([*playbook.connections, *connections_in(flow)]),
        flows=_unique(flows),
        has_agents=has_agents,
    )


def every_node(graph: Graph) -> Iterator[Node]:
    """The nodes of a graph and of those inside it; flows that are written out inside it, too."""
    for node in graph.nodes:
        yield node
        if isinstance(node, SubflowNode) and node.flow is not None:
            yield from every_node(node.flow)
        for _, body in node.bodies():
            yield from every_node(body)


def prompts_in(flow: Flow) -> dict[str, str]:
    """What agents are told, by node."""
    return {node.id: node.instructions for node in every_node(flow) if isinstance(node, AgentNode)}


def code_in(flow: Flow) -> dict[str, str]:
    """What nodes have of code, by node."""
    return {node.id: node.code for node in every_node(flow) if isinstance(node, CodeNode)}


def fixed_parts(pins: Iterable[Pin]) -> FixedParts:
    """What runs keep to, beside the flow itself; deployments of earlier versions fix nothing of it."""
    fixed = [pin for pin in pins if pin.fixed and pin.content is not None]
    policies = [pin.content for pin in fixed if pin.kind == "policy"]
    return FixedParts(
        policies=tuple(dict.fromkeys(policies)),
        models={pin.name: pin.content for pin in fixed if pin.kind == "model"},
        code={
            pin.content: {"version": pin.version, "sha256": pin.hash}
            for pin in fixed
            if pin.kind == "code"
        },
    )


def with_versions(document: Any, pins: Iterable[Pin]) -> Any:
    """A flow in which each agent and each skill is named together with its pinned version."""
    versions = {(pin.kind, pin.name): pin.version for pin in pins if pin.fixed and pin.version}
    return _versioned(document, versions)


def _versioned(value: Any, versions: Mapping[tuple[str, str], str]) -> Any:
    if isinstance(value, list):
        return [_versioned(item, versions) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: _versioned(item, versions) for key, item in value.items()}
    if found.get("type") == "agent" and "instructions" in found:
        for field in ("agent", "skill"):
            name = found.get(field)
            version = versions.get((field, name)) if isinstance(name, str) else None
            if version:
                found[field] = f"{name}@{version}"
    return found


def pinned_version(pins: Iterable[Pin], ref: str) -> int | None:
    """The revision of another playbook that is pinned under the name by which a flow calls it."""
    found = (pin for pin in pins if pin.kind == "flow" and pin.name == ref)
    return next((int(pin.version) for pin in found), None)


def hash_of(pins: Sequence[Pin]) -> str:
    """One hash for all of them, whatever their order."""
    return digest(sorted([pin.kind, pin.name, pin.hash] for pin in pins))


def changes_of(before: Iterable[Pin], after: Iterable[Pin]) -> list[Changed]:
    old = {(pin.kind, pin.name): pin for pin in before}
    new = {(pin.kind, pin.name): pin for pin in after}
    return [
        Changed(kind, name, old.get((kind, name)), new.get((kind, name)))
        for kind, name in sorted(old.keys() | new.keys())
        if _hash(old.get((kind, name))) != _hash(new.get((kind, name)))
    ]


def _hash(pin: Pin | None) -> str | None:
    return None if pin is None else pin.hash


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
