"""Reads policy texts with Cedar's parser, in a process that may die of them.

Run as a program by `_cedar.py`, with little but Cedar loaded: it answers lines of JSON with lines of JSON. The
parser recurses without a limit of its own, so it gets a quarter of the stack that the server has: what this process
survives, the server survives.
"""

import json
import resource
import select
import sys
import threading
from functools import lru_cache
from typing import Any

import cedarpy

from steward.isolation import lower_limits

_STACK_BYTES = 2 << 20
_MEMORY_BYTES = 2 << 30
_IDLE_SECONDS = 60.0
_PROCESSOR_SECONDS = 5
"""For one answer; a policy of the largest size that is right takes one or two."""


@lru_cache(maxsize=16)
def _schema(text: str) -> cedarpy.Schema:
    return cedarpy.Schema.from_str(text)


def _answer(request: dict[str, str]) -> dict[str, Any]:
    text = request["text"]
    try:
        if "schema" in request:
            errors = cedarpy.validate_policies(text, _schema(request["schema"])).errors
            return {"errors": [[error.policy_id, error.error] for error in errors]}
        document = json.loads(cedarpy.policies_to_json_str(text))
        # As the server will hold it.
        cedarpy.PolicySet.from_str(text)
    except ValueError as error:
        return {"problem": str(error)}
    return {
        "templates": list(document["templates"]),
        "policies": {
            name: {"effect": policy["effect"], "annotations": policy.get("annotations", {})}
            for name, policy in document["staticPolicies"].items()
        },
    }


def _allow_processor_time() -> None:
    """Counts processor time, not time: on a busy machine a text takes longer, and is no worse for it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + 1 + _PROCESSOR_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def _serve() -> None:
    while select.select([sys.stdin], [], [], _IDLE_SECONDS)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            return
        _allow_processor_time()
        sys.stdout.write(json.dumps(_answer(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    lower_limits({"CORE": 0, "AS": _MEMORY_BYTES})
    threading.stack_size(_STACK_BYTES)
    worker = threading.Thread(target=_serve)
    worker.start()
    worker.join()
