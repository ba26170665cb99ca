"""Product cost allocation: sums that tie out to the cent, questions that become comments, a message sent as approved."""

import asyncio
import io
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pytest
import sqlalchemy as sa

from steward.api.visibility import Visibility
from steward.broker import _tables as approval_tables
from steward.broker.approvals import Approval, Verdict
from steward.connections import Draft, Http
from steward.core.events import TYPE_PREFIX
from steward.identity import Role
from steward.playbooks import Allowed
from steward.playbooks import blueprint as blueprint_module
from steward.playbooks.blueprint import Blueprint, read_blueprint
from steward.runs import Run, Status, digest
from steward.runs import _tables as run_tables
from steward.runs.projection import calls_of
from steward.testing import Installation, Person
from steward.tools import HTTP
from tests.playbooks.conftest import Room, returned_to, with_data
from tests.playbooks.receiver import Receiver, receiving

BLUEPRINT = Path(blueprint_module.__file__).parent / "blueprints/product-cost-allocation.yaml"
NAME = "product-cost-allocation"
TOTALS = (
    "Product cost allocation 2026-02: 20,100.00 over 3 products, "
    "every cost centre ties out to the cent."
)
REASONS = {"Gamma": "New licences, a fifth of them for Gamma", "Beta": "=1+1 <moved> 'from' Alpha"}


@dataclass(frozen=True)
class Handoff:
    """The playbook, deployed by an engineer and shared with a controller; Slack listens."""

    room: Room
    slack: Receiver
    playbook: str
    controller: Person
    """Runs what is shared, and sees nothing else."""

    def start(self, **inputs: Any) -> Run:
        given = {"period": "2026-02", "threshold_percent": 8, **inputs}
        run = self.room.playbooks.running.start(self.controller.access, self.playbook, given)
        self.room.drive()
        return run

    def answer_all(self, run: Run) -> list[str]:
        """Answers every question by the product it begins with."""
        inbox = self.room.installation.steward.governing.inbox
        asked = [item for item in inbox.waiting(self.controller.access) if item.run_id == run.id]
        for item in asked:
            reason = REASONS[item.request["question"].split(" ")[0]]
            inbox.answer(self.controller.access, run.id, item.key, reason)
        self.room.drive()
        return [item.request["question"] for item in asked]

    def approval(self, run: Run) -> Approval:
        approvals = self.room.installation.steward.governing.approvals
        (found,) = approvals.listed(self.controller.access, run_id=run.id)
        return found

    def approve(self, run: Run) -> Approval:
        found = self.approval(run)
        governing = self.room.installation.steward.governing
        governing.approvals.decide(
            self.controller.access, found.id, Verdict(approve=True, body_hash=found.body_hash)
        )
        self.room.drive()
        return found

    def pass_window(self) -> None:
        self.room.installation.clock.advance(seconds=6)
        self.room.drive()


@pytest.fixture
def database_url() -> None:
    """SQLite alone: it is slow, and nothing in it is the database's."""


@pytest.fixture(scope="module")
def home_template(home_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the blueprint's sample in it."""

    def load_sample(room: Room) -> None:
        for sample in room.playbooks.blueprints.get(NAME).sample.datasets:
            load(room, sample.name, sample.csv)

    return with_data(home_template, tmp_path_factory.mktemp("sample") / "home", load_sample)


@pytest.fixture
def room(installation: Installation) -> Room:
    return returned_to(installation)


@pytest.fixture
def handoff(room: Room) -> Iterator[Handoff]:
    steward, access = room.installation.steward, room.editor.access
    card = room.playbooks.blueprints.fork(access, NAME)
    room.playbooks.deploying.deploy(access, card.id)
    controller = room.installation.person(Role.runner, "carla")
    shared = Allowed(users=[controller.user.email], groups=[], everyone=False)
    now = room.playbooks.library.get(access, card.id)
    room.playbooks.library.share(access, card.id, now.version, shared, room.editor.user.email)
    with receiving() as slack:
        services = steward.services
        services.add(HTTP.of(Http(allow_private=["127.0.0.1"])))
        settings = {"channel": "#finance", "webhook_hosts": [slack.origin]}
        draft = Draft("finance-slack", "slack_webhook", settings, values={"url": slack.url})
        steward.connections.documents.create(room.installation.owner.access, draft)
        yield Handoff(room, slack, card.id, controller)


def load(room: Room, name: str, csv: str) -> None:
    steward = room.installation.steward
    access = room.editor.access
    steward.workbench.bringing.load_text(access.scope, access.user_id, f"{name}.csv", csv, name)


# The allocation itself


def allocated(
    blueprint: Blueprint, amounts: list[tuple[str, str]], drivers: list[tuple[str, str, str]]
) -> dict[tuple[str, str], Decimal]:
    """What the step's own SQL makes of amounts and drivers of one period."""
    (step,) = [each for each in blueprint.playbook.steps or () if each["id"] == "allocate"]
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE cost_centre_amounts (period VARCHAR, cost_centre VARCHAR, amount DOUBLE)"
        )
        connection.execute(
            "CREATE TABLE allocation_drivers "
            "(period VARCHAR, cost_centre VARCHAR, product VARCHAR, driver DOUBLE)"
        )
        for centre, amount in amounts:
            connection.execute(
                "INSERT INTO cost_centre_amounts VALUES ('2026-02', ?, ?)", [centre, amount]
            )
        for row in drivers:
            connection.execute(
                "INSERT INTO allocation_drivers VALUES ('2026-02', ?, ?, ?)", list(row)
            )
        rows = connection.execute(step["arguments"]["code"], {"period": "2026-02"}).fetchall()
    return {(row[1], row[2]): row[5] for row in rows}


