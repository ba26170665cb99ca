"""Blueprints that work with services of others: each runs to its end against doubles, started by hand and by its trigger."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from steward.broker.approvals import State, Verdict
from steward.broker.presets import PRESETS
from steward.playbooks.trigger import Arrival
from steward.runs import Run, Status
from tests.playbooks.conftest import Room
from tests.playbooks.services import Services, services, stock
from tests.playbooks.test_blueprints_samples import load, output

Answer = Callable[[dict[str, Any]], Any]
INVOICE = {
    "supplier": "Toner Trade GmbH",
    "invoice_number": "T-2044",
    "invoice_date": "2026-02-02",
    "amount": "238.50",
    "currency": "EUR",
}


@pytest.fixture
def database_url() -> None:
    """SQLite alone: a story takes long, and its SQL is DuckDB's."""


@pytest.fixture
def outside(room: Room) -> Iterator[Services]:
    steward = room.installation.steward
    steward.governing.rulebook.save(
        room.installation.owner.access, "project", PRESETS["trusted"], 0
    )
    with services(room) as found:
        yield found


def sample(room: Room, blueprint_id: str) -> dict[str, Any]:
    """Loads the sample and forks the blueprint; the sample's inputs."""
    blueprint = room.playbooks.blueprints.get(blueprint_id)
    for each in blueprint.sample.datasets:
        load(room, each.name, each.csv)
    room.playbooks.blueprints.fork(room.editor.access, blueprint_id)
    return dict(blueprint.sample.inputs)


def start(room: Room, blueprint_id: str, inputs: dict[str, Any], answer: Answer) -> Run:
    run = room.playbooks.running.start(room.editor.access, blueprint_id, inputs)
    return to_its_end(room, run, answer)


def to_its_end(room: Room, run: Run, answer: Answer) -> Run:
    governing, access = room.installation.steward.governing, room.editor.access
    for _ in range(20):
        room.drive()
        if room.fresh(run).status.is_final:
            break
        for item in governing.inbox.waiting(access):
            if item.request is not None:
                said = answer(item.request)
                governing.inbox.answer(access, item.run_id, item.key, said)
        for asked in governing.approvals.listed(access, status=State.pending, run_id=run.id):
            verdict = Verdict(approve=True, body_hash=asked.body_hash)
            asyncio.run(governing.deciding.decide(access, asked.id, verdict))
        # What is sent can be stopped for some seconds.
        room.installation.clock.advance(seconds=6)
    return room.fresh(run)


def saying(*answers: Any) -> Answer:
    """One answer after another; gates are approved."""
    left = list(answers)

    def answer(request: dict[str, Any]) -> Any:
        if "body_hash" in request:
            return {"decision": "approve", "body_hash": request["body_hash"]}
        return left.pop(0)

    return answer


def nobody(request: dict[str, Any]) -> Any:
    raise AssertionError(request)


def rows(room: Room, name: str) -> list[dict[str, Any]]:
    access, bench = room.editor.access, room.installation.steward.workbench
    version = bench.datasets.workspace(access.scope, access.user_id).dataset(name).version
    page = bench.datasets.rows(access.scope, version)
    names = [column.name for column in page.columns]
    return [dict(zip(names, row, strict=True)) for row in page.rows]


def triggered(room: Room, blueprint_id: str, data: Any, answer: Answer) -> Run:
    """Deploys it and lets its trigger have an event."""
    access, triggers = room.editor.access, room.playbooks.triggers
    room.playbooks.deploying.deploy(access, blueprint_id)
    [shown] = triggers.listed(access)
    triggers.events.store(shown.subscription, [Arrival(data, key="one")])
    assert room.go_round() == 1
    [event] = triggers.page(access, shown.subscription.id)
    return to_its_end(room, room.runs.get(access.scope, event.run_id), answer)


# Leads


def test_a_new_lead_reaches_the_crm_once(room: Room, outside: Services) -> None:
    inputs = sample(room, "lead-intake")
    found = output(room, start(room, "lead-intake", inputs, nobody))
    assert found == {"lead": "katherine@orbits.example", "outcome": "new"}
    assert [each["name"] for each in outside.contacts] == ["Katherine Johnson"]
    again = {**inputs, "email": " Katherine@Orbits.example ".strip(), "message": "One more thing"}
    assert output(room, start(room, "lead-intake", again, nobody))["outcome"] == "known"
    assert len(outside.contacts) == 1
    [kept] = [each for each in rows(room, "leads") if each["name"] == "Katherine Johnson"]
    assert (kept["enquiries"], kept["message"]) == ("2", "One more thing")


