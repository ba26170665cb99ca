"""What it costs that a change by hand is a run of one call: through the broker, beside the same change without it.

The change trims one column of a dataset of a thousand rows (and of a million), undone after each time. With the door:
policy, budget, journal with intent and outcome, commit. Without it: the workbench alone, the same commit. Both in one
process, in turns, on the same disk.

    .venv/bin/python benchmarks/door.py            a minute or two
    .venv/bin/python benchmarks/door.py --quick    small sizes, for a smoke test

The last line is JSON: `overhead_ms_p50` is the difference of the medians on the small dataset, `overhead_ratio_1m_rows`
the ratio of the medians on the large one; `direct_ms_p50` and `through_ms_p50` are the medians themselves, and
`sync_ms_p50` is what one durable write of this disk takes, of which a run of one call has several.
"""

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from steward.app import Steward, open_steward
from steward.core import Settings
from steward.flows.direct_calls import DirectCall
from steward.identity import Access, Principal, Via
from steward.versions import Draft

ARGUMENTS = {"columns": ["name"]}


def say(text: str) -> None:
    print(text, flush=True)


def entered(steward: Steward) -> Access:
    identity = steward.identity
    user = identity.users.create("owner@example.com", "Olga Owner", "correct horse battery")
    organisation = identity.projects.create_organisation("Example", user.id)
    project = identity.projects.create(organisation.id, "First", user.id)
    return identity.projects.enter(Principal(user.id, user.email, user.name, Via.session), project)


def filled(steward: Steward, access: Access, name: str, rows: int) -> None:
    """A dataset in which every hundredth name has a space to trim."""
    query = (
        "SELECT i AS id, CASE WHEN i % 100 = 0 THEN ' name ' ELSE 'name ' END || i AS name, "
        f"'city ' || (i % 500) AS city, (i % 1000) / 7.0 AS score FROM range({rows}) t(i)"
    )
    version = steward.workbench.versions.write(access.scope, query)
    place = steward.workbench.datasets.workspace(access.scope, access.user_id)
    place.commit(Draft(message=f"Load {name}", operation="ingest", datasets={name: version.id}))


def without_door(steward: Steward, access: Access, dataset: str) -> float:
    operations, scope = steward.workbench.operations, access.scope
    planned = operations.plan(scope, access.user_id, "trim", [dataset], ARGUMENTS)
    started = time.perf_counter()
    commit = operations.apply(
        scope, access.user_id, "trim", [dataset], ARGUMENTS, base=planned.base
    )
    (changed,) = commit.changes
    # The page shows what changed, with the door or without it.
    steward.workbench.datasets.diff(scope, str(changed.before), str(changed.after))
    took = time.perf_counter() - started
    steward.workbench.datasets.workspace(scope, access.user_id).undo(commit.id)
    return took


async def through_door(steward: Steward, access: Access, dataset: str) -> float:
    scope = access.scope
    planned = await asyncio.to_thread(
        steward.workbench.operations.plan, scope, access.user_id, "trim", [dataset], ARGUMENTS
    )
    arguments: dict[str, Any] = {
        "dataset": dataset,
        "operation": "trim",
        "arguments": ARGUMENTS,
        "base": planned.base,
    }
    call = DirectCall("clean", arguments, seen=True)
    started = time.perf_counter()
    done = await steward.governing.direct_calls.run(access, call)
    took = time.perf_counter() - started
    place = steward.workbench.datasets.workspace(scope, access.user_id)
    await asyncio.to_thread(place.undo, done.commits[-1])
    return took


def sync_seconds(folder: Path) -> float:
    """One small durable write, as the disk has it."""
    times = []
    with (folder / "synced").open("wb") as file:
        for _ in range(50):
            file.write(b"x" * 200)
            started = time.perf_counter()
            file.flush()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - started)
    return statistics.median(times)


def compared(steward: Steward, access: Access, dataset: str, times: int) -> tuple[float, float]:
    """Medians of both ways, taken in turns so that the machine's mood falls on both."""
    plain: list[float] = []
    governed: list[float] = []

    async def measure() -> None:
        for number in range(times):
            # Each way comes first as often as second: what one leaves to the disk and the memory, the other meets.
            for way in ("plain", "door") if number % 2 else ("door", "plain"):
                if way == "plain":
                    plain.append(await asyncio.to_thread(without_door, steward, access, dataset))
                else:
                    governed.append(await through_door(steward, access, dataset))

    asyncio.run(measure())
    return statistics.median(plain), statistics.median(governed)


def measured(folder: Path, *, quick: bool) -> dict[str, Any]:
    clocked: Callable[[float], float] = lambda seconds: round(seconds * 1000, 2)  # noqa: E731
    large = 20_000 if quick else 1_000_000
    steward = open_steward(Settings(home=folder))
    try:
        access = entered(steward)
        filled(steward, access, "small", 1_000)
        filled(steward, access, "large", large)
        compared(steward, access, "small", 3)
        small = compared(steward, access, "small", 5 if quick else 60)
        say(
            f"1,000 rows: {clocked(small[0])} ms without the door, {clocked(small[1])} ms through it"
        )
        big = compared(steward, access, "large", 2 if quick else 20)
        say(
            f"{large:,} rows: {clocked(big[0])} ms without the door, {clocked(big[1])} ms through it"
        )
        return {
            "overhead_ms_p50": clocked(small[1] - small[0]),
            "overhead_ratio_1m_rows": round(big[1] / big[0], 3),
            "direct_ms_p50": clocked(small[0]),
            "through_ms_p50": clocked(small[1]),
            "direct_ms_p50_1m": clocked(big[0]),
            "through_ms_p50_1m": clocked(big[1]),
            "sync_ms_p50": clocked(sync_seconds(folder)),
        }
    finally:
        steward.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measured(Path(folder), quick=arguments.quick)))


if __name__ == "__main__":
    main()
