"""Personal data: finding it by shape, check digits and column names, and masking it."""

from steward.analysis.pii.find import find
from steward.analysis.pii.kinds import Kind, kind
from steward.analysis.pii.masks import mask, mask_inside
from steward.analysis.pii.results import Finding

__all__ = ["Finding", "Kind", "find", "kind", "mask", "mask_inside"]