@pytest.mark.parametrize(("said", "outcome", "contacts"), [("yes", "known", 0), ("no", "new", 1)])
def test_a_person_decides_on_a_lead_that_looks_similar(
    room: Room, outside: Services, said: str, outcome: str, contacts: int
) -> None:
    inputs = sample(room, "lead-intake")
    similar = {"name": "Ada Lovelacé", "email": "ada@gmail.example", "company": "Analytical Engine"}
    found = output(room, start(room, "lead-intake", {**inputs, **similar}, saying(said)))
    assert (found["outcome"], len(outside.contacts)) == (outcome, contacts)


def test_a_crm_that_refuses_a_lead_is_told(room: Room, outside: Services) -> None:
    outside.status = 500
    inputs = sample(room, "lead-intake")
    asked: list[str] = []

    def answer(request: dict[str, Any]) -> str:
        asked.append(request["question"])
        return "entered by hand"

    output(room, start(room, "lead-intake", inputs, answer))
    assert "The CRM answered 500" in asked[0]


def test_a_form_starts_the_intake(room: Room, outside: Services) -> None:
    sample(room, "lead-intake")
    data = {"name": "Emmy Noether", "email": "emmy@rings.example"}
    run = triggered(room, "lead-intake", data, nobody)
    assert output(room, run)["outcome"] == "new"
    assert outside.contacts[0]["company"] == ""


# Invoices


def test_an_invoice_is_entered_once(room: Room, outside: Services) -> None:
    del outside
    inputs = sample(room, "invoice-mail")
    found = output(room, start(room, "invoice-mail", inputs, saying(INVOICE)))
    assert found["entered"]
    [kept] = [each for each in rows(room, "ledger") if each["invoice_number"] == "T-2044"]
    assert (str(kept["amount"]), kept["source"]) == ("238.50", "mail from billing@toner.example")
    other = {**INVOICE, "supplier": "TONER trade GmbH "}
    again = output(room, start(room, "invoice-mail", inputs, saying(other)))
    assert not again["entered"]
    assert len(rows(room, "ledger")) == 2


def test_a_mail_starts_it(room: Room, outside: Services) -> None:
    del outside
    sample(room, "invoice-mail")
    data = {
        "from": {"name": "Toner", "address": "billing@toner.example"},
        "subject": "Invoice",
        "text": "T-2044",
        "automatic": False,
        "attachments": [{"name": "t-2044.pdf", "upload": "upl_1", "type": "application/pdf"}],
    }
    messages: list[str] = []

    def answer(request: dict[str, Any]) -> Any:
        if "body_hash" in request:
            messages.append(str(request))
            return {"decision": "approve", "body_hash": request["body_hash"]}
        return INVOICE

    assert output(room, triggered(room, "invoice-mail", data, answer))["entered"]
    assert "t-2044.pdf" in messages[0]


# Key figures


def test_key_figures_are_compared_with_the_week_before(room: Room, outside: Services) -> None:
    inputs = sample(room, "weekly-kpi-mail")
    found = output(room, start(room, "weekly-kpi-mail", inputs, nobody))
    assert found["text"].splitlines() == [
        "Orders: 3 (2 the week before, +50.0%)",
        "Revenue: 300.00 (200.00 the week before, +50.0%)",
        "Customers: 3 (2 the week before, +50.0%)",
        "Average order: 100.00 (100.00 the week before, +0.0%)",
    ]
    assert outside.messages == [f"{found['subject']}\n{found['text']}"]
    assert "2026-01-12" in found["subject"]


def test_without_a_day_the_newest_week_counts_as_not_over(room: Room, outside: Services) -> None:
    inputs = {**sample(room, "weekly-kpi-mail"), "as_of": ""}
    found = output(room, start(room, "weekly-kpi-mail", inputs, nobody))
    assert "2026-01-12" in found["subject"]
    assert len(outside.messages) == 1


# Tickets


