"""What Temporal runs in `benchmarks/cluster_peers.py`; its decorators want a module of their own."""

from datetime import timedelta

from temporalio import activity, workflow

from benchmarks.cluster import PAYLOAD, STEPS

_SECONDS = timedelta(seconds=60)


@activity.defn
async def nothing(n: int) -> int:
    return n


@activity.defn
async def large() -> str:
    return "x" * PAYLOAD


@workflow.defn
class Ten:
    @workflow.run
    async def run(self) -> int:
        for n in range(STEPS - 1):
            await workflow.execute_local_activity(nothing, n, start_to_close_timeout=_SECONDS)
        return len(await workflow.execute_local_activity(large, start_to_close_timeout=_SECONDS))
