"""The contract kits of plug-ins: what Steward brings along passes, what is wrong does not."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

from steward.agents.guardrails import GUARDRAILS, About, Guardrail, load_guardrails
from steward.flows import NODES, Node
from steward.flows.node import Place, Starter, Valued
from steward.plugins import KINDS, pack_folder, write_package
from steward.testing.guardrails import check_guardrail
from steward.testing.nodes import check_node
from tests.plugins.wheels import EXAMPLE

load_guardrails()


@pytest.mark.parametrize("name", [name for name, _ in NODES])
def test_nodes_keep_the_contract(name: str) -> None:
    check_node(name, NODES.get(name))


@pytest.mark.parametrize("name", [name for name, _ in GUARDRAILS])
def test_guardrails_keep_the_contract(name: str) -> None:
    check_guardrail(name, GUARDRAILS.get(name))


class _Wrong(Node):
    type: Literal["wrong"]
    count: int = 1

    starters: ClassVar = (Starter("Wrong", {"count": "many"}),)

    async def run(self, at: Place) -> Valued:
        return at.filled("")


class _Fickle(Guardrail):
    """Refuses every second text."""

    seen: ClassVar[list[str]] = []

    def check(self, text: str, about: About) -> str | None:
        self.seen.append(text)
        return "no" if len(self.seen) % 2 else None


def test_kits_find_what_is_wrong() -> None:
    with pytest.raises(AssertionError, match="a new wrong is wrong"):
        check_node("wrong", _Wrong)
    with pytest.raises(AssertionError, match="changes its mind"):
        check_guardrail("fickle", _Fickle)


def checked(folder: Path, tmp_path: Path) -> dict[str, Any]:
    wheel = tmp_path / "checked.whl"
    wheel.write_bytes(pack_folder(folder)[1])
    done = subprocess.run(
        [sys.executable, "-m", "steward.testing.plugins", str(wheel)],
        capture_output=True,
        check=True,
        timeout=120,
    )
    return {each["part"]: each["problem"] for each in json.loads(done.stdout)}


def test_every_kind_of_new_package_passes(tmp_path: Path) -> None:
    found = checked(write_package("acme-all", tmp_path, KINDS), tmp_path)
    assert found == {
        "acme-all 0.1.0": None,
        "sandboxed_tool add_tax": None,
        "tool tell_time": None,
        "node shout": None,
        "trigger hours": None,
        "connector web_shop": None,
        "guardrail no-shouting": None,
        "agent stock-keeper": None,
    }


def test_the_worked_example_passes(tmp_path: Path) -> None:
    found = checked(EXAMPLE, tmp_path)
    assert len(found) == 5
    assert set(found.values()) == {None}


def test_an_example_that_comes_out_differently_fails(tmp_path: Path) -> None:
    made = write_package("acme-tax", tmp_path)
    file = made / "acme_tax/add_tax.py"
    file.write_text(file.read_text().replace("rate / 100", "rate / 10"))
    assert "gave" in checked(made, tmp_path)["sandboxed_tool add_tax"]