def test_urgent_tickets_reach_the_team(room: Room, outside: Services) -> None:
    inputs = sample(room, "support-triage")
    urgent = {"topic": "fault", "urgency": "urgent"}
    output(room, start(room, "support-triage", inputs, saying(urgent)))
    assert outside.messages == ["Urgent ticket T-2 of Grace: Nobody can sign in"]
    low = {"topic": "question", "urgency": "low"}
    output(room, start(room, "support-triage", {**inputs, "ticket": "T-3"}, saying(low)))
    assert len(outside.messages) == 1
    found = {each["ticket"]: each["urgency"] for each in rows(room, "tickets")}
    assert found == {"T-1": "normal", "T-2": "urgent", "T-3": "low"}


# GitHub


def test_the_digest_leaves_pull_requests_out(room: Room, outside: Services) -> None:
    inputs = sample(room, "github-issue-digest")
    output(room, start(room, "github-issue-digest", inputs, nobody))
    [told] = outside.messages
    assert told.splitlines() == [
        "example/engine: 3 open issues, 2 without an answer",
        "Newest",
        "• #12 It does not start (grace, 1 day)",
        "• #9 Explain the settings (grace, 23 days)",
        "• #3 Support another format (grace, 92 days)",
        "Not answered",
        "• #3 Support another format (92 days)",
        "• #12 It does not start (1 day)",
        "Most comments",
        "• #9 Explain the settings (4 comments)",
    ]


def test_a_repository_that_is_not_there_is_said(room: Room, outside: Services) -> None:
    inputs = {**sample(room, "github-issue-digest"), "repository": "example/other"}
    run = start(room, "github-issue-digest", inputs, nobody)
    assert run.status is Status.failed
    assert "There is nothing at this address" in (run.reason or "")
    assert outside.messages == []


def test_the_schedule_says_which_day_it_is(room: Room, outside: Services) -> None:
    sample(room, "github-issue-digest")
    run = triggered(room, "github-issue-digest", {"scheduled_at": "2026-02-02T07:00:00Z"}, nobody)
    assert "3 open issues" in output(room, run)["text"]
    assert len(outside.messages) == 1


# Stock


def test_an_article_that_runs_low_is_told_once(room: Room, outside: Services) -> None:
    inputs = sample(room, "stock-alert")
    found = output(room, start(room, "stock-alert", inputs, nobody))
    assert found == {"new": 1, "low": 2}
    assert outside.messages == ["Stock runs low:\n• A-3 Nails: 7 left, reorder level 8"]
    assert output(room, start(room, "stock-alert", inputs, nobody))["new"] == 0
    stock(outside, [("A-3", "Nails", 90, 8)])
    assert output(room, start(room, "stock-alert", inputs, nobody)) == {"new": 0, "low": 0}
    stock(outside, [("A-3", "Nails", 1, 8)])
    assert output(room, start(room, "stock-alert", inputs, nobody))["new"] == 1
    assert len(outside.messages) == 2


def test_a_long_list_says_how_many_are_left_out(room: Room, outside: Services) -> None:
    inputs = sample(room, "stock-alert")
    stock(outside, [(f"B-{number:02}", "Bolts", 1, 10) for number in range(60)])
    assert output(room, start(room, "stock-alert", inputs, nobody))["new"] == 60
    [told] = outside.messages
    assert len(told.splitlines()) == 52
    assert told.endswith("and 10 more, listed in low_stock")


# Decisions


def test_options_are_ranked_and_the_decision_kept(room: Room) -> None:
    inputs = sample(room, "decision-analysis")
    said = {"option": "South", "reason": "Quality matters more next year"}
    found = output(room, start(room, "decision-analysis", inputs, saying(said)))
    assert found["ranking"] == "1. South (7.3), 2. North (7.2), 3. West (6.1)"
    # They tie where 3 x = (1 - x) (0.6 * 4 + 0.4 * 2), x being the weight of the price.
    assert "if Price weighed 51.6% instead of 50.0%, North would draw level" in found["closeness"]
    chosen = [
        each["option"] for each in rows(room, "decision_on_record") if each["is_chosen"] == "true"
    ]
    assert chosen == ["South"]


def test_a_missing_score_is_said(room: Room) -> None:
    inputs = sample(room, "decision-analysis")
    load(room, "criteria", "criterion,weight\nPrice,50\nComfort,50\n")
    run = start(room, "decision-analysis", inputs, nobody)
    assert run.status is Status.failed
    assert "North has no score for Comfort" in (run.reason or "")


