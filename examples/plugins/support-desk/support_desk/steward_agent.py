"""Declares the front desk for Steward: which of its tools only read."""

from steward.agents.operating.packages import Packaged
from support_desk.desk import front_desk

FRONT_DESK = Packaged(
    front_desk,
    reads=("find_order",),
    description="Answers questions about orders and has refunds paid.",
)
