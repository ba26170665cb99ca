"""`steward playbooks archive`, `restore`, `delete` and `schedule`: what becomes of a playbook, and when it starts by itself."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from steward.cli.output import table
from steward.cli.projects import Group, Here
from steward.cli.values import json_object
from steward.core import Conflict, Invalid, NotFound
from steward.playbooks import Card, State, Subscription
from steward.runs import Missed

app = Group(no_args_is_help=False)
Name = Annotated[str, typer.Argument(help="Id of the playbook, as its document has it.")]


@app.in_project("archive")
def archive_playbook(here: Here, name: Name) -> None:
    """Put a playbook away: nobody and no schedule runs it any more, and nothing is lost."""
    card = here.steward.playbooks.deploying.archive(here.access, name)
    here.show(
        asdict(card),
        lambda: f"{card.slug} is archived. Back again: steward playbooks restore {card.slug}",
    )


@app.in_project("delete")
def delete_playbook(here: Here, name: Name) -> None:
    """Delete a playbook that was archived before; it can be brought back for thirty days."""
    library = here.steward.playbooks.library
    card = library.get(here.access, name)
    if card.state is not State.archived:
        raise Conflict(
            f"{card.slug} is in use. Archive it first: steward playbooks archive {card.slug}"
        )
    library.delete(here.access, card.id, card.version)
    here.show(
        {"id": card.id, "slug": card.slug, "deleted": True},
        lambda: (
            f"{card.slug} is deleted, for good in thirty days. "
            f"Back again: steward playbooks restore {card.id}"
        ),
    )


@app.in_project("restore")
def restore_playbook(
    here: Here,
    name: Annotated[str, typer.Argument(help="Its id; of a deleted one also as 'pbk_…'.")],
) -> None:
    """Bring a playbook back: from the archive as it was deployed, or a deleted one into the archive."""
    playbooks = here.steward.playbooks
    try:
        before = playbooks.library.get(here.access, name)
    except NotFound:
        card = playbooks.library.restore(here.access, _deleted(here, name).id)
        said = (
            f"{card.slug} is in the archive again. To use it: steward playbooks restore {card.slug}"
        )
    else:
        card = playbooks.deploying.bring_back(here.access, before.id)
        if before.state is not State.archived:
            said = f"{card.slug} was neither archived nor deleted; nothing has changed."
        elif card.deployed is None:
            said = f"{card.slug} is a draft again."
        else:
            said = f"{card.slug} is back, with revision {card.deployed} deployed."
    here.show(asdict(card), lambda: said)


def _deleted(here: Here, name: str) -> Card:
    """One that was deleted, by either of its ids; several may have had the same."""
    listed = here.steward.playbooks.library.listed(here.access, deleted=True, limit=10_000)
    found = [card for card in listed if name in {card.id, card.slug}]
    if not found:
        raise NotFound(
            f"There is no playbook {name!r}, archived or deleted. "
            "Look with: steward playbooks list --deleted"
        )
    if len(found) > 1:
        ids = ", ".join(card.id for card in found)
        raise Invalid(f"Several playbooks {name!r} were deleted; say which one: {ids}.")
    return found[0]


@app.in_project("schedule")
def schedule_playbook(
    here: Here,
    name: Name,
    *,
    cron: Annotated[
        str | None,
        typer.Option("--cron", help="Minute, hour, day, month, weekday, as in '0 6 * * 1'."),
    ] = None,
    time_zone: Annotated[str, typer.Option(help="A name such as Europe/Berlin.")] = "UTC",
    missed: Annotated[
        Missed, typer.Option(help="What to do about moments at which Steward was not running.")
    ] = Missed.once,
    inputs: Annotated[str, typer.Option("--inputs", help="Inputs as one JSON object.")] = "{}",
    trigger: Annotated[str, typer.Option(help="Its name, where there are several.")] = "schedule",
    pause: Annotated[bool, typer.Option("--pause", help="Start nothing until resumed.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Let it go on.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take the schedule away.")] = False,
) -> None:
    """Show when a playbook starts by itself; set, pause, resume or remove a schedule."""
    if sum([cron is not None, pause, resume, remove]) > 1:
        raise Invalid("Use one of --cron, --pause, --resume and --remove.")
    deploying = here.steward.playbooks.deploying
    card = here.steward.playbooks.library.get(here.access, name)
    said = ""
    if cron is not None:
        wanted = {
            "type": "cron",
            "cron": cron,
            "time_zone": time_zone,
            "missed": missed.value,
            "inputs": json_object(inputs, "--inputs"),
        }
        card = deploying.schedule(here.access, card.id, card.version, trigger, wanted)
        said = _effect(card)
    elif remove:
        _require_trigger(here, card, trigger)
        card = deploying.schedule(here.access, card.id, card.version, trigger, None)
        said = _effect(card)
    elif pause or resume:
        deploying.switch(here.access, card.id, trigger, enabled=resume)
    armed = deploying.triggers(here.access, card.id)
    here.show([described(each) for each in armed], lambda: f"{_shown(armed)}{said}")


def _require_trigger(here: Here, card: Card, trigger: str) -> None:
    revision = here.steward.playbooks.library.revision_of(here.scope, card, card.head)
    names = [each.name for each in revision.playbook.triggers]
    if trigger not in names:
        has = f"it has {', '.join(names)}" if names else "it has none"
        raise NotFound(f"{card.slug} has no trigger {trigger!r}; {has}.")


def _effect(card: Card) -> str:
    if card.deployed == card.head and card.state is State.active:
        return ""
    return (
        f"\nSaved as revision {card.head}; it counts once that is deployed: "
        f"steward playbooks deploy {card.slug}"
    )


def described(each: Subscription) -> dict[str, Any]:
    """A trigger as commands print it."""
    names: tuple[str, ...] = ("id", "name", "type", "revision", "enabled", "next_at", "last_at")
    names += ("failing_since", "failing_why", "silent_since", "duplicates")
    return {name: getattr(each, name) for name in names} | {"details": each.trigger.details()}


def _shown(armed: list[Subscription]) -> str:
    rows = [
        (
            each.name,
            each.trigger.details().get("cron", each.type),
            each.trigger.details().get("time_zone", ""),
            "on" if each.enabled else "paused",
            each.next_at.isoformat(timespec="minutes") if each.next_at else "",
            each.last_at.isoformat(timespec="minutes") if each.last_at else "",
        )
        for each in armed
    ]
    head = ["Trigger", "Cron", "Time zone", "State", "Next (UTC)", "Last (UTC)"]
    return table(head, rows, empty="Nothing starts it by itself.")