def test_a_limit_that_is_crossed_is_decided_on_once(room: Room) -> None:
    sample(room, "decision-trigger")
    said = {"answer": "yes", "reason": "Until June"}
    found = output(room, start(room, "decision-trigger", {}, saying(said)))
    assert found["decided"] == [
        {
            "figure": "Cash reach in days",
            "decision": "Stop hiring",
            "answer": "yes",
            "reason": "Until June",
        }
    ]
    assert output(room, start(room, "decision-trigger", {}, nobody))["decided"] == []
    figures = (
        "figure,measured_on,value\nCash reach in days,2026-03-01,{}\nOpen positions,2026-03-01,4\n"
    )
    load(room, "figures", figures.format(80))
    assert output(room, start(room, "decision-trigger", {}, nobody))["decided"] == []
    load(room, "figures", figures.format(20))
    later = output(room, start(room, "decision-trigger", {}, saying({"answer": "later"})))
    assert later["decided"][0]["answer"] == "later"
    again = output(room, start(room, "decision-trigger", {}, saying({"answer": "no"})))
    assert again["decided"][0]["answer"] == "no"


def test_new_figures_start_it(room: Room) -> None:
    sample(room, "decision-trigger")
    run = triggered(room, "decision-trigger", {"dataset": "figures"}, saying({"answer": "yes"}))
    assert len(output(room, run)["decided"]) == 1


# Incidents


def test_a_runbook_is_worked_through_until_a_step_helps(room: Room, outside: Services) -> None:
    inputs = sample(room, "incident-runbook")
    answers = saying("it did not help", "it helped")
    found = output(room, start(room, "incident-runbook", inputs, answers))
    assert found["status"] == "closed"
    first, last = outside.messages
    assert first.startswith("Incident I-2 (high) in shop: Checkout answers with errors.")
    assert last.splitlines() == [
        "Incident I-2 is closed.",
        "• Look at the status page of the payment provider. it did not help",
        "• Restart the checkout workers. it helped",
    ]


def test_a_runbook_that_does_not_help_leaves_the_incident_open(
    room: Room, outside: Services
) -> None:
    inputs = sample(room, "incident-runbook")
    answers = saying("it did not help", "skipped", "it did not help")
    assert output(room, start(room, "incident-runbook", inputs, answers))["status"] == "open"
    assert len(outside.messages) == 2


def test_an_alarm_of_a_service_without_runbook(room: Room, outside: Services) -> None:
    sample(room, "incident-runbook")
    data = {"incident": 77, "service": "printer", "severity": "low", "summary": "Paper jam"}
    run = triggered(room, "incident-runbook", data, saying("Took the paper out"))
    assert output(room, run)["status"] == "closed"
    assert "There is no runbook for it." in outside.messages[0]


# Files


def test_a_bad_file_is_not_added(room: Room, outside: Services) -> None:
    inputs = sample(room, "bucket-quality-watch")
    found = output(room, start(room, "bucket-quality-watch", inputs, nobody))
    assert not found["added"]
    assert outside.messages == [
        (
            "orders-2026-02-02.csv was not added:\n"
            "• amount is not at least 0 in 1 of 3 rows\n"
            "• order_id is not unique in 2 of 3 rows"
        )
    ]
    assert len(rows(room, "accepted")) == 2


def test_a_rule_without_a_limit_is_told(room: Room, outside: Services) -> None:
    inputs = sample(room, "bucket-quality-watch")
    load(room, "quality_rules", "column_name,rule,limit_value\namount,at least,\norder_id,odd,1\n")
    assert not output(room, start(room, "bucket-quality-watch", inputs, nobody))["added"]
    assert "the rule at least for amount has no number as its limit" in outside.messages[0]
    assert "the rule odd for order_id is unknown" in outside.messages[0]


def test_a_good_file_is_added(room: Room, outside: Services) -> None:
    sample(room, "bucket-quality-watch")
    access, bringing = room.editor.access, room.installation.steward.workbench.bringing
    taken = bringing.take(
        access.scope, "new.csv", [b"order_id,customer,amount\n1003,Emmy,4.20\n1004,Ada,1\n"]
    )
    data = {"upload": taken.id, "name": "new.csv"}
    assert output(room, triggered(room, "bucket-quality-watch", data, nobody))["added"]
    found = sorted(each["order_id"] for each in rows(room, "accepted"))
    assert found == ["1001", "1002", "1003", "1004"]
    assert outside.messages == []
