"""Which walls stand on this machine, as `steward doctor` reports them."""

from dataclasses import dataclass, field
from typing import Final

from steward.sandbox.contract import Tier

# From nothing to most; an administrator's minimum is one of these.
STRENGTH: Final[dict[Tier, int]] = {"none": 0, "container": 1, "lsm": 2, "ns": 3}


@dataclass(frozen=True)
class Walls:
    """`tier` is what a throw-away process proved by being confined and trying to get out."""

    tier: Tier
    stood: tuple[str, ...] = ()
    tried: dict[str, bool] = field(default_factory=dict)
    """Attempts of that process, and whether the walls held."""
    reasons: tuple[str, ...] = ()
    """Why stronger tiers do not stand here."""
    libraries: dict[str, str] = field(default_factory=dict)

    def reaches(self, minimum: Tier) -> bool:
        return STRENGTH[self.tier] >= STRENGTH[minimum]
