"""What is rung on the bus about runs."""


def queue_topic(queue: str) -> str:
    return f"queue/{queue}"


def journal_topic(run_id: str) -> str:
    """Rung when entries were written; who is in the process that writes them gets them without a ring."""
    return f"journal/{run_id}"


def run_topic(run_id: str) -> str:
    """Rung when a run begins, rests or ends, and at every entry while somebody listens."""
    return f"run/{run_id}"


def asked_topic(run_id: str) -> str:
    """Rung when somebody wants something of a run, for whoever drives it."""
    return f"asked/{run_id}"


ROLL_CALL = "workers"
"""Rung when somebody wants to know which workers answer."""
