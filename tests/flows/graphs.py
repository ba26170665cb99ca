"""Random valid flows, and what they give when evaluated the simple way: one node after another, nothing recorded."""

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from steward.runs.canonical import canonical

ANSWER = 4
"""What everybody answers to every question."""


REFUSED = {"error": {"code": "invalid", "message": "The tool boom refuses."}}


class Failed(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass
class Drawing:
    """Makes documents whose needs point backwards and whose expressions read ancestors only."""

    draw: Callable[[Any], Any]
    count: int = 0

    def graph(self, depth: int, outside: list[str], variables: list[str]) -> list[dict[str, Any]]:
        nodes: list[dict[str, Any]] = []
        above: dict[str, set[str]] = {}
        for _ in range(self.draw(st.integers(1, 5 if depth == 0 else 2))):
            self.count += 1
            node: dict[str, Any] = {"id": f"n{self.count}", "needs": self._needs(nodes)}
            names = {need.split(".")[0] for need in node["needs"]}
            above[node["id"]] = names.union(*(above[name] for name in names))
            seen = [*outside, *sorted(above[node["id"]])]
            nodes.append(node | self._kind(node, depth, seen, variables))
        self._jumps(nodes)
        if depth > 0 or self.draw(st.booleans()):
            sources = self.draw(_some([node["id"] for node in nodes]))
            self.count += 1
            value = {name: f"${{nodes.{name}.output}}" for name in sources}
            final = {"id": f"n{self.count}", "type": "output", "value": value, "needs": sources}
            nodes.append({**final, "start": "any"})
        return nodes

    def _needs(self, nodes: list[dict[str, Any]]) -> list[str]:
        chosen = self.draw(_some([node["id"] for node in nodes], 2))
        by_id = {node["id"]: node for node in nodes}
        found = []
        for name in chosen:
            is_branch = by_id[name].get("type") == "branch"
            port = self.draw(st.sampled_from(["", ".yes", ".else"])) if is_branch else ""
            found.append(name + port)
        return found

    def _kind(
        self, node: dict[str, Any], depth: int, seen: list[str], variables: list[str]
    ) -> dict[str, Any]:
        kinds = ["tool", "tool", "branch", "question", "boom", "start_any"]
        if node["needs"]:
            kinds.append("join")
        if depth < 2:
            kinds += ["map", "loop", "parallel"]
        match self.draw(st.sampled_from(kinds)):
            case "branch":
                when = f"size(string({self._read(seen, variables)})) % 2 == 0"
                return {"type": "branch", "cases": [{"port": "yes", "when": when}]}
            case "question":
                return {"type": "question", "question": "?", "form": {"type": "integer"}}
            case "boom":
                fails = self.draw(st.sampled_from(["continue", "continue", "fail"]))
                return {"type": "tool", "tool": "boom", "on_error": fails}
            case "join":
                return {"type": "join"}
            case "map":
                items = self.draw(st.lists(st.integers(0, 9), max_size=4))
                inner = self.graph(depth + 1, seen, [*variables, "item", "index"])
                loose = {"concurrency": self.draw(st.integers(1, 3)), "on_item_error": "continue"}
                return {"type": "map", "over": str(items), "body": {"nodes": inner}, **loose}
            case "loop":
                inner = self.graph(depth + 1, seen, [*variables, "last", "index"])
                until = "size(string(last)) % 3 == 0"
                limits = {"until": until, "at_most": 3, "exhausted": "continue"}
                return {"type": "loop", "body": {"nodes": inner}, **limits}
            case "parallel":
                names = ["left", "right"]
                bodies = {name: {"nodes": self.graph(depth + 1, seen, variables)} for name in names}
                return {"type": "parallel", "branches": bodies}
            case kind:
                value = {"x": f"${{{self._read(seen, variables)}}}", "y": self.count}
                found = {"type": "tool", "tool": "weigh", "arguments": {"value": value}}
                return found | ({"start": "any"} if kind == "start_any" else {})

    def _read(self, seen: list[str], variables: list[str]) -> str:
        return str(
            self.draw(
                st.sampled_from(["inputs.k", *variables, *(f"nodes.{n}.output" for n in seen)])
            )
        )

    def _jumps(self, nodes: list[dict[str, Any]]) -> None:
        for index, node in enumerate(nodes[:-1]):
            if node.get("tool") == "boom" and self.draw(st.booleans()):
                target = self.draw(st.sampled_from(nodes[index + 1 :]))
                node["on_error"] = {"goto": target["id"]}


def _some(names: list[str], most: int = 3) -> Any:
    if not names:
        return st.just([])
    return st.lists(st.sampled_from(names), max_size=most, unique=True)


@st.composite
def flows(draw: Any) -> dict[str, Any]:
    nodes = Drawing(draw).graph(0, [], [])
    return {"format": 1, "id": "random", "inputs": {"type": "object"}, "nodes": nodes}


@dataclass
class Simple:
    """Evaluates a document in the order it is written in."""

    inputs: dict[str, Any]
    calls: list[str] = field(default_factory=list)

    def graph(self, nodes: list[dict[str, Any]], names: dict[str, Any], prefix: str) -> Any:
        settled: dict[str, tuple[str, Any, str]] = {}
        failures: list[Failed] = []
        for node in nodes:
            state, value, port = "held", None, ""
            if not any(settled[name][0] == "held" for name in _before(node, nodes)):
                state = "done" if _taken(node, nodes, settled) else "skipped"
            if state == "done":
                try:
                    value, port = self._node(node, names, prefix + node["id"], settled)
                except Failed as failure:
                    fails = node.get("on_error", "fail")
                    state = "held" if fails == "fail" else "failed"
                    value, port = REFUSED, "error" if isinstance(fails, dict) else ""
                    if fails == "fail":
                        failures.append(failure)
            settled[node["id"]] = (state, value, port)
            names = {**names, f"nodes.{node['id']}.output": value}
        if failures:
            raise failures[0]
        finals = [settled[node["id"]] for node in nodes if node["type"] == "output"]
        if not finals:
            return settled[nodes[0]["id"]][1] if len(nodes) == 1 else None
        return finals[0][1]

    def _node(
        self, node: dict[str, Any], names: dict[str, Any], key: str, settled: dict[str, Any]
    ) -> tuple[Any, str]:
        match node["type"]:
            case "tool":
                self.calls.append(key)
                if node["tool"] == "boom":
                    raise Failed(key)
                given = node["arguments"]["value"]
                filled = {"value": {"x": self._read(given["x"][2:-1], names), "y": given["y"]}}
                return {"n": zlib.crc32(canonical(filled).encode()) % 97}, ""
            case "branch":
                text = node["cases"][0]["when"].removeprefix("size(string(").split("))")[0]
                port = "yes" if len(_text(self._read(text, names))) % 2 == 0 else "else"
                return {"port": port}, port
            case "question":
                return ANSWER, ""
            case "join":
                taken = {need.split(".")[0] for need in node["needs"]}
                return {n: settled[n][1] for n in taken if settled[n][0] != "skipped"}, ""
            case "output":
                reads = node["value"].items()
                return {name: self._read(text[2:-1], names) for name, text in reads}, ""
            case _:
                return self._container(node, names, key), ""

    def _container(self, node: dict[str, Any], names: dict[str, Any], key: str) -> Any:
        if node["type"] == "parallel":
            found, failures = {}, []
            for name, body in node["branches"].items():
                try:
                    found[name] = self.graph(body["nodes"], names, f"{key}/{name}/")
                except Failed as failure:
                    failures.append(failure)
            if failures:
                raise failures[0]
            return found
        body = node["body"]["nodes"]
        if node["type"] == "map":
            results: list[Any] = []
            for index, item in enumerate(json.loads(node["over"])):
                inside = {**names, "item": item, "index": index}
                try:
                    results.append(self.graph(body, inside, f"{key}[{index}]/"))
                except Failed:
                    results.append(REFUSED)
            return results
        last = None
        for index in range(node["at_most"]):
            inside = {**names, "last": last, "index": index}
            last = self.graph(body, inside, f"{key}#{index + 1}/")
            if len(_text(last)) % 3 == 0:
                break
        return last

    def _read(self, text: str, names: dict[str, Any]) -> Any:
        return self.inputs["k"] if text == "inputs.k" else names[text]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _jumping(node: dict[str, Any], nodes: list[dict[str, Any]]) -> list[str]:
    return [each["id"] for each in nodes if each.get("on_error") == {"goto": node["id"]}]


def _before(node: dict[str, Any], nodes: list[dict[str, Any]]) -> list[str]:
    return [need.split(".")[0] for need in node["needs"]] + _jumping(node, nodes)


def _taken(
    node: dict[str, Any], nodes: list[dict[str, Any]], settled: dict[str, tuple[str, Any, str]]
) -> bool:
    jumps = [settled[name][2] == "error" for name in _jumping(node, nodes)]
    ways = []
    for need in node["needs"]:
        name, _, port = need.partition(".")
        state, _, left_by = settled[name]
        ways.append(state != "skipped" and left_by != "error" and port in {"", left_by})
    if any(jumps):
        return True
    if not ways:
        return not jumps
    start = node.get("start", "any" if node["type"] == "join" else "all")
    return any(ways) if start == "any" else all(ways)
