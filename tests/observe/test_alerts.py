"""Alerts of a project: rules are saved, runs fire them, people are told once, and what is hidden stays hidden."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from steward.broker import DEFAULT_PRESET, PRESETS
from steward.connections.documents import Draft
from steward.identity import Role
from steward.observe import _tables as tables
from steward.observe.alert_messages import one_line
from steward.observe.hourly import MESSAGES
from steward.testing import Installation, Person

pytestmark = pytest.mark.every_database

API = "/api/v1"
FAILING = "SELECT * FROM there_is_no_such_table"
WORKING = "SELECT 1 AS one"
HOUR = timedelta(hours=1)


def _project(installation: Installation) -> str:
    return f"{API}/projects/{installation.scope.project_id}"


def _query(installation: Installation, sql: str = FAILING) -> None:
    answer = installation.owner.client.post(
        f"{_project(installation)}/runs", json={"query_type": "sql", "query": sql}
    )
    assert answer.status_code == 201, answer.text
    installation.steward.runs.drive_until_idle()


def _rule(**more: Any) -> dict[str, Any]:
    return {
        "name": "Failures",
        "figure": "failed_runs",
        "window_hours": 1,
        "condition": {"kind": "above", "threshold": 0},
        **more,
    }


def _saved(installation: Installation, who: Person | None = None, **more: Any) -> dict[str, Any]:
    client = (who or installation.owner).client
    answer = client.post(f"{_project(installation)}/alert-rules", json=_rule(**more))
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def _look(installation: Installation, **later: float) -> int:
    installation.clock.advance(**(later or {"minutes": 1}))
    return installation.steward.observations.alert_rounds.round()


def _alerts(
    installation: Installation, state: str = "open", who: Person | None = None
) -> list[dict[str, Any]]:
    client = (who or installation.owner).client
    answer = client.get(f"{_project(installation)}/alerts", params={"state": state})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def _bell(installation: Installation, who: Person | None = None) -> list[tuple[str, str]]:
    client = (who or installation.owner).client
    items = client.get(f"{_project(installation)}/notifications").json()["items"]
    return [(each["title"], each["body"]) for each in items]


def _act(installation: Installation, alert_id: str, what: str, **body: Any) -> dict[str, Any]:
    address = f"{_project(installation)}/alerts/{alert_id}/{what}"
    answer = installation.owner.client.post(address, json=body or None)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


# From a failed run to its end


def test_a_failed_run_fires_is_told_acknowledged_and_resolves(installation: Installation) -> None:
    assert _look(installation) == 0, "projects without rules are not looked at"
    _saved(installation)
    _look(installation)
    assert _alerts(installation) == []
    _query(installation)
    _look(installation)
    [alert] = _alerts(installation)
    assert (alert["state"], alert["value"], alert["limit"], alert["flow"]) == ("firing", 1, 0, None)
    [(title, body)] = _bell(installation)
    assert title == "Alert: Failures"
    assert "Failed runs in 1 hour: 1 (limit 0)" in body
    _query(installation)
    _look(installation)
    [again] = _alerts(installation)
    assert (again["id"], again["latest"]) == (alert["id"], 2)
    assert len(_bell(installation)) == 1, "one alert for one cause"
    taken = _act(installation, alert["id"], "acknowledge")
    assert (taken["state"], taken["acknowledged_by"]) == ("acknowledged", "Olga Owner")
    _look(installation, hours=1)
    assert len(_alerts(installation)) == 1, "the hour under way resolves nothing"
    _look(installation, hours=1)
    assert _alerts(installation) == []
    [over] = _alerts(installation, "resolved")
    assert (over["resolved_why"], over["latest"]) == ("recovered", 0)
    assert _bell(installation)[0][0] == "Resolved: Failures"


def test_an_alert_that_came_and_went_while_nobody_looked_is_history(
    installation: Installation,
) -> None:
    _saved(installation)
    _look(installation)
    _query(installation)
    _look(installation, hours=5)
    assert _alerts(installation) == []
    [over] = _alerts(installation, "resolved")
    assert over["value"] == 1
    assert _bell(installation) == []


def test_alerts_of_one_round_are_one_notification(installation: Installation) -> None:
    _saved(installation, name="One")
    _saved(installation, name="Two", figure="error_rate")
    _saved(installation, name="Three", each_flow=True)
    _query(installation)
    _look(installation)
    assert {each["name"] for each in _alerts(installation)} == {"One", "Two", "Three"}
    [(title, body)] = _bell(installation)
    assert title == "3 alerts"
    assert all(f"{name}: " in body for name in ("One", "Two", "Three"))
    _look(installation, hours=2)
    (title, body), *_ = _bell(installation)
    assert title == "3 alerts resolved"
    assert all(f"{name} is resolved." in body for name in ("One", "Two", "Three"))


def test_many_workers_look_once(installation: Installation) -> None:
    _saved(installation)
    _query(installation)
    installation.clock.advance(minutes=1)
    rounds = installation.steward.observations.alert_rounds
    assert [rounds.round(), rounds.round()] == [1, 0]
    [(scope, epoch)] = [(installation.scope, 1)]
    # A worker that lost its turn writes nothing.
    installation.clock.advance(hours=3)
    rounds._look(scope, epoch - 1)
    assert len(_alerts(installation)) == 1
    assert rounds.round() == 1
    assert _alerts(installation) == []


# Silence


def test_a_muted_cause_is_shown_and_not_told(installation: Installation) -> None:
    _saved(installation)
    _query(installation)
    _look(installation)
    [alert] = _alerts(installation)
    until = (installation.clock.now() + timedelta(hours=8)).isoformat()
    assert _act(installation, alert["id"], "mute", until=until)["muted_until"] is not None
    _look(installation, hours=2)
    _query(installation)
    _look(installation)
    [muted] = _alerts(installation)
    assert muted["muted_until"] is not None
    assert [title for title, _ in _bell(installation)] == ["Alert: Failures"]
    _act(installation, muted["id"], "mute", until=None)
    _look(installation)
    assert [title for title, _ in _bell(installation)] == ["Alert: Failures"] * 2


def test_quiet_hours_hold_messages_back(installation: Installation) -> None:
    now = installation.clock.now()
    quiet = {"start": f"{now:%H:%M}", "end": f"{now + 3 * HOUR:%H:%M}", "time_zone": "UTC"}
    _saved(installation, quiet_hours=quiet, window_hours=12)
    _query(installation)
    _look(installation)
    assert len(_alerts(installation)) == 1
    assert _bell(installation) == []
    _look(installation, hours=3)
    assert [title for title, _ in _bell(installation)] == ["Alert: Failures"]


# Messages that leave

SENDING = {
    "send_email": {
        "host": "mail.example.com",
        "sender": "steward@example.com",
        "allow_domains": ["example.com"],
    },
    "send_slack": {"token_secret": "bot", "channels": ["#ops"]},
    "send_webhook": {"endpoints": {"pager": {"url": "https://example.com/", "secret": "hook"}}},
}
SLACK = {"kind": "slack", "channel": "#ops"}


def _set_up(installation: Installation, tools: dict[str, Any]) -> None:
    rulebook = installation.steward.governing.rulebook
    revision = rulebook.settings(installation.scope).revision
    rulebook.change_settings(installation.owner.access, revision, tools=tools)


def _sent(installation: Installation, who: Person | None = None) -> list[dict[str, Any]]:
    runs = (who or installation.owner).client.get(f"{_project(installation)}/runs").json()["items"]
    return [each for each in runs if each["title"].startswith("Send alert")]


def test_messages_are_governed_calls_in_the_name_of_the_author(installation: Installation) -> None:
    editor = installation.person(Role.editor)
    channels = [
        {"kind": "mail", "to": ["ops@example.com"]},
        SLACK,
        {"kind": "webhook", "endpoint": "pager"},
    ]
    _set_up(installation, SENDING)
    saved = _saved(installation, editor, channels=channels)
    assert saved["waiting_channels"] == ["mail", "slack", "webhook"]
    _saved(installation, editor, name="Second", channels=channels[2:])
    _set_up(installation, {})
    _query(installation)
    _look(installation)
    sent = _sent(installation)
    assert len(sent) == 3, "one for each channel, not for each alert"
    assert {each["created_by"] for each in sent} == {editor.user.id}
    installation.steward.runs.drive_until_idle()
    # Nothing is set up in this project any more: each run says so, as for any other call.
    assert {each["status"] for each in _sent(installation)} == {"failed"}
    first = next(each for each in _alerts(installation) if each["name"] == "Failures")
    assert [each["channel"] for each in first["sends"]] == ["mail", "slack", "webhook"]
    assert all(each["run_id"] for each in first["sends"])
    _look(installation)
    assert len(_sent(installation)) == 3
    counted = installation.steward.observations.alerts.flows(
        installation.scope, _everything(installation)
    )
    assert MESSAGES not in counted


def test_an_author_who_may_not_send_any_more_sends_nothing(installation: Installation) -> None:
    editor = installation.person(Role.editor)
    _set_up(installation, SENDING)
    _saved(installation, editor, channels=[{"kind": "webhook", "endpoint": "pager"}])
    address = f"{_project(installation)}/members/{editor.user.id}"
    lowered = installation.owner.client.put(address, json={"role": "viewer"})
    assert lowered.status_code < 300, lowered.text
    _query(installation)
    _look(installation)
    [alert] = _alerts(installation)
    assert _sent(installation) == []
    assert "no longer an editor" in alert["sends"][0]["problem"]


def test_a_channel_that_cannot_send_is_refused_when_the_rule_is_saved(
    installation: Installation,
) -> None:
    client, address = installation.owner.client, f"{_project(installation)}/alert-rules"
    connections = installation.steward.connections.documents
    hook = Draft("hook", "slack_webhook", {}, values={"url": "https://hooks.slack.com/services/x"})
    connections.create(installation.owner.access, hook)
    settings = {
        "host": "mail.example.com",
        "sender": "a@example.com",
        "allow_domains": ["example.com"],
        "username": "ada",
    }
    connections.create(installation.owner.access, Draft("post", "smtp", settings))
    mail = {"kind": "mail", "to": ["ops@example.com"]}

    def refused(channel: dict[str, Any]) -> tuple[str, str]:
        good = {"kind": "slack", "connection": "hook"}
        answer = client.post(address, json=_rule(channels=[good, channel]))
        assert answer.status_code == 422, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        [problem] = answer.json()["errors"]
        return problem["pointer"], problem["message"]

    place, said = refused({"kind": "slack", "connection": "hook", "channel": "#ops"})
    assert place == "/channels/1"
    assert "leave `channel` out" in said
    assert "not set up" in refused(mail)[1]
    assert "not set up" in refused({"kind": "slack"})[1]
    assert "There is no endpoint" in refused({"kind": "webhook", "endpoint": "pager"})[1]
    assert "no password" in refused({**mail, "connection": "post"})[1]
    assert "gone" in refused({**mail, "connection": "gone"})[1]
    place, said = refused({**mail, "to": ["not an address"]})
    assert place == "/channels/1/to/0"
    assert "valid email address" in said
    assert client.get(address).json()["items"] == []
    off = _rule(channels=[mail], enabled=False)
    assert client.post(address, json=off).status_code == 201, "what is off sends nothing"


def test_the_policy_of_the_guide_lets_alerts_leave_at_once(installation: Installation) -> None:
    steward, access = installation.steward, installation.owner.access
    _set_up(installation, SENDING)
    guide = Path(__file__).parents[2] / "docs/guides/observe.md"
    [rules] = [each for each in guide.read_text().split("```") if '@id("send-alerts")' in each]
    kept = [each for each in PRESETS[DEFAULT_PRESET].split("\n\n") if '@id("send")' not in each]
    steward.governing.rulebook.save(access, "project", "\n\n".join([*kept, rules]), 0)
    team, other = ({"kind": "mail", "to": [f"{name}@example.com"]} for name in ("ops", "eve"))
    assert _saved(installation, channels=[team])["waiting_channels"] == []
    assert _saved(installation, name="Other", channels=[other])["waiting_channels"] == ["mail"]


def _everything(installation: Installation) -> Any:
    from steward.app.alerting import alert_view

    return alert_view(installation.steward.playbooks, installation.owner.access)


def test_names_of_others_stay_on_one_line() -> None:
    assert one_line("Leads\r\nBcc: all@example.com\x00\u202e") == "Leads Bcc: all@example.com"
    assert len(one_line("x" * 500)) == 100


# Rules


def test_rules_have_revisions(installation: Installation) -> None:
    made = _saved(installation)
    client, address = (
        installation.owner.client,
        f"{_project(installation)}/alert-rules/{made['id']}",
    )
    assert client.put(address, json=_rule()).status_code == 428
    stale = client.put(address, json=_rule(name="New"), headers={"If-Match": '"7"'})
    assert stale.status_code == 412
    changed = client.put(address, json=_rule(name="New"), headers={"If-Match": '"1"'})
    assert (changed.status_code, changed.headers["etag"]) == (200, '"2"')
    assert client.get(address).json()["rule"]["name"] == "New"
    assert client.delete(address, headers={"If-Match": '"1"'}).status_code == 412
    assert client.delete(address, headers={"If-Match": '"2"'}).status_code == 204
    assert client.get(address).status_code == 404
    _look(installation)
    assert _look(installation) == 0, "without rules there is nothing to look at"


@pytest.mark.parametrize(
    ("change", "stays"),
    [({"name": "New"}, True), ({"window_hours": 2}, False), ({"enabled": False}, False)],
)
def test_a_rule_that_looks_for_something_else_resolves_its_alerts(
    installation: Installation, change: dict[str, Any], stays: bool
) -> None:
    made = _saved(installation)
    _query(installation)
    _look(installation)
    address = f"{_project(installation)}/alert-rules/{made['id']}"
    answer = installation.owner.client.put(
        address, json=_rule(**change), headers={"If-Match": '"1"'}
    )
    assert answer.status_code == 200, answer.text
    assert len(_alerts(installation)) == int(stays)
    if not stays:
        assert _alerts(installation, "resolved")[0]["resolved_why"] == "rule_changed"


def test_wrong_rules_say_what_is_wrong(installation: Installation) -> None:
    client = installation.owner.client
    address = f"{_project(installation)}/alert-rules"
    stranger = "usr_" + "0" * 26
    for wrong, where in (
        ({"people": [stranger]}, "/people/0"),
        ({"flow": MESSAGES}, "/flow"),
    ):
        answer = client.post(address, json=_rule(**wrong))
        assert answer.status_code == 422
        assert where in answer.text
    assert client.post(address, json=_rule(window_hours=0)).status_code == 422
    assert client.post(address, json={"name": "x"}).status_code == 422


def test_only_editors_change_rules_and_operators_answer_alerts(installation: Installation) -> None:
    _saved(installation)
    _query(installation)
    _look(installation)
    [alert] = _alerts(installation)
    viewer, operator = installation.person(Role.viewer), installation.person(Role.operator)
    base = _project(installation)
    assert viewer.client.get(f"{base}/alerts").json()["items"][0]["id"] == alert["id"]
    assert viewer.client.post(f"{base}/alerts/{alert['id']}/acknowledge").status_code == 403
    assert operator.client.post(f"{base}/alert-rules", json=_rule()).status_code == 403
    assert operator.client.post(f"{base}/alerts/{alert['id']}/normal").status_code == 403
    assert operator.client.post(f"{base}/alerts/{alert['id']}/acknowledge").status_code == 200
    normal = installation.owner.client.post(f"{base}/alerts/{alert['id']}/normal")
    assert normal.status_code == 409, "only unusual figures have a normal"


# What is hidden


PLAYBOOK = """\
format: 1
id: secret-work
name: Secret work
budget: {usd: 1}
graph:
  nodes:
    - {id: result, type: output, value: "${1 / 0}"}
