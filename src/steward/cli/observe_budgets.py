"""`steward observe budgets`: budgets of a day, week or month in the terminal."""

from dataclasses import asdict
from decimal import Decimal
from typing import Annotated, get_args

import typer

from steward.app import BudgetDesk, SeenBudget
from steward.broker import PERIOD_WORDS, BudgetKind, BudgetLimits, PeriodBudget
from steward.cli.projects import Group, Here
from steward.core import Invalid, NotFound
from steward.identity import Identity
from steward.observe import ExpectedUse

app = Group()
KINDS = get_args(BudgetKind)
Usd = Annotated[str | None, typer.Option(help="Dollars at most.")]
Tokens = Annotated[int | None, typer.Option(min=0, help="Model tokens at most.")]
BudgetArgument = Annotated[str, typer.Argument(help="Id of a budget, as `list` shows it.")]


@app.in_project("list")
def list_budgets(here: Here) -> None:
    """List budgets with what is used of them."""
    found = _desk(here).listed()
    headings = ["Id", "Budget", "Of", "Spent", "Set aside", "Limit", "Expected", "Resets (UTC)"]
    here.show_table(
        [_document(each) for each in found],
        headings,
        [_row(each) for each in found],
        empty="This project has no budgets. Add one with 'steward observe budgets add'.",
    )


@app.in_project("add")
def add_budget(
    here: Here,
    *,
    kind: Annotated[str, typer.Option("--of", help="project, flow, agent or person.")] = "project",
    name: Annotated[
        str,
        typer.Option(
            help="A flow (`playbook:` and its id, or a program), an agent, or a person's e-mail address."
        ),
    ] = "",
    period: Annotated[str, typer.Option(help="day, week or month, in UTC.")] = "month",
    usd: Usd = None,
    tokens: Tokens = None,
) -> None:
    """Add a budget. Calls that do not fit into it are stopped before they are made."""
    if kind not in KINDS:
        raise Invalid(f"--of is one of {', '.join(KINDS)}.")
    if period not in PERIOD_WORDS:
        raise Invalid(f"--period is one of {', '.join(PERIOD_WORDS)}.")
    if kind == "person":
        name = _person(here.steward.identity, name)
    if (kind == "project") != (name == ""):
        raise Invalid("--name says which flow, agent or person; a project's budget has no name.")
    limits = _limits(usd, tokens)
    document = PeriodBudget(
        kind=kind,
        name=name,
        period=period,
        usd=limits.usd,
        tokens=limits.tokens,
    )
    seen = _desk(here).add(document)
    here.show(_document(seen), lambda: f"Added the {_words(seen)}: {seen.kept.id}.")


@app.in_project("set")
def set_budget(
    here: Here, budget: BudgetArgument, *, usd: Usd = None, tokens: Tokens = None
) -> None:
    """Set other limits for a budget."""
    desk = _desk(here)
    revision = desk.get(budget).kept.revision
    seen = desk.change(budget, _limits(usd, tokens), revision)
    here.show(_document(seen), lambda: f"Changed the {_words(seen)}.")


@app.in_project("delete")
def delete_budget(here: Here, budget: BudgetArgument) -> None:
    """Delete a budget."""
    desk = _desk(here)
    seen = desk.get(budget)
    desk.delete(budget, seen.kept.revision)
    here.show({"id": budget}, lambda: f"Deleted the {_words(seen)}.")


def _desk(here: Here) -> BudgetDesk:
    steward = here.steward
    return BudgetDesk(
        steward.governing.period_budgets,
        steward.observations.budgets,
        steward.identity,
        steward.playbooks,
        steward.clock,
        here.access,
    )


def _person(identity: Identity, email: str) -> str:
    user = identity.users.find(email)
    if user is None:
        raise NotFound(f"No one here has the e-mail address {email!r}.")
    return user.id


def _limits(usd: str | None, tokens: int | None) -> BudgetLimits:
    try:
        return BudgetLimits(usd=None if usd is None else Decimal(usd), tokens=tokens)
    except (ArithmeticError, ValueError):
        raise Invalid("Give --usd, --tokens or both, as numbers from 0.") from None


def _words(seen: SeenBudget) -> str:
    return f"{PERIOD_WORDS[seen.kept.document.period]} budget of “{seen.title}”"


def _row(seen: SeenBudget) -> tuple[object, ...]:
    kept = seen.kept
    units = [unit for unit in ("usd", "tokens") if getattr(kept.document, unit) is not None]

    def amounts(values: dict[str, Decimal]) -> str:
        return ", ".join(_amount(unit, values[unit]) for unit in units)

    limits = {unit: Decimal(getattr(kept.document, unit)) for unit in units}
    expected = "" if seen.expected is None else _expected(seen.expected)
    words = f"{PERIOD_WORDS[kept.document.period]}, {kept.document.kind}"
    used = (amounts(kept.spent), amounts(kept.reserved), amounts(limits), expected)
    return (kept.id, words, seen.title, *used, f"{kept.resets_at:%Y-%m-%d %H:%M}")


def _expected(found: ExpectedUse) -> str:
    if found.low is None or found.high is None:
        return f"${found.usd:.2f}"
    return f"${found.usd:.2f} ({found.low:.2f} to {found.high:.2f})"


def _amount(unit: str, value: Decimal) -> str:
    return f"${value:.4f}" if unit == "usd" else f"{value:,.0f} tokens"


def _document(seen: SeenBudget) -> dict[str, object]:
    kept = seen.kept
    return {
        "id": kept.id,
        **kept.document.model_dump(mode="json"),
        "spent": {unit: float(value) for unit, value in kept.spent.items()},
        "reserved": {unit: float(value) for unit, value in kept.reserved.items()},
        "expected": None if seen.expected is None else asdict(seen.expected),
        "resets_at": kept.resets_at,
    }
