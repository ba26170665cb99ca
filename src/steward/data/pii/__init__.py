"""Personal data: finding it by shape, check digits and column names, and masking it."""

from steward.data.pii.find import find
from steward.data.pii.kinds import KINDS, Kind, kind
from steward.data.pii.masks import mask, mask_inside
from steward.data.pii.results import Finding, Findings

__all__ = ["KINDS", "Finding", "Findings", "Kind", "find", "kind", "mask", "mask_inside"]
