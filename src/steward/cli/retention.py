"""`steward retention`: how long a project keeps its records, and legal holds."""

from dataclasses import asdict, replace
from typing import Annotated

import typer

from steward.app import people_names
from steward.cli.output import table
from steward.cli.projects import Group, Here
from steward.core import Denied, Invalid
from steward.identity import Periods, Role

app = Group()
_KINDS = tuple(Periods.__dataclass_fields__)
_MOST = 36_500
Rules = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KIND=DAYS",
        help="runs, versions, events or audit, and for how many days: runs=365. KIND=forever keeps all.",
    ),
]
Why = Annotated[str, typer.Option("--reason", help="Why; everyone who reads the audit sees it.")]


@app.in_project("show")
def show_retention(here: Here) -> None:
    """Show the periods, and since when they count."""
    _require_admin(here)
    rule = here.steward.identity.retention.rule(here.scope)
    document = {**asdict(rule.periods), "starts_at": rule.starts_at, "updated_at": rule.updated_at}
    rows = [(kind, _words(days)) for kind, days in asdict(rule.periods).items()]
    shown = table(["Records", "Kept"], rows, empty="")
    if rule.starts_at is not None:
        shown += f"\nSteward deletes older records from {rule.starts_at:%Y-%m-%d %H:%M} UTC on."
    here.show(document, lambda: shown)


@app.in_project("preview")
def preview(here: Here, rules: Rules = None) -> None:
    """Show what the periods would delete now: the saved ones, or with these changes. Deletes nothing."""
    _require_admin(here)
    found = here.steward.removing.preview(here.scope, _periods(here, rules))
    hold = here.steward.identity.retention.hold(here.scope)
    rows = [
        (each.kind, _words(each.days), each.count, each.oldest and f"{each.oldest:%Y-%m-%d %H:%M}")
        for each in found
    ]
    shown = table(["Records", "Kept", "Would be deleted", "Oldest (UTC)"], rows, empty="")
    if hold is not None:
        shown += f'\nNothing is deleted as long as the legal hold "{hold.name}" lasts.'
    here.show([asdict(each) for each in found], lambda: shown)


@app.in_project("set")
def set_periods(here: Here, rules: Rules = None) -> None:
    """Set periods. Nothing is deleted on the first day after a change."""
    retention = here.steward.identity.retention
    periods = _periods(here, rules)
    saved = retention.change(here.access, periods, retention.rule(here.scope).revision)
    here.show(
        asdict(saved.periods),
        lambda: "Saved. 'steward retention preview' shows what will be deleted.",
    )


@app.in_project("holds")
def list_holds(here: Here) -> None:
    """List legal holds, lifted ones too."""
    _require_admin(here)
    found = here.steward.identity.retention.holds(here.scope)
    name_of = people_names(here.steward.identity)
    rows = [
        (
            each.id,
            each.name,
            each.reason,
            name_of(each.placed_by),
            f"{each.placed_at:%Y-%m-%d}",
            f"{each.lifted_at:%Y-%m-%d}" if each.lifted_at else "–",
        )
        for each in found
    ]
    headings = ["Id", "Hold", "Reason", "Placed by", "Placed", "Lifted"]
    here.show_table(
        [asdict(each) for each in found], headings, rows, empty="This project has no legal hold."
    )


@app.in_project("hold")
def place_hold(
    here: Here,
    name: Annotated[str, typer.Argument(help="Name of the hold, such as the case.")],
    *,
    reason: Why,
) -> None:
    """Stop every deletion in the project until the hold is lifted."""
    if not 0 < len(name.strip()) <= 100 or not 0 < len(reason.strip()) <= 1000:
        raise Invalid("A hold has a name of up to 100 characters and a reason of up to 1,000.")
    placed = here.steward.identity.retention.place(here.access, name.strip(), reason.strip())
    here.show(
        asdict(placed), lambda: f'Nothing of this project is deleted until "{name}" is lifted.'
    )


@app.in_project("lift")
def lift_hold(
    here: Here, hold: Annotated[str, typer.Argument(help="Id of the hold.")], *, reason: Why
) -> None:
    """End a legal hold. Deletions are possible again once no hold is left."""
    if not 0 < len(reason.strip()) <= 1000:
        raise Invalid("Give a reason of up to 1,000 characters.")
    lifted = here.steward.identity.retention.lift(here.access, hold, reason.strip())
    here.show(asdict(lifted), lambda: f'The legal hold "{lifted.name}" is lifted.')


def _require_admin(here: Here) -> None:
    if here.access.role < Role.admin:
        raise Denied("Only admins of the project may see its retention and legal holds.")


def _periods(here: Here, rules: list[str] | None) -> Periods:
    periods = here.steward.identity.retention.rule(here.scope).periods
    for rule in rules or ():
        kind, _, days = rule.partition("=")
        number = int(days) if days.isascii() and days.isdigit() and len(days) < 6 else 0
        if kind not in _KINDS or (days != "forever" and not 0 < number <= _MOST):
            raise Invalid(
                f"{rule!r} is not a period. Write {', '.join(_KINDS)} and days: runs=365 or runs=forever."
            )
        periods = replace(periods, **{kind: number or None})
    return periods


def _words(days: int | None) -> str:
    return "for good" if days is None else f"{days:,} days"
