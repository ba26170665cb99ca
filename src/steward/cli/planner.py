"""`steward planner`: how planning goes, and what another planner would have planned."""

import asyncio
import re
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated

import typer

from steward.agents.planner import Recipe
from steward.agents.shadow import Compared, ShadowReport
from steward.app import Steward
from steward.cli.output import table
from steward.cli.projects import Here, in_project
from steward.core.errors import Invalid
from steward.core.settings import ModelChoice
from steward.identity import Access
from steward.models import ConfiguredModels, FixedModels, ModelDesk
from steward.runs import Run

app = typer.Typer(no_args_is_help=True)


@app.command("measures")
@in_project
def read_measures(
    here: Here,
    *,
    days: Annotated[int, typer.Option(min=1, max=366, help="How far to look back.")] = 30,
) -> None:
    """Show how fast plans are made, how well they are kept, and how often they were wrong."""
    since = here.steward.clock.now() - timedelta(days=days)
    found = asdict(here.steward.planning.measures.since(here.scope, since))
    here.show(
        found,
        lambda: table(
            ["Measure", "Value"],
            [
                (name.replace("_", " "), "–" if value is None else value)
                for name, value in found.items()
            ],
            empty="",
        ),
    )


@app.command("shadow")
@in_project
def shadow(
    here: Here,
    *,
    against: Annotated[
        str, typer.Option(help="Past tasks: `last:200`, or the id of one run.")
    ] = "last:50",
    model: Annotated[
        str | None,
        typer.Option(
            help="`rules`, or `provider:name` such as `ollama:qwen2.5-coder:1.5b`; unset: as configured."
        ),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Where the model is served.")] = None,
    key_variable: Annotated[
        str | None, typer.Option(help="Environment variable that holds its key.")
    ] = None,
    tokens: Annotated[
        int, typer.Option(min=500, max=100_000, help="Length of the prompt.")
    ] = 6_000,
    examples: Annotated[int, typer.Option(min=0, max=20, help="Worked examples in it.")] = 3,
) -> None:
    """Plan past tasks again with another model or prompt, and compare; nothing is changed."""
    steward, access = here.steward, here.access
    desk = _desk(steward, access, model, base_url, key_variable)
    recipe = Recipe(tokens=tokens, examples=examples)
    runs = _runs(steward, access, against)
    report = asyncio.run(steward.planning.shadow.against(access.scope, runs, desk, recipe))
    here.show(report.to_json(), lambda: _told(report))


def _runs(steward: Steward, access: Access, against: str) -> list[Run]:
    found = re.fullmatch(r"last:(\d{1,5})", against)
    if found is not None:
        return list(steward.planning.shadow.latest(access.scope, int(found.group(1))))
    if against.startswith("run_"):
        return [steward.runs.get(access.scope, against)]
    raise Invalid("--against is `last:N` or the id of a run.")


def _desk(
    steward: Steward,
    access: Access,
    model: str | None,
    base_url: str | None,
    key_variable: str | None,
) -> ModelDesk | None:
    if model == "rules":
        return None
    if model is None:
        return steward.staff.desk
    provider, _, name = model.partition(":")
    if not name:
        raise Invalid("--model is `rules` or `provider:name`.")
    choice = ModelChoice.model_validate(
        {
            "provider": provider,
            "name": name,
            **({"base_url": base_url} if base_url else {}),
            **({"api_key_variable": key_variable} if key_variable else {}),
        }
    )
    models = ConfiguredModels(steward.settings.models, steward.secrets)
    return ModelDesk(FixedModels(models.backend(access.scope, choice)))


def _told(report: ShadowReport) -> str:
    if not report.tasks:
        return "No chat message has been planned yet."
    totals = table(
        ["Total", ""],
        [(name.replace("_", " "), value) for name, value in report.totals.items()],
        empty="",
    )
    return "\n".join([*(_line(task) for task in report.tasks), "", totals])


def _line(task: Compared) -> str:
    verdict = "same" if task.same_arguments else "; ".join(task.differences) or "other arguments"
    return f"{task.run_id}  {' '.join(task.message.split())[:60]:60}  {verdict}"
