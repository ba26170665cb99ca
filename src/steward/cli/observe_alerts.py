"""`steward observe alerts`: alerts and their rules in the terminal."""

from datetime import timedelta
from typing import Annotated

import typer

from steward.app import alert_view, flow_titles
from steward.cli.projects import Group, Here
from steward.observe import ALL, OPEN, Alert, State, amount, sentence

app = Group()
AlertArgument = Annotated[str, typer.Argument(help="Id of an alert, as `list` shows it.")]


@app.in_project("list")
def list_alerts(
    here: Here,
    *,
    resolved: Annotated[
        bool, typer.Option("--resolved", help="The history instead of open ones.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
) -> None:
    """List open alerts, newest first."""
    alerts = here.steward.observations.alerts
    view = alert_view(here.steward.playbooks, here.access)
    states: tuple[State, ...] = ("resolved",) if resolved else OPEN
    found = alerts.listed(here.scope, view, states, limit=limit)
    title = flow_titles(here.steward.playbooks, here.access)
    rows = [
        (
            alert.id,
            alert.state + (", muted" if alert.muted_until else ""),
            alert.rule.name,
            "Whole project" if alert.flow == ALL else title(alert.flow),
            _amount(alert, alert.latest),
            _amount(alert, alert.limit),
            f"{alert.opened_at:%Y-%m-%d %H:%M}",
        )
        for alert in found
    ]
    headings = ["Id", "State", "Rule", "Flow", "Value", "Limit", "Since (UTC)"]
    document = [
        {
            "id": alert.id,
            "state": alert.state,
            "rule": alert.rule.name,
            "flow": alert.flow or None,
            "value": alert.latest,
            "limit": alert.limit,
            "opened_at": alert.opened_at,
            "resolved_at": alert.resolved_at,
            "muted_until": alert.muted_until,
        }
        for alert in found
    ]
    empty = "No alert has resolved yet." if resolved else "No alert is open."
    here.show_table(document, headings, rows, empty=empty)


@app.in_project("rules")
def list_rules(here: Here) -> None:
    """List alert rules."""
    view = alert_view(here.steward.playbooks, here.access)
    found = here.steward.observations.alerts.rules(here.scope, view)
    title = flow_titles(here.steward.playbooks, here.access)

    def about(flow: str | None, each: bool) -> str:
        return "Each flow" if each else title(flow) if flow is not None else "Whole project"

    document = [{"id": kept.id, **kept.rule.model_dump(mode="json")} for kept in found]
    here.show_table(
        document,
        ["Id", "Name", "Fires on", "Flow", "On"],
        [
            (
                kept.id,
                kept.rule.name,
                sentence(kept.rule),
                about(kept.rule.flow, kept.rule.each_flow),
                "yes" if kept.rule.enabled else "no",
            )
            for kept in found
        ],
        empty="This project has no alert rules. Add one on the page Overview, tab Alerts.",
    )


@app.in_project("ack")
def acknowledge(here: Here, alert: AlertArgument) -> None:
    """Acknowledge an alert: say that you look after it."""
    view = alert_view(here.steward.playbooks, here.access)
    found = here.steward.observations.alerts.acknowledge(here.access, view, alert)
    said = f"Acknowledged “{found.rule.name}”. It stays open until its figure is back."
    here.show({"id": found.id, "state": found.state}, lambda: said)


@app.in_project("mute")
def mute(
    here: Here,
    alert: AlertArgument,
    *,
    hours: Annotated[
        float, typer.Option(min=0, max=8784, help="For how long; 0 ends it at once.")
    ] = 24,
) -> None:
    """Send no messages about the cause of an alert for some hours."""
    until = here.steward.clock.now() + timedelta(hours=hours) if hours else None
    view = alert_view(here.steward.playbooks, here.access)
    found = here.steward.observations.alerts.mute(here.access, view, alert, until)
    said = (
        f"No messages about “{found.rule.name}” until {until:%Y-%m-%d %H:%M} UTC."
        if until is not None
        else f"“{found.rule.name}” is no longer muted."
    )
    here.show({"id": found.id, "muted_until": found.muted_until}, lambda: said)


def _amount(alert: Alert, value: float | None) -> str:
    return "–" if value is None else amount(alert.rule.figure, value)
