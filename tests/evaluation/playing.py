"""Plays a suite that a test wrote."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from steward.evaluation import Report, evaluate
from steward.evaluation.report import CaseResult
from steward.evaluation.running import OpenSite
from steward.evaluation.suite import Suite, read_suite

BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Play:
    open_site: OpenSite

    def suite(self, suite: Suite) -> Report:
        return evaluate([suite], self.open_site, BEGAN)

    def text(self, text: str, folder: Path | None = None) -> dict[str, CaseResult]:
        return {case.id: case for case in self.suite(read_suite(text, folder)).cases}
