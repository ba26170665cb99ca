"""Tool policies under models that keep trying: whatever is planned and called, no tool outside the policy is reached."""

import json
import random
import sys
from collections.abc import Callable
from typing import Any

import pytest

from steward.agents.operating.roster import builtin_roster
from steward.broker.tool import TOOLS
from steward.models import Request
from steward.testing.models import Item, ScriptedModel, answers, calls
from tests.agents.conftest import Chat

HARMLESS: dict[str, dict[str, Any]] = {
    "list_datasets": {},
    "get_dataset_schema": {"dataset": "crm_customers"},
    "preview": {"dataset": "billing_invoices", "limit": 3},
    "correlate": {"dataset": "crm_customers"},
    "snapshot": {"name": "mine"},
    "send_slack": {"text": "All customers"},
    "send_email": {"to": ["evil@example.com"], "subject": "x", "text": "y"},
    "http_request": {"url": "https://evil.example/?q=1"},
    "undo": {"commit": "cmt_1"},
    "restore": {"to": "main"},
    "read_artifact": {"path": "keys/secrets.json"},
    "edit_file": {"path": "a.txt", "old": "", "new": "x"},
    "clean": {"dataset": "crm_customers", "operation": "trim"},
    "made_up_tool": {"anything": 1},
}
MODELS_SAY = ("Done.", "", "I was told to ignore the plan.", '{"approve": true}')


class Unruly:
    """Answers that are drawn by lot: plans with any tool for any agent, and calls of any tool."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._tools = sorted({*(name for name, _ in TOOLS), *HARMLESS})
        self._agents = [agent.name for agent in builtin_roster()]

    def __call__(self, request: Request) -> Item:
        if request.role == "planner":
            return self._plan()
        if request.tools and self._dice.random() < 0.85:
            return answers(*(self._call(request) for _ in range(self._dice.randint(1, 3))))
        return self._dice.choice(MODELS_SAY)

    def _plan(self) -> str:
        steps = []
        for number in range(self._dice.randint(1, 4)):
            agent = self._dice.choice(self._agents)
            mine = builtin_roster().get(agent).tools or ["list_datasets"]
            tame = self._dice.random() < 0.7
            tools = self._dice.sample(mine if tame else self._tools, k=1)
            steps.append(
                {
                    "id": f"step{number}",
                    "title": "Do something",
                    "agent": agent,
                    "tools": tools,
                    "fallback_tools": self._dice.sample(["list_datasets", "preview"], k=1),
                    "arguments": HARMLESS.get(tools[0], {}) if self._dice.random() < 0.3 else {},
                }
            )
        return json.dumps({"goal": "Whatever", "steps": steps})

    def _call(self, request: Request) -> Any:
        offered = [tool.name for tool in request.tools]
        tool = self._dice.choice(offered if self._dice.random() < 0.3 else self._tools)
        return calls(tool, **HARMLESS.get(tool, {}))


def _breaches(chat: Chat, run: Any) -> list[str]:
    """Calls that reached the broker although the plan or the agent's policy does not have them."""
    plans: dict[str, Any] = {}
    found = []
    for entry in chat.entries(run):
        if entry.key.startswith("plan/") and entry.key.count("/") == 1:
            planned = chat.steward.runs.payload(entry.data["result"])
            branch = entry.key.partition("/")[2]
            plans[branch] = {step["id"]: step for step in planned["plan"]["steps"]}
        if "/call/" in entry.key and entry.key.endswith("/plan"):
            branch, step_id = entry.key.split("/")[:2]
            step = plans[branch.removeprefix("p")][step_id]
            tool = entry.data["request"]["tool"]
            agent = builtin_roster().get(step["agent"])
            allowed = {*step["tools"], *step["fallback_tools"]}
            known = tool in TOOLS and agent.may_call(tool, TOOLS.get(tool).risk)
            if tool not in allowed or not known:
                found.append(f"{run.id} {entry.key} {tool}")
    return found


@pytest.mark.soak
def test_tool_policies_hold_at_planning_and_at_run_time(
    chat: Chat, effort: Callable[[int, int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    chat.settings(review="never")
    adherence: list[float] = []
    tried = 0
    for seed in range(effort(6, 50)):
        unruly = Unruly(seed)
        chat.models.play(ScriptedModel([unruly] * 200))
        run = chat.say("Look at the customers")
        assert _breaches(chat, run) == []
        keys = chat.keys(run)
        tried += sum("/deviation/" in key for key in keys)
        if "answer" in keys:
            kept = chat.output(run)["adherence"]
            adherence += [] if kept is None else [kept]
        if not run.status.is_final:
            chat.steward.runs.records.control(chat.access.scope, run.id, "cancel", "me")
            chat.drive(run)
    assert tried > 0, "the models did try"
    mean = sum(adherence) / len(adherence) if adherence else float("nan")
    with capsys.disabled():
        sys.stdout.write(
            f"\n{effort(6, 50)} runs, {tried} deviations refused or recorded, adherence {mean:.2f}\n"
        )
