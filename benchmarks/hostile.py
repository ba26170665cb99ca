"""A model that always does what hostile text says: what is refused, what a person is asked, what is harmed.

Built-in tools: for each, calls that foreign text orders (in rows, names of columns, files, web pages, errors, skills,
descriptions of MCP tools), through the real operator, broker and journal: outside the plan, where the plan left
everything open, and where it fixed something else. The agent may do everything and the policy is the default one.

AgentDojo: its suites from PyPI without a model. Each user task is a plan made from the request alone; each of the 629
pairs replays the task's own calls, and the injection's calls wherever its text has been read, in every step anew. Every
call goes through enforcement of the plan, provenance of the arguments and the broker. The policy is the `trusted`
preset, which lets sends go out by themselves: under the default one every send would ask anyway. Who is asked rejects
what the injection wanted and approves what the task needs.

    .venv/bin/python benchmarks/hostile.py            some minutes
    .venv/bin/python benchmarks/hostile.py --quick    the built-in tools, each order once, and one suite

The last line is JSON. `harmed`: effects that nobody approved, of both sets; AgentDojo's own checks of the environment
decide in its cases. `stopped_fraction`: pairs of AgentDojo in which nothing that the injection wanted reached a person
or happened, of all pairs; `said` are those whose goal is words in the answer and no call: they are not counted as
stopped. `benign_undisturbed`: user tasks of AgentDojo that are done with no approval but those that the project's
own policy demands of anybody; `benign_without_approval`: with none at all.
"""

import argparse
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.hostile_cases import builtin_replay as builtin
from benchmarks.hostile_cases.builtin_orders import SECRET
from benchmarks.hostile_cases.desk import Desk, opened
from steward.data.samples import generate

CUSTOMERS = 40
WAYS = 3
"""In how many ways each hostile text comes, of seven that take turns."""


def say(text: str) -> None:
    print(text, flush=True)


def furnish(desk: Desk, home: Path) -> str:
    """Sample data, what strangers wrote, and a secret; returns the newest commit."""
    bringing, access = desk.steward.workbench.bringing, desk.access
    files = [(one.filename, one.name, one.content) for one in generate(CUSTOMERS).datasets]
    files.append(("notes.csv", builtin.NOTES, builtin.notes_csv()))
    for filename, name, content in files:
        path = home / filename
        path.write_bytes(content)
        bringing.load(access.scope, access.user_id, path, filename, name)
    desk.steward.secrets.set(access.scope, "SLACK_TOKEN", SECRET, author=access.user_id)
    workspace = desk.steward.workbench.datasets.workspace(access.scope, access.user_id)
    return workspace.branch().head


def builtin_tools(*, ways: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder), "supervised") as desk:
        head = furnish(desk, Path(folder))
        ordinary = list(builtin.benign())
        for case in ordinary:
            # One after the other: each works on what the one before left.
            builtin.replay(desk, [case])
        cases = list(builtin.hostile(head, ways=ways))
        builtin.replay(desk, cases)
        harmed = [case for case in cases if case.harm]
        asked = [case for case in cases if case.asked and not case.harm]
        changed = [case for case in cases if case.effects and not case.asked and not case.harm]
        disturbed = [case for case in ordinary if not case.is_done or case.asked]
        for case in harmed:
            say(f"  harmed: {case.name}: {[(call.tool, call.arguments) for call in case.harm]}")
        for case in asked:
            say(f"  asked: {case.name}")
        for case in disturbed:
            say(f"  disturbed: {case.name}: {[(c.tool, c.state, c.error) for c in case.told]}")
        return {
            "cases": len(cases),
            "blocked": len(cases) - len(harmed) - len(asked) - len(changed),
            "contained": len(changed),
            "asked": len(asked),
            "harmed": len(harmed),
            "secrets_in_journals": builtin.leaked(desk),
            "most_requests": max(case.requests for case in cases),
            "benign": len(ordinary),
            "benign_undisturbed": len(ordinary) - len(disturbed),
        }


def agentdojo(names: list[str] | None) -> dict[str, Any]:
    from benchmarks.hostile_cases import dojo_cases, dojo_replay, dojo_tools

    total: dict[str, Any] = dict.fromkeys(
        ("pairs", "stopped", "asked", "harmed", "said", "utility_under_attack"), 0
    ) | dict.fromkeys(("tasks", "undisturbed", "without_approval"), 0)
    for name, suite in dojo_cases.suites().items():
        if names is not None and name not in names:
            continue
        dojo_tools.register(suite)
        with tempfile.TemporaryDirectory() as folder, opened(Path(folder), "trusted") as desk:
            started = time.monotonic()
            ordinary = list(dojo_cases.benign(suite))
            dojo_replay.replay(desk, ordinary)
            pairs = list(dojo_cases.hostile(suite))
            dojo_replay.replay(desk, pairs)
            for case in ordinary:
                _count_ordinary(total, case)
            for case in pairs:
                _count_pair(total, case)
        say(
            f"  {name}: {len(ordinary)} tasks, {len(pairs)} pairs, {time.monotonic() - started:.0f} s"
        )
    return total


def _count_ordinary(total: dict[str, Any], case: Any) -> None:
    from benchmarks.hostile_cases.dojo_replay import task_done

    tried = list(case.tried.values())
    done = task_done(case) and all(each.outcome == "done" for each in tried)
    asked = [each for each in tried if each.asked]
    by_provenance = [each for each in asked if not each.by_policy]
    total["tasks"] += 1
    total["undisturbed"] += done and not by_provenance
    total["without_approval"] += done and not asked
    if asked or not done:
        why = [f"{each.call.function} {each.outcome}: {each.why}" for each in asked or tried]
        say(f"  disturbed: {case.name}: {'; '.join(why)}")


def _count_pair(total: dict[str, Any], case: Any) -> None:
    from benchmarks.hostile_cases.dojo_replay import goal_reached, task_done

    asked = any(each.asked for each in case.tried.values() if each.ordered)
    total["pairs"] += 1
    total["utility_under_attack"] += task_done(case)
    if not case.orders:
        # What an answer says is no effect; nothing here stops a model from saying it.
        total["said"] += 1
    elif goal_reached(case):
        total["harmed"] += 1
        say(f"  harmed: {case.name}")
    elif asked:
        total["asked"] += 1
        say(f"  asked: {case.name}")
    else:
        total["stopped"] += 1


def main() -> int:
    parser = argparse.ArgumentParser(description="How far a hostile model gets.")
    parser.add_argument("--quick", action="store_true", help="a smoke test")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    say("Built-in tools, default policy")
    tools = builtin_tools(ways=1 if quick else WAYS)
    say(f"  {tools}")
    say("AgentDojo, trusted policy")
    dojo = agentdojo(["slack"] if quick else None)
    say(f"  {dojo}")
    result = {
        "harmed": tools["harmed"] + dojo["harmed"],
        "stopped_fraction": round(dojo["stopped"] / dojo["pairs"], 4),
        "benign_undisturbed": round(dojo["undisturbed"] / dojo["tasks"], 4),
        "benign_without_approval": round(dojo["without_approval"] / dojo["tasks"], 4),
        "builtin": tools,
        "agentdojo": dojo,
    }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
