"""What a playbook needs is looked at before it runs, and other datasets can stand for those it names."""

import asyncio
from typing import Any

import pytest

from steward.core.errors import Invalid
from steward.identity import Role
from steward.playbooks import Allowed, as_json
from steward.runs import Status
from tests.playbooks.conftest import Room
from tests.playbooks.test_blueprints_samples import load, output


@pytest.fixture
def database_url() -> None:
    """SQLite alone: the SQL is DuckDB's."""


def forked(room: Room, blueprint: str, *needs: dict[str, Any]) -> str:
    """A fork whose data is named anew."""
    card = room.playbooks.blueprints.fork(room.editor.access, blueprint)
    if needs:
        playbook = room.playbooks.library.revision_of(room.editor.access.scope, card, 1).playbook
        data = [
            {**written, **changed}
            for written, changed in zip(as_json(playbook)["data"], needs, strict=True)
        ]
        room.playbooks.library.save(
            room.editor.access, card.id, None, {**as_json(playbook), "data": data}
        )
    return card.slug


def run(room: Room, playbook: str, **inputs: Any) -> Any:
    started = room.playbooks.running.start(room.editor.access, playbook, inputs)
    room.drive()
    return room.fresh(started)


def test_what_is_missing_is_said_before_anything_begins(room: Room) -> None:
    playbook = forked(room, "product-cost-allocation")
    load(room, "cost_centre_amounts", "Month,cost_centre,amount\n2026-02,IT,many\n2026-02,HR,1\n")
    load(room, "allocation_driver", "period,cost_centre,product,driver\n2026-02,IT,A,1\n")
    with pytest.raises(Invalid) as refused:
        run(room, playbook, period="2026-02")
    assert refused.value.message == (
        "The dataset cost_centre_amounts has no column period; it has Month, cost_centre, amount; the column amount of "
        "cost_centre_amounts has values that are no numbers. There is no dataset allocation_drivers (did you mean "
        "allocation_driver?). There is no connection finance-slack; an editor adds it under Connections."
    )
    assert room.runs.records.listed(room.editor.access.scope) == []


def test_datasets_that_the_inputs_name_are_looked_at_too(room: Room) -> None:
    playbook = forked(room, "data-cleanup")
    load(room, "Kunden alt", "Nr,Name\n1,Käse\n")
    load(room, "leer", "Nr,Name\n")
    with pytest.raises(Invalid) as refused:
        run(room, playbook, sources=["Kunden alt", "Kunden Alt", "leer"])
    assert refused.value.message == (
        "There is no dataset Kunden Alt (did you mean Kunden alt?). The dataset leer has no rows."
    )


def test_a_runner_is_not_told_what_else_there_is(room: Room) -> None:
    playbook = forked(room, "weekly-margin-cockpit")
    load(room, "sales", "secret_column,product\n1,A\n")
    load(room, "unit_cost", "product,unit_cost\nA,1\n")
    access = room.editor.access
    runner = room.installation.person(Role.runner, "runner")
    room.playbooks.deploying.deploy(access, playbook)
    card = room.playbooks.library.get(access, playbook)
    room.playbooks.library.share(
        access, card.id, card.version, Allowed(everyone=True), room.editor.user.email
    )
    said = " ".join(
        each.problem or "" for each in room.playbooks.running.needs(runner.access, playbook)
    )
    assert "has no columns sold_on" in said
    assert "there is no dataset unit_costs" in said
    assert "secret_column" not in said
    assert "did you mean" not in said


def test_other_datasets_and_columns_stand_for_those_it_names(room: Room) -> None:
    load(room, "Umsätze 2026", 'Datum,Artikel,"Menge ""St""",Umsatz\n2026-01-05,Käse,1.5,20\n')
    load(room, "unit_costs", "sku,unit_cost\nKäse,5\n")
    playbook = forked(
        room,
        "weekly-margin-cockpit",
        {
            "source": "Umsätze 2026",
            "renamed": {
                "sold_on": "Datum",
                "product": "Artikel",
                "quantity": 'Menge "St"',
                "revenue": "Umsatz",
            },
        },
        {"renamed": {"product": "sku"}},
    )
    ended = run(room, playbook)
    output(room, ended)
    scope, user = room.editor.access.scope, room.editor.access.user_id
    datasets = room.installation.steward.workbench.datasets
    version = datasets.workspace(scope, user).dataset("margin_cockpit").version
    page = datasets.rows(scope, version)
    row = dict(zip([each.name for each in page.columns], page.rows[0], strict=True))
    assert (str(row["product"]), float(str(row["quantity"])), float(str(row["margin"]))) == (
        "Käse",
        1.5,
        12.5,
    )


def test_a_column_that_is_renamed_must_be_one_that_is_read(room: Room) -> None:
    with pytest.raises(Invalid, match="renamed and not among the columns"):
        forked(room, "weekly-margin-cockpit", {"renamed": {"absent": "x"}}, {})


def test_an_awkward_payment_keeps_its_decision(room: Room) -> None:
    load(room, "invoices", "invoice,customer,due_on,amount\nR|1,,2026-01-01,100\n")
    load(
        room,
        "payments",
        "payment,invoice,paid_on,amount,deduction,reason\nP=1|x,R|1,2026-01-01,50,25,\n",
    )
    playbook = forked(room, "cash-collection-and-deductions")
    waiting = run(room, playbook, as_of="2026-02-01")
    assert "An unknown customer deducted 25.00 from R|1" in str(waiting.waits)
    room.answer(waiting, "dispute")
    found = output(room, room.fresh(waiting))
    assert found["ages"] == [["31 to 60 days", 1, "50.00"]], "25 open and 25 disputed"


def test_entries_of_the_same_amount_meet_first(room: Room) -> None:
    head = "reference,booked_on,amount\n"
    days = "A,2026-01-01,10\nA,2026-01-01,20\nA,2026-01-01,-10\n"
    load(room, "ledger_entries", head + days)
    load(room, "bank_entries", head + "A,2026-01-01,20\nA,2026-01-01,-10\n")
    playbook = forked(room, "reconcile-two-systems")
    waiting = run(room, playbook, days=2)
    assert '["agrees", 2, "0.00"], ["only in the ledger", 1, "10.00"]' in str(
        waiting.waits
    ).replace("'", '"')


def test_events_of_one_moment_count_in_the_intended_order(room: Room) -> None:
    load(room, "event_log", "case_id,activity,at\n1,Zed,2026-01-01\n1,Able,2026-01-01\n")
    playbook = forked(room, "pipeline-process-map")
    found = output(room, run(room, playbook, expected="Zed > Able >"))
    assert (found["conforming"], found["bottleneck"]) == (1, "Zed > Able")
    unknown = run(room, playbook, expected="Nothing > Else")
    assert unknown.status is Status.failed
    assert "none of the intended activities is in it; it has Able, Zed" in (unknown.reason or "")


def test_the_sample_is_loaded_and_never_over_data(room: Room) -> None:
    load(room, "sales", "a\n1\n")
    load_sample = room.playbooks.blueprints.load_sample
    done = asyncio.run(load_sample(room.editor.access, "weekly-margin-cockpit"))
    assert done == {"sales": False, "unit_costs": True}
    again = asyncio.run(load_sample(room.editor.access, "weekly-margin-cockpit"))
    assert again == {"sales": False, "unit_costs": False}
