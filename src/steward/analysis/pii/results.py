"""What a search for personal data returns; values appear masked only."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    column: str
    kind: str
    label: str
    where: str
    """`whole value`, `inside text` or `column name`."""
    rows: int
    """Rows whose value has the shape of this kind."""
    rows_exact: bool
    share: float
    """Of the rows that are not null."""
    checked: int
    """Distinct values that were put to the check."""
    valid: int
    """Those that passed it."""
    check: str
    confidence: str
    """`high`: a check digit or strict syntax held; `medium`: the shape; `low`: the name alone."""
    examples: tuple[str, ...]
    """Masked."""


@dataclass(frozen=True)
class Findings:
    table: str
    findings: tuple[Finding, ...]
    columns_checked: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that hold personal data, in the table's order."""
        return tuple(dict.fromkeys(finding.column for finding in self.findings))
