"""Fault points do nothing unless a crash test asks."""

from steward.core import faults


def test_a_fault_point_calls_what_is_installed_and_nothing_otherwise() -> None:
    seen: list[str] = []
    faults.fault("nothing is installed")
    previous = faults.install(seen.append)
    try:
        faults.fault("between")
    finally:
        assert faults.install(previous) == seen.append
    faults.fault("nothing again")
    assert seen == ["between"]
