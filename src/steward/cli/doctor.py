"""`steward doctor`: looks at the machine and the installation, and says how to mend what is wrong."""

from dataclasses import asdict

import typer

from steward.app import diagnose
from steward.cli.output import AsJson, command, show
from steward.core import load_settings

_MARKS = {"ok": "✓", "info": "·", "warning": "!", "failed": "✗"}


@command
def doctor(*, as_json: AsJson = False) -> None:
    """Check machine, disk, database, bus, blob store, workers, keys, secrets, sandbox and model."""
    findings = diagnose(load_settings())
    width = max(len(finding.subject) for finding in findings)

    def text() -> str:
        lines = []
        for finding in findings:
            lines.append(
                f"{_MARKS[finding.state]} {finding.subject.ljust(width)}  {finding.message}"
            )
            if finding.remedy:
                lines.append(f"  {' ' * width}  → {finding.remedy}")
        return "\n".join(lines)

    show([asdict(finding) for finding in findings], as_json=as_json, text=text)
    if any(finding.state == "failed" for finding in findings):
        raise typer.Exit(1)
