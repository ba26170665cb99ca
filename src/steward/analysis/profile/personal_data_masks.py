"""Keeps personal data out of a profile: the values shown for such columns are masked."""

from dataclasses import replace

from steward.analysis.pii import kind, mask, mask_inside
from steward.analysis.profile.results import ColumnProfile, ValueCount
from steward.tables import encryption_of

# A histogram of birthdays tells nothing about one person; a list of passwords does.
_SHOWN_ANYWAY = frozenset({"birth_date", "sensitive"})


def hide(column: ColumnProfile) -> ColumnProfile:
    """The column with every personal value masked; statistics of personal numbers are left out."""
    if encryption_of(column.minimum, column.maximum):
        # Tokens say nothing; how often each occurs would tell equal values apart.
        return replace(column, minimum=None, maximum=None, top=(), text=None, pii=(), masked=True)
    kinds = [finding for finding in column.pii if finding.kind not in _SHOWN_ANYWAY]
    if not kinds:
        return column
    inside = tuple(finding.kind for finding in kinds if finding.where == "inside text")
    whole = tuple(finding.kind for finding in kinds if finding.where != "inside text")

    def hidden(text: str) -> str:
        for name in whole:
            known = kind(name)
            if known is None or known.regex(hinted=True).fullmatch(text.strip()):
                return mask(text, name)
        return mask_inside(text, inside + whole)

    changed = replace(
        column,
        minimum=hidden(column.minimum) if column.minimum else column.minimum,
        maximum=hidden(column.maximum) if column.maximum else column.maximum,
        top=tuple(ValueCount(hidden(one.value), one.rows) for one in column.top),
        masked=True,
    )
    if column.kind == "number":
        return replace(changed, number=None, quantiles=(), histogram=None, outliers=None)
    return changed
