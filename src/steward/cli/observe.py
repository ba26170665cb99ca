"""`steward observe`: what runs did and cost, in numbers."""

import asyncio
from typing import Annotated, get_args

import typer

from steward.app import cost_report, figure_names
from steward.cli.observe_alerts import app as alerts
from steward.cli.observe_budgets import app as budgets
from steward.cli.output import plain
from steward.cli.projects import Group, Here
from steward.core import Invalid
from steward.observe import NANO, Dimension

app = Group()
app.add_typer(budgets, name="budgets", help="Budgets of a day, week or month.")
app.add_typer(alerts, name="alerts", help="Open alerts, their history and their rules.")
_DIMENSIONS = get_args(Dimension)


@app.in_project("summary")
def summary(
    here: Here,
    *,
    days: Annotated[int, typer.Option(min=1, max=31, help="Whole days until yesterday, UTC.")] = 7,
) -> None:
    """Sum up the last days: runs, failures, costs, what was undone, and what to look at."""
    activity = here.steward.activity
    found = activity.of_days(here.access, days).to_json(activity.titles(here.access))
    here.show(found, lambda: plain(str(found["text"])))


@app.in_project("costs")
def costs(
    here: Here,
    *,
    by: Annotated[
        str, typer.Option(help="flow, agent, model, tool, connector, person, tag or project.")
    ] = "flow",
    days: Annotated[int, typer.Option(min=1, max=366, help="Including today, UTC.")] = 30,
) -> None:
    """List what was spent, largest first."""
    if by not in _DIMENSIONS:
        raise Invalid(f"--by is one of {', '.join(_DIMENSIONS)}.")
    steward = here.steward
    report = cost_report(
        steward.identity,
        steward.playbooks,
        steward.observations.costs,
        here.access,
        by,  # type: ignore[arg-type]
        days,
        steward.clock.now(),
    )
    sums: dict[str, list[int]] = {}
    for line in report.lines:
        amounts = (line.nano_usd, line.input_tokens + line.output_tokens, line.count)
        sums[line.name] = [
            a + b for a, b in zip(sums.get(line.name, [0, 0, 0]), amounts, strict=True)
        ]
    title = figure_names(steward.identity, steward.playbooks, here.access, report.by)
    largest = sorted(sums.items(), key=lambda item: item[1], reverse=True)
    document = [
        {by: title(name), "usd": usd / NANO, "tokens": tokens, "count": count}
        for name, (usd, tokens, count) in largest
    ]
    here.show_table(
        document,
        [by.title(), "USD", "Tokens", "Requests and calls"],
        [
            (title(name) if name else "none", f"{usd / NANO:.4f}", f"{tokens:,}", f"{count:,}")
            for name, (usd, tokens, count) in largest
        ],
        empty=f"No requests to models and no calls of tools in the last {days} days.",
    )


@app.in_project("analyse")
def analyse(
    here: Here,
    run: Annotated[str, typer.Argument(help="The id of a run.")],
    *,
    words: Annotated[
        bool, typer.Option(help="Let a model say it in words; a run of its own, on its own budget.")
    ] = False,
) -> None:
    """Say why a run failed, was slow or cost much, with the spans that show it."""
    analyses = here.steward.analyses
    found = analyses.find(here.access, run)
    told = asyncio.run(analyses.explain(here.access, run)) if words else {"text": found.summary}
    document = {
        "run": found.run_id,
        "verdict": found.verdict,
        "summary": found.summary,
        "compared_with": found.compared_with,
        "findings": [each.to_json() for each in found.findings],
        **({"words": told} if words else {}),
    }
    lines = [
        plain(str(told["text"])),
        *([plain(str(told["note"]))] if told.get("note") else []),
    ]
    for number, each in enumerate(found.findings, start=1):
        lines.append(f"[{number}] {plain(each.text)}")
        lines += [f"    {plain(each.quote)}"] if each.quote else []
        lines += [f"    span {span.position}: {plain(span.name)}" for span in each.spans[:3]]
    here.show(document, lambda: "\n".join(lines))


@app.in_project("rebuild")
def rebuild(here: Here) -> None:
    """Make all figures of a project again from the journals of its runs. Stored traces follow when someone opens them."""
    here.steward.observations.trees.forget(here.scope)
    count = here.steward.observations.projector.rebuild(here.scope)
    here.show({"runs": count}, lambda: f"Counted {count:,} runs again.")
