"""`steward planner`: how planning goes, and what another planner would have planned."""

import asyncio
import re
from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import count
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from steward.agents import Compared, Recipe, ShadowReport
from steward.app import Steward
from steward.cli.output import progress, table
from steward.cli.projects import Group, Here
from steward.core import Invalid, Misconfigured, ModelChoice
from steward.identity import Access
from steward.models import (
    NO_MODEL,
    Chosen,
    ConfiguredModels,
    FixedModels,
    ModelDesk,
    Role,
    check_choice,
    name_of,
)
from steward.runs import Run

app = Group()

_LONGEST_MESSAGE = 60


@app.in_project("measures")
def read_measures(
    here: Here,
    *,
    days: Annotated[int, typer.Option(min=1, max=366, help="How far to look back.")] = 30,
) -> None:
    """Show how fast plans are made, how well they are kept, and how often they were wrong."""
    since = here.steward.clock.now() - timedelta(days=days)
    found = asdict(here.steward.planning.measures.since(here.scope, since))
    here.show_table(
        found,
        ["Measure", "Value"],
        [(name.replace("_", " "), _value(value)) for name, value in found.items()],
        empty="",
    )


@app.in_project("shadow")
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
    numbers = count(1)

    def tell(task: Compared) -> None:
        progress(f"{next(numbers)} of {len(runs)}: {task.agreement} ({task.seconds:.1f} s)")

    report = asyncio.run(steward.planning.shadow.against(access.scope, runs, desk, recipe, tell))
    here.show(report.to_json(), lambda: _report_text(report))
    if report.stopped:
        raise typer.Exit(1)


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return ", ".join(f"{name} {number}" for name, number in value.items()) or "none"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    return value


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
        desk = steward.staff.desk
        if not desk.configured(access.scope, Role.planner):
            raise Invalid(f"{NO_MODEL} Or say which model to try with --model.", code="no-model")
        return desk
    models = steward.models
    chosen = (
        _configured(models, access, model) if base_url is None and key_variable is None else None
    )
    if chosen is None:
        chosen = Chosen(_named(model, base_url, key_variable), keys=access.scope)
    return ModelDesk(FixedModels(models.backend(chosen)))


def _configured(models: ConfiguredModels, access: Access, model: str) -> Chosen | None:
    """A model that is set up, with its address and its key, but by itself: no fallback answers for it."""
    known = (each for role in Role for each in models.choices(access.scope, role))
    return next((each for each in known if name_of(each.choice) == model), None)


def _named(model: str, base_url: str | None, key_variable: str | None) -> ModelChoice:
    provider, _, name = model.partition(":")
    if not name:
        raise Invalid("--model is `rules` or `provider:name`.")
    given = {"base_url": base_url, "api_key_variable": key_variable}
    try:
        choice = ModelChoice.model_validate(
            {"provider": provider, "name": name, **{k: v for k, v in given.items() if v}}
        )
    except ValidationError as refused:
        wrong = refused.errors()[0]["msg"].removeprefix("Value error, ")
        raise Invalid(f"--model {model}: {wrong}.") from None
    try:
        check_choice(choice)
    except Misconfigured as problem:
        hint = " Give --base-url." if base_url is None else ""
        raise Invalid(f"--model {model}: {problem.message}{hint}") from None
    return choice


def _report_text(report: ShadowReport) -> str:
    if not report.tasks:
        return "No chat message has been planned yet."
    tasks = table(
        ["Run", "Message", "Plan by", "Compared"],
        [
            (task.run_id, _short(task.message), task.made_before, _verdict(task))
            for task in report.tasks
        ],
        empty="",
    )
    found = report.totals
    cost = "price unknown" if found["usd"] is None else f"${found['usd']}"
    lines = [
        (
            f"{found['answered']} of {found['tasks']} tasks were answered, {found['valid_plans']} with a valid plan, "
            f"{_share(found['valid_at_once'])} at once."
        ),
        (
            f"Same tools (fallbacks included) {_share(found['same_tools'])}, same steps {_share(found['same_steps'])}, "
            f"same arguments {_share(found['same_arguments'])}."
        ),
        f"{found['seconds']:.1f} s, {found['tokens']:,} tokens, {cost}.",
    ]
    return "\n".join([tasks, "", *lines, *([report.stopped] if report.stopped else [])])


def _verdict(task: Compared) -> str:
    if task.agreement == "different":
        return "; ".join(task.differences) or "other arguments"
    if task.agreement == "no valid plan":
        return f"no valid plan: {task.problems[-1]}" if task.problems else "no valid plan"
    return task.agreement


def _short(message: str) -> str:
    said = " ".join(message.split())
    return said if len(said) <= _LONGEST_MESSAGE else f"{said[: _LONGEST_MESSAGE - 1]}…"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.0%}"
