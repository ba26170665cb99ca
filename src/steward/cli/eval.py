"""`steward eval`: suites of cases, played in an installation made for them, with a report and a comparison."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from steward.app import Sites, Steward
from steward.cli.output import AsJson, command, installation, progress, say, show, table
from steward.cli.projects import ProjectOption, UserOption, enter
from steward.core import Invalid, LogSettings, Settings, SystemClock, load_settings
from steward.evaluation import (
    CaseResult,
    Cast,
    Comparison,
    Report,
    Suite,
    as_html,
    as_markdown,
    compare,
    evaluate,
    load_suites,
    read_report,
    shipped,
    suite_schema,
)
from steward.models import Role
from steward.trace import configure_logs

_WRITERS = {".html": as_html, ".md": as_markdown}


@command
def run_suites(
    suites: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files or folders of YAML, recorded runs, or names of Steward's own; unset: all of its own."
        ),
    ] = None,
    *,
    only: Annotated[
        str | None, typer.Option(help="Only cases of this kind, or whose id has this in it.")
    ] = None,
    online: Annotated[
        bool, typer.Option("--online", help="Ask the configured models instead of the scripts.")
    ] = False,
    report: Annotated[
        list[Path] | None,
        typer.Option(help="Write the report here: .json, .html or .md; may be given again."),
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="Compare with this report of an earlier evaluation.")
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the report in the project, for its page.")
    ] = False,
    title: Annotated[str, typer.Option(help="What the kept report is called.")] = "",
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of suites and end.")
    ] = False,
    project: ProjectOption = None,
    user: UserOption = None,
    as_json: AsJson = False,
) -> None:
    """Play suites of cases; ends with 1 when a case failed."""
    if schema:
        say(json.dumps(suite_schema(), indent=2))
        return
    before = read_report(against.read_bytes()) if against is not None else None
    _check_endings(report or [])
    chosen = _chosen(load_suites(suites or shipped()), only)
    with _real(online or keep) as (settings, steward):
        access = enter(steward, user, project) if steward is not None else None
        cast = Cast()
        if online and steward is not None and access is not None:
            models = steward.models
            if not models.names(access.scope, Role.planner):
                raise Invalid("--online needs a model. Add one with 'steward models add'.")
            cast = Cast(models, access.scope)
        with TemporaryDirectory(prefix="steward-eval-") as folder:
            sites = Sites(settings, Path(folder), cast)
            found = evaluate(chosen, sites.open, SystemClock().now(), _show_progress)
        if keep and steward is not None and access is not None:
            kept = steward.evaluations.keep(access, found, title)
            progress(f"Kept as {kept.id}")
    for path in report or []:
        path.write_text(_written(found, path), encoding="utf-8")
    compared = compare(before, found) if before is not None else None
    document = found.to_json() | ({"comparison": compared.to_json()} if compared else {})
    show(document, as_json=as_json, text=lambda: _summary(found, compared))
    if not found.passed:
        raise typer.Exit(1)


@contextmanager
def _real(needed: bool) -> Iterator[tuple[Settings, Steward | None]]:
    """The installation, where it is asked for a model's key or for a place to keep the report."""
    configure_logs(LogSettings(level="warning"))
    if not needed:
        yield load_settings(), None
        return
    with installation() as steward:
        yield steward.settings, steward


def _chosen(suites: list[Suite], only: str | None) -> list[Suite]:
    if only is None:
        return suites
    found = []
    for suite in suites:
        cases = tuple(case for case in suite.cases if only == case.kind or only in case.id)
        if cases:
            found.append(Suite(suite.head, cases, suite.folder))
    if not found:
        raise Invalid(f"No case is of the kind {only!r} or has it in its id.")
    return found


def _check_endings(paths: list[Path]) -> None:
    for path in paths:
        if path.suffix not in {".json", *_WRITERS}:
            raise Invalid(f"{path} must end in .json, .html or .md.")


def _written(report: Report, path: Path) -> str:
    if path.suffix in _WRITERS:
        return _WRITERS[path.suffix](report)
    return json.dumps(report.to_json(), indent=2, ensure_ascii=False) + "\n"


def _show_progress(case: CaseResult) -> None:
    if sys.stderr.isatty() or case.outcome == "failed":
        progress(f"{case.outcome}: {case.suite}/{case.id} ({case.seconds:.1f} s)")


def _summary(report: Report, compared: Comparison | None) -> str:
    totals: dict[str, Any] = report.totals
    kinds = table(
        ["Kind", "Cases", "Passed", "Failed", "Skipped"],
        [(kind, *counts.values()) for kind, counts in totals["kinds"].items()],
        empty="",
    )
    lines = [kinds, ""]
    for case in report.cases:
        if case.outcome == "failed":
            lines += [f"✗ {case.key}", *(f"    {problem}" for problem in case.problems)]
    lines.append(
        f"{totals['passed']} of {totals['cases']} passed, {totals['failed']} failed, "
        f"{totals['skipped']} skipped, in {report.seconds:.1f} s."
    )
    if compared is not None:
        lines += ["", *_compared(compared)]
    return "\n".join(lines)


def _compared(compared: Comparison) -> Iterator[str]:
    yield f"Passed: {compared.passed_before} before, {compared.passed_after} now."
    for name in ("broken", "mended", "still_failing", "new", "gone"):
        keys = getattr(compared, name)
        if keys:
            yield f"{name.replace('_', ' ').capitalize()}: {', '.join(keys)}"
    for moved in compared.moved:
        yield f"{moved.case}: {moved.fact} was {moved.before:g}, is {moved.after:g}"