def largest_remainder(cents: int, weights: dict[str, Fraction]) -> dict[str, int]:
    """The textbook's rule, in fractions."""
    sign, cents, whole = (-1 if cents < 0 else 1), abs(cents), sum(weights.values())
    exact = {name: Fraction(cents) * weight / whole for name, weight in weights.items()}
    found = {name: int(value) for name, value in exact.items()}
    left = cents - sum(found.values())
    for name in sorted(exact, key=lambda each: (found[each] - exact[each], each))[:left]:
        found[name] += 1
    return {name: sign * value for name, value in found.items()}


def test_every_cent_goes_to_the_largest_remainder() -> None:
    blueprint = read_blueprint(BLUEPRINT.read_text())
    dice = random.Random(7)
    for _ in range(15):
        amounts, drivers = [], []
        expected: dict[tuple[str, str], Decimal] = {}
        for centre in range(dice.randint(1, 6)):
            cents = dice.choice([0, 1, -1, 100, dice.randint(-(10**12), 10**12)])
            amounts.append((f"c{centre}", str(Decimal(cents) / 100)))
            weights = {f"p{n}": dice.choice([1, 1, 3, 7]) for n in range(dice.randint(1, 9))}
            if dice.random() < 0.5:
                weights = {name: dice.randint(1, 10**12) for name in weights}
            drivers += [(f"c{centre}", p, str(Decimal(w) / 10**6)) for p, w in weights.items()]
            spread = largest_remainder(cents, {p: Fraction(w) for p, w in weights.items()})
            expected |= {(f"c{centre}", p): Decimal(value) / 100 for p, value in spread.items()}
        assert allocated(blueprint, amounts, drivers) == expected


# The whole handoff


def test_answers_become_comments_and_the_message_goes_out_as_approved(handoff: Handoff) -> None:
    run = handoff.start()
    room = handoff.room
    assert room.fresh(run).status is Status.blocked, room.fresh(run).reason
    assert sorted(handoff.answer_all(run)) == [
        "Beta went from 7,833.33 in 2026-01 to 9,083.33 in 2026-02 (+16.0 %). Why?",
        "Gamma went from 4,333.33 in 2026-01 to 4,733.33 in 2026-02 (+9.2 %). Why?",
    ]
    shown = handoff.approve(run)
    assert shown.body["arguments"]["text"].splitlines() == [
        TOTALS,
        f"• Beta: 9,083.33 (+16.0 %) – {REASONS['Beta']}",
        f"• Gamma: 4,733.33 (+9.2 %) – {REASONS['Gamma']}",
    ]
    assert handoff.slack.heard == [], "there are seconds to take it back"
    handoff.pass_window()
    ended = room.fresh(run)
    assert ended.status is Status.done, ended.reason
    (heard,) = handoff.slack.heard
    assert heard["text"] == shown.body["payload"]["text"]
    assert heard["path"] == "/services/T0P/S3CRET"
    review, lines = _sheets(room, run)
    assert [(row["product"], row["flagged"], row["comment"]) for row in review] == [
        ("Alpha", False, None),
        ("Beta", True, REASONS["Beta"]),
        ("Gamma", True, REASONS["Gamma"]),
    ]
    february = [row["amount"] for row in lines if row["period"] == "2026-02"]
    assert round(sum(february), 2) == 20100.00
    assert asyncio.run(room.runs.replay(run.scope, run.id)).divergences == ()


