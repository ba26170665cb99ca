"""Triggers in a real browser: an event arrives, is seen with its state, is replayed; somebody outside fills in a form."""

import json
import re
from collections.abc import Callable
from urllib.request import Request, urlopen

from playwright.sync_api import Page, expect

from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import check_accessible
from tests.journeys.test_first_steps import go, sign_in

OpenDesk = Callable[..., Desk]
PLAYBOOK = """\
format: 1
id: leads
name: Leads
budget: {usd: 1}
inputs: {type: object, properties: {email: {type: string, minLength: 3}}, required: [email]}
graph:
  nodes:
    - {id: result, type: output, value: "${inputs.email}"}
triggers:
  - {type: webhook, signature: none, inputs: {email: "${event.data.email}"}}
  - {type: cron, cron: 0 8 * * 1-5, time_zone: Europe/Berlin, missed: ask, inputs: {email: a@b.c}}
  - type: form
    heading: Write to us
    fields:
      type: object
      properties: {email: {type: string, title: Your e-mail address, minLength: 3}}
      required: [email]
    inputs: {email: "${event.data.email}"}
"""


def deploy(page: Page) -> None:
    """As the pages do it, with the session of the browser."""
    said = page.evaluate(
        """async (yaml) => {
          const get = async (path, options) => (await fetch(path, options)).json();
          const session = await get('/api/v1/session');
          const headers = {'content-type': 'application/json', 'x-csrf-token': session.csrf_token};
          const [project] = (await get('/api/v1/projects')).items;
          const base = `/api/v1/projects/${project.id}/playbooks`;
          const post = (path, body) =>
            get(path, {method: 'POST', headers, body: JSON.stringify(body)});
          await post(base, {yaml});
          return post(`${base}/leads/deploy`, {});
        }""",
        PLAYBOOK,
    )
    assert said["state"] == "active", said


def send(address: str, body: dict[str, str]) -> None:
    request = Request(
        address, json.dumps(body).encode(), {"content-type": "application/json"}, method="POST"
    )
    with urlopen(request) as answer:
        assert answer.status == 202


def test_events_are_seen_replayed_and_sent_by_a_form(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    deploy(page)
    go(page, "Triggers")
    page.get_by_role("button", name="Leads: webhook").click()
    drawer = page.get_by_role("dialog", name="Trigger")
    address = drawer.get_by_role("textbox", name=re.compile("^Stable")).input_value()
    send(address, {"email": "a@example.com"})
    send(address, {"email": "x"})
    events = drawer.get_by_role("group", name="Events")
    expect(events.get_by_text("Done")).to_be_visible()
    expect(events.get_by_text("Dead letter")).to_be_visible()
    expect(events.get_by_text(re.compile("does not fit the inputs"))).to_be_visible()
    check_accessible(page)
    events.get_by_role("button", name=re.compile("^Replay event")).last.click()
    expect(events.get_by_text("Done")).to_have_count(2)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Leads: form").click()
    link = drawer.get_by_role("textbox", name="Link").input_value()
    outside = open_desk(width=390).page
    outside.goto(link)
    outside.get_by_role("textbox", name="Your e-mail address").fill("b@example.com")
    check_accessible(outside)
    outside.get_by_role("button", name="Send").click()
    expect(outside.get_by_role("status")).to_contain_text("Thank you")
    expect(drawer.get_by_role("group", name="Events").get_by_text("Done")).to_be_visible()
