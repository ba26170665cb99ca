"""Plays suites: a fresh installation for each, a branch of its data for each case, and a report of it all."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Final

from steward import __version__
from steward.core import StewardError
from steward.evaluation.case import Case, Findings
from steward.evaluation.report import CaseResult, Report
from steward.evaluation.script import answers_of
from steward.evaluation.site import Site
from steward.evaluation.stage import Stage
from steward.evaluation.suite import Suite
from steward.models import Role

Progress = Callable[[CaseResult], None]
OpenSite = Callable[[Suite], AbstractContextManager[Site]]
_LONGEST_PROBLEM: Final = 2_000


def evaluate(
    suites: Sequence[Suite],
    open_site: OpenSite,
    began_at: datetime,
    progress: Progress = lambda _: None,
) -> Report:
    """The same code, suites and scripts give the same report, but for the seconds."""
    began = time.perf_counter()
    results: list[CaseResult] = []
    online, models = False, {}
    for suite in suites:
        with open_site(suite) as site:
            online = site.cast.is_online
            if online:
                models = {role.value: list(site.cast.names(None, role)) for role in Role}
            for number, case in enumerate(suite.cases, 1):
                result = _result(suite, case, number, site)
                results.append(result)
                progress(result)
    return Report(
        steward=__version__,
        began_at=began_at,
        mode="online" if online else "offline",
        models=models,
        seconds=_seconds(began),
        cases=results,
    )


def _result(suite: Suite, case: Case, number: int, site: Site) -> CaseResult:
    began = time.perf_counter()
    findings = Findings()
    skipped = site.cast.is_online and not case.online
    if not skipped:
        try:
            _play(suite, case, number, site, findings)
        except StewardError as problem:
            findings.problems.append(problem.message)
    outcome = "skipped" if skipped else "failed" if findings.problems else "passed"
    return CaseResult.model_validate(
        {
            "suite": suite.name,
            "id": case.id,
            "kind": case.kind,
            "title": case.title,
            "outcome": outcome,
            "problems": [each[:_LONGEST_PROBLEM] for each in findings.problems],
            "facts": findings.facts,
            "seconds": _seconds(began),
        }
    )


def _play(suite: Suite, case: Case, number: int, site: Site, findings: Findings) -> None:
    access = site.access
    branch = f"case-{number}"
    site.workbench.datasets.workspace(access.scope, access.user_id).create_branch(
        branch, of_a_run=True
    )
    site.cast.play(answers_of(case.script, suite.folder))
    case.judge(Stage(site, branch, suite.folder), findings)
    if not site.cast.is_online:
        findings.problems += site.cast.complaints()


def _seconds(began: float) -> float:
    return round(time.perf_counter() - began, 3)
