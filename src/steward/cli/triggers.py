"""`steward triggers`: what starts playbooks by itself, with its events."""

from typing import Annotated, Any

import typer

from steward.cli.playbooks_archive import described
from steward.cli.projects import Group, Here
from steward.core import Invalid, NotFound
from steward.playbooks import Action, EventState, Shown

app = Group()
Which = Annotated[
    str, typer.Argument(help="Id of the trigger, or PLAYBOOK/NAME as in 'orders/webhook'.")
]
States = Annotated[
    list[EventState] | None, typer.Option("--state", help="Only events in this state.")
]


@app.in_project("ls")
def list_triggers(here: Here) -> None:
    """List what starts playbooks by itself, and how it fares."""
    found = here.steward.playbooks.triggers.listed(here.access)
    here.show_table(
        [_document(each) for each in found],
        ["Trigger", "Type", "State", "Last event (UTC)", "Waiting", "Failed"],
        [
            (
                f"{each.card.slug}/{each.subscription.name}",
                each.subscription.type,
                _health(each),
                each.subscription.last_at or "",
                each.counts.get("stored", 0) + each.counts.get("waiting", 0),
                each.counts.get("failed", 0) + each.counts.get("dead", 0),
            )
            for each in found
        ],
        empty="Nothing starts a playbook by itself yet.",
    )


@app.in_project("events")
def list_events(
    here: Here,
    trigger: Which,
    *,
    state: States = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many at most.")] = 30,
) -> None:
    """List the events of a trigger, newest first, each with its state and why."""
    desk, found = here.steward.playbooks.triggers, _found(here, trigger)
    events = desk.page(here.access, found.subscription.id, states=state or (), limit=limit)
    here.show_table(
        [vars(each) for each in events],
        ["Event", "Received (UTC)", "State", "Run", "Why"],
        [(e.id, e.received_at, e.state.value, e.run_id or "", e.reason or "") for e in events],
        empty="No events.",
    )


@app.in_project("replay")
def replay_events(
    here: Here,
    trigger: Which,
    events: Annotated[list[str] | None, typer.Argument(help="Ids of events.")] = None,
    *,
    state: States = None,
) -> None:
    """Run events again with the deployed revision: some by id, or all in a state."""
    _decide(here, trigger, "replay", events or [], state or [])


@app.in_project("drop")
def drop_events(
    here: Here,
    trigger: Which,
    events: Annotated[list[str] | None, typer.Argument(help="Ids of events.")] = None,
    *,
    state: States = None,
) -> None:
    """Take events out of the queue: some by id, or all in a state."""
    _decide(here, trigger, "drop", events or [], state or [])


@app.in_project("release")
def release_events(
    here: Here,
    trigger: Which,
    events: Annotated[list[str] | None, typer.Argument(help="Ids of events.")] = None,
) -> None:
    """Let events run that were held for a decision."""
    _decide(here, trigger, "release", events or [], [] if events else [EventState.held])


def _decide(
    here: Here, trigger: str, action: Action, events: list[str], states: list[EventState]
) -> None:
    if bool(events) == bool(states):
        raise Invalid("Name events by id, or all of them with --state.")
    desk, found = here.steward.playbooks.triggers, _found(here, trigger)
    ids = events or desk.in_states(here.access, found.subscription.id, states)
    count = desk.decide(here.access, found.subscription.id, action, ids)
    words = {"replay": "stored again", "drop": "dropped", "release": "released"}
    here.show(
        {"action": action, "count": count},
        lambda: f"{count} {'event' if count == 1 else 'events'} {words[action]}.",
    )


def _found(here: Here, named: str) -> Shown:
    desk = here.steward.playbooks.triggers
    if named.startswith("trg_"):
        return desk.get(here.access, named)
    slug, _, name = named.partition("/")
    matching = [
        each
        for each in desk.listed(here.access)
        if each.card.slug == slug and name in {"", each.subscription.name}
    ]
    if len(matching) != 1:
        said = "say which: " + ", ".join(each.subscription.name for each in matching)
        raise NotFound(
            f"{slug} has several triggers; {said}."
            if matching
            else f"There is no trigger {named!r}. Look with: steward triggers ls"
        )
    return matching[0]


def _health(each: Shown) -> str:
    found = each.subscription
    if not found.enabled:
        return "paused"
    if found.failing_since is not None:
        return f"failing since {found.failing_since:%Y-%m-%d %H:%M}"
    if found.silent_since is not None:
        return f"silent since {found.silent_since:%Y-%m-%d %H:%M}"
    return "on"


def _document(each: Shown) -> dict[str, Any]:
    return {**described(each.subscription), "playbook": each.card.slug, "counts": each.counts}