def test_without_variances_nobody_is_asked(handoff: Handoff) -> None:
    run = handoff.start(threshold_percent=50)
    text = handoff.approval(run).body["arguments"]["text"]
    assert text.endswith("No product changed by more than the threshold.")


def test_what_is_missing_is_said_before_anything_is_made(handoff: Handoff) -> None:
    room = handoff.room
    empty = handoff.start(period="2027-01")
    assert "there are no amounts for 2027-01" in (room.fresh(empty).reason or "")
    load(
        room,
        "cost_centre_amounts",
        "period,cost_centre,amount\n2026-02,IT,1.005\n2026-02,Legal,5\n",
    )
    lacking = room.fresh(handoff.start()).reason or ""
    assert lacking.startswith("The period cannot be allocated yet: ")
    for problem in (
        "IT has a fraction of a cent in 2026-02",
        "Legal has no drivers in 2026-02",
        "Support has drivers in 2026-02 and no amount",
    ):
        assert problem in lacking


# Taking back, and what was changed behind somebody's back


def test_it_is_taken_back_within_seconds(handoff: Handoff) -> None:
    run = handoff.start(threshold_percent=50)
    handoff.approve(run)
    approvals = handoff.room.installation.steward.governing.approvals
    approvals.take_back(handoff.controller.access, run.id, "deliver")
    handoff.pass_window()
    assert handoff.room.fresh(run).reason == "The message was taken back before it was sent."
    assert handoff.slack.heard == []


def test_what_was_changed_after_its_approval_is_refused_and_on_record(handoff: Handoff) -> None:
    room, steward = handoff.room, handoff.room.installation.steward
    approved: dict[str, str] = {}
    for where in ("approval", "hash", "journal"):
        run = handoff.start(threshold_percent=50)
        shown = handoff.approve(run)
        _tamper(handoff, run, shown, where)
        handoff.pass_window()
        assert room.fresh(run).status is Status.failed, where
        error = room.runs.outcome(run.scope, run.id)["error"]
        assert error["code"] == "approval-mismatch", where
        approved[shown.id] = run.id
    assert handoff.slack.heard == []
    log = steward.events.before(handoff.controller.access.scope, None, 200)
    recorded = [event for event in log if event.type == TYPE_PREFIX + "approval.mismatched"]
    assert {event.subject: event.data["run"] for event in recorded} == approved
    seeing = Visibility(steward, handoff.controller.access)
    assert all(seeing.event(event) for event in recorded)


def _tamper(handoff: Handoff, run: Run, approved: Approval, where: str) -> None:
    """Changes the message in the database, in the seconds between the approval and the sending."""
    forged = {**approved.body, "arguments": {**approved.body["arguments"], "text": "Pay Mallory"}}
    values: dict[str, Any] = {"body": forged}
    with handoff.room.installation.steward.database.write(run.scope) as tx:
        if where == "journal":
            journal = run_tables.journal
            mine = (journal.c.run_id == run.id) & (journal.c.key == "deliver/plan")
            for row in tx.rows(sa.select(journal).where(mine)):
                entry = json.loads(row.body)
                if "result" in entry["data"]:
                    entry["data"]["result"]["arguments"] = forged["arguments"]
                changed = sa.update(journal).where(mine, journal.c.seq == row.seq)
                tx.execute(changed.values(body=json.dumps(entry)))
            return
        if where == "hash":
            values["body_hash"] = digest(forged)
        approvals = approval_tables.approvals
        tx.execute(sa.update(approvals).where(approvals.c.id == approved.id).values(**values))


def _sheets(room: Room, run: Run) -> list[list[dict[str, Any]]]:
    """The rows of the workbook that the run left behind, sheet by sheet, without the one about its making."""
    told = calls_of(room.runs.journal.entries(run.scope, run.id), room.runs.payload)
    (made,) = [each for call in told for each in call.artifacts]
    assert made["name"] == "exports/product-cost-allocation-2026-02.xlsx"
    content = b"".join(room.installation.steward.blobs.read(made["digest"]))
    book = openpyxl.load_workbook(io.BytesIO(content))
    found = []
    for name in ("product_cost_review", "product_cost_allocation"):
        head, *rows = book[name].iter_rows(values_only=True)
        found.append([dict(zip(map(str, head), row, strict=True)) for row in rows])
    return found
