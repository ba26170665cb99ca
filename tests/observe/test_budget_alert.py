"""A budget is set, its use passes the limit of an alert, a mail says so, and spending stops."""

import asyncio
import ssl
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from steward.broker.approvals import Verdict
from steward.connections import Mailer
from steward.connections.documents import Draft
from steward.flows.launch import Start
from steward.runs import Run, Status
from steward.testing import Installation
from steward.testing.models import ScriptedLineup, ScriptedModel
from steward.tools import MAIL
from tests.connections.outside import certificates
from tests.connections.post import Office, post_office

pytestmark = pytest.mark.every_database

AGENT = {
    "name": "helper",
    "title": "Helper",
    "description": "Helps.",
    "instructions": "You help.",
}


def _ask(installation: Installation) -> Run:
    steward, access = installation.steward, installation.owner.access
    node = {"id": "agent", "type": "agent", "agent": "helper", "instructions": "Go on."}
    flow = {"format": 1, "id": "one", "nodes": [node]}
    run = steward.governing.launcher.start(access, Start(flow, budget={}))
    steward.runs.drive_until_idle()
    return steward.runs.get(access.scope, run.id)


def _saved(installation: Installation, what: str, body: dict[str, Any]) -> None:
    address = f"/api/v1/projects/{installation.scope.project_id}/{what}"
    answer = installation.owner.client.post(address, json=body)
    assert answer.status_code == 201, answer.text


def connect_mail(
    installation: Installation, post: Office, tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mail server as the connection `post`."""
    steward = installation.steward
    mailer = Mailer(allow_private=["127.0.0.1"], tls=tls)
    steward.services.add(MAIL.of(mailer))
    settings = {
        "host": "127.0.0.1",
        "port": post.port,
        "sender": "steward@example.com",
        "username": "ada",
        "allow_domains": ["example.com"],
    }
    draft = Draft("post", "smtp", settings, values={"password": "right"})
    steward.connections.documents.create(installation.owner.access, draft)


def send_what_waits(installation: Installation) -> None:
    """Approves the mail as a person would, and lets the time pass in which it can be taken back."""
    steward, access = installation.steward, installation.owner.access
    steward.runs.drive_until_idle()
    for approval in steward.governing.approvals.listed(access, mine=True):
        verdict = Verdict(approve=True, body_hash=approval.body_hash)
        asyncio.run(steward.governing.deciding.decide(access, approval.id, verdict))
    steward.runs.drive_until_idle()
    installation.clock.advance(minutes=10)
    steward.runs.drive_until_idle()


def test_a_budget_raises_an_alert_by_mail_and_stops_spending(
    installation: Installation,
    models: ScriptedLineup,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steward, access = installation.steward, installation.owner.access
    agent = steward.agents.checked(access.scope, AGENT, "helper")
    steward.agents.save(access.scope, access.user_id, "helper", agent, message="", call="helper")
    # A request is quoted at more than $100 and costs a few dollars.
    model = ScriptedModel(["Done.", "Never said."], price=Decimal("0.05"))
    models.play(model)
    keys = certificates(tmp_path, "127.0.0.1")
    with post_office(keys.server) as post:
        connect_mail(installation, post, keys.client, monkeypatch)
        _saved(installation, "budgets", {"kind": "project", "period": "month", "usd": "130"})
        channel = {"kind": "mail", "to": ["ops@example.com"], "connection": "post"}
        rule = {
            "name": "Budget",
            "figure": "budget_forecast",
            "condition": {"kind": "above", "threshold": 1},
            "channels": [channel],
        }
        _saved(installation, "alert-rules", rule)
        assert _ask(installation).status is Status.done
        installation.clock.advance(minutes=3)
        steward.observations.alert_rounds.round()
        send_what_waits(installation)
        [letter] = post.letters
        assert post.recipients == [["ops@example.com"]]
        assert letter["Subject"].endswith("Alert: Budget")
        assert "Budget expected to be used when it resets" in letter.get_content()
        assert post.encrypted == [True]
    budgets = steward.governing.period_budgets
    [kept] = budgets.listed(access.scope)
    limits = kept.document.model_copy(update={"usd": kept.spent["usd"] + 1})
    budgets.change(access, kept.id, limits, kept.revision)
    stopped = _ask(installation)
    assert stopped.status is Status.blocked
    assert "The monthly budget of this project" in (stopped.reason or "")
    assert len(model.requests) == 1