"""


def test_alerts_about_hidden_playbooks_are_hidden(installation: Installation) -> None:
    owner, viewer = installation.owner, installation.person(Role.viewer)
    base = _project(installation)
    made = owner.client.post(f"{base}/playbooks", json={"yaml": PLAYBOOK})
    assert made.status_code == 201, made.text
    flow = f"playbook:{made.json()['id']}"
    editor = installation.person(Role.editor)
    webhook = [{"kind": "webhook", "endpoint": "pager"}]
    _set_up(installation, SENDING)
    _saved(installation, flow=flow, people=[viewer.user.id, editor.user.id], channels=webhook)
    _saved(installation, name="Whole", people=[viewer.user.id], channels=[SLACK])
    _saved(installation, name="Each", each_flow=True, people=[viewer.user.id])
    started = owner.client.post(f"{base}/playbooks/secret-work/runs", json={})
    assert started.status_code in {200, 201, 202}, started.text
    installation.steward.runs.drive_until_idle()
    _look(installation)
    assert {each["name"] for each in _alerts(installation)} == {"Failures", "Whole", "Each"}
    assert "Secret work" in _bell(installation)[0][1]
    assert _alerts(installation, who=viewer) == []
    assert _bell(installation, viewer) == []
    assert len(_sent(installation)) == 2
    assert _sent(installation, viewer) == []
    rules = viewer.client.get(f"{base}/alert-rules").json()
    assert [each["rule"]["name"] for each in rules["items"]] == ["Each"]
    assert flow not in {each["flow"] for each in rules["flows"]}
    refused = editor.client.post(f"{base}/alert-rules", json=_rule(flow=flow))
    assert refused.status_code == 422
    previewed = editor.client.post(f"{base}/alert-rule-preview", json=_rule())
    assert previewed.json()["times"] == 0
    assert owner.client.post(f"{base}/alert-rule-preview", json=_rule()).json()["times"] == 1


def test_another_project_sees_nothing(installation: Installation) -> None:
    made = _saved(installation)
    _query(installation)
    _look(installation)
    [alert] = _alerts(installation)
    other = installation.project("Other")
    stranger = installation.person(Role.owner, "stranger", other)
    base = f"{API}/projects/{other}"
    assert stranger.client.get(f"{base}/alerts").json()["items"] == []
    assert stranger.client.get(f"{base}/alert-rules/{made['id']}").status_code == 404
    assert stranger.client.post(f"{base}/alerts/{alert['id']}/acknowledge").status_code == 404


# The past


def test_a_preview_tells_what_rounds_then_find(installation: Installation) -> None:
    """The same runs, looked at hour by hour by the real round and by a preview at the end."""
    rules = [
        _rule(name="a"),
        _rule(name="b", window_hours=3, condition={"kind": "above", "threshold": 1}),
        _rule(name="c", figure="runs", window_hours=2, condition={"kind": "below", "threshold": 1}),
    ]
    now = installation.clock.now()
    installation.clock.advance(minutes=59 - now.minute)
    for each in rules:
        answer = installation.owner.client.post(f"{_project(installation)}/alert-rules", json=each)
        assert answer.status_code == 201, answer.text
    for sqls in ([FAILING], [], [FAILING, FAILING], [WORKING], [], [], [], [FAILING], []):
        for sql in sqls:
            _query(installation, sql)
        installation.steward.observations.alert_rounds.round()
        installation.clock.advance(hours=1)
    installation.steward.observations.alert_rounds.round()
    lived = [*_alerts(installation), *_alerts(installation, "resolved")]
    for each in rules:
        answer = installation.owner.client.post(
            f"{_project(installation)}/alert-rule-preview", json=each
        )
        assert answer.status_code == 200, answer.text
        since = f"{installation.clock.now() - 9 * HOUR:%Y-%m-%dT%H}"
        times = [
            (ep["first"][:13], ep["last"] is None)
            for ep in answer.json()["episodes"]
            # Before the rule was made it was silent, which is no live alert.
            if ep["first"][:13] >= since or each["name"] != "c"
        ]
        found = sorted(
            (alert["opened_at"][:13], alert["resolved_at"] is None)
            for alert in lived
            if alert["name"] == each["name"]
        )
        assert times[-len(found) :] == found
        assert found
    assert len(answer.json()["values"]) == 28 * 24


def test_what_resolved_long_ago_goes(installation: Installation) -> None:
    _saved(installation)
    _query(installation)
    _look(installation)
    _look(installation, hours=3)
    rounds = installation.steward.observations.alert_rounds
    rounds.tidy()
    assert len(_alerts(installation, "resolved")) == 1
    installation.clock.advance(days=91)
    rounds.tidy()
    with installation.steward.database.read(installation.scope) as tx:
        assert tx.rows(sa.select(tables.alerts)) == []


def test_a_new_normal_resolves_and_is_learned_again(
    installation: Installation, make_facts: Callable[[list[float]], None]
) -> None:
    make_facts([10.0] * 20 + [90.0])
    _saved(
        installation,
        figure="spend",
        window_hours=24,
        condition={"kind": "unusual", "floor": 1},
    )
    _look(installation)
    [alert] = _alerts(installation)
    assert (alert["value"], alert["limit"]) == (90, 11)
    done = _act(installation, alert["id"], "normal")
    assert done["resolved_why"] == "new_normal"
    _look(installation)
    assert _alerts(installation) == []


@pytest.fixture
def make_facts(installation: Installation) -> Callable[[list[float]], None]:
    """Runs of each past day, the last one today, that cost so many dollars."""

    def make(dollars: list[float]) -> None:
        _query(installation, WORKING)
        installation.steward.observations.projector.catch_up(installation.scope)
        from steward.observe._tables import facts
        from steward.observe.ended_hours import add_ended
        from steward.observe.facts import NANO, hour_of
        from steward.runs import _tables as run_tables

        now = installation.clock.now()
        with installation.steward.database.write(installation.scope) as tx:
            [run] = tx.rows(sa.select(run_tables.runs))
            [fact, *_] = tx.rows(sa.select(facts).where(facts.c.kind == "run"))
            for back, usd in enumerate(reversed(dollars)):
                ended = now - timedelta(days=back)
                run_id = installation.steward.ids.new("run")
                row = {**run._mapping, "id": run_id, "root_id": run_id, "ended_at": ended}
                tx.execute(sa.insert(run_tables.runs).values(**row))
                fact_row = {
                    **fact._mapping,
                    "run_id": run_id,
                    "hour": hour_of(ended),
                    "nano_usd": round(usd * NANO),
                }
                tx.execute(sa.insert(facts).values(**fact_row))
                add_ended(tx, [(hour_of(ended), [fact_row])])

    return make
