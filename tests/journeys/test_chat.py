"""Chat in a real browser: a model that speaks the wire format, a server that dies in the middle, and no model at all."""

import json
import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect

from steward.core.settings import minimal_environment
from tests.cli.terminal import EXECUTABLE
from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import LOOKS, SCROLLS_SIDEWAYS, SLOW, check_accessible
from tests.journeys.test_runs import version_of
from tests.models.openai_server import KEY, Asked, OpenAiServer, Reply

OpenDesk = Callable[..., Desk]

QUESTION = "Make real dates of the invoices, then draw the total gross by year"
FOLLOW_UP = "those again but by month"
DATASET = "billing_invoices"
CLEAN = {
    "dataset": DATASET,
    "operation": "parse_dates",
    "arguments": {"columns": ["issue_date"]},
}
ANSWER = "The total gross of the invoices **grew** from year to year."
MONTHS = "Here are the same totals, **month by month**."


def step(name: str, title: str, agent: str, tool: str, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "title": title,
        "agent": agent,
        "tools": [tool],
        "reason": f"{title}, because it was asked for.",
        "confidence": 0.9,
        **more,
    }


def plan(unit: str, *, with_dates: bool) -> str:
    needs = {"needs": ["dates"]} if with_dates else {}
    drawn = {"kind": "line", "x": "issue_date", "y": "gross", "time_unit": unit}
    steps = [
        step("totals", f"Total gross by {unit}", "data-analyst", "execute_sql", **needs),
        step(
            "draw",
            f"Draw the total gross by {unit}",
            "data-analyst",
            "chart",
            arguments={"dataset": DATASET, "chart": drawn},
            **needs,
        ),
    ]
    if with_dates:
        first = step(
            "dates", "Make real dates of issue_date", "data-engineer", "clean", arguments=CLEAN
        )
        steps.insert(0, first)
    return json.dumps({"goal": f"Total gross by {unit}", "steps": steps})


class Script:
    """What the three models say; the explainer falls silent in the middle of its second answer, once."""

    def __init__(self) -> None:
        self.explained = 0

    def __call__(self, asked: Asked) -> Reply:
        said = json.dumps(asked.body["messages"])
        unit = "month" if FOLLOW_UP in said else "year"
        return getattr(self, asked.body["model"])(asked, unit)  # type: ignore[no-any-return]

    def planner(self, asked: Asked, unit: str) -> Reply:
        return Reply(text=[plan(unit, with_dates=unit == "year")])

    def operator(self, asked: Asked, unit: str) -> Reply:
        if any(message["role"] == "tool" for message in asked.body["messages"]):
            return Reply(text=[f"The totals by {unit} are there."])
        sql = (
            f"SELECT date_trunc('{unit}', issue_date) AS {unit}, sum(gross) AS total_gross "
            f"FROM {DATASET} GROUP BY ALL ORDER BY 1"
        )
        return Reply(calls=[("execute_sql", json.dumps({"sql": sql}))])

    def explainer(self, asked: Asked, unit: str) -> Reply:
        self.explained += 1
        text = re.findall(r"\S+\s*", MONTHS if unit == "month" else ANSWER)
        return Reply(text=text, stall_after=4 if self.explained == 2 else None)


class Server:
    """A Steward that can be killed and started again at the same address."""

    def __init__(self, home: Path, models: OpenAiServer) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.home = home
        self.environment = {
            **minimal_environment(),
            "STEWARD_HOME": str(home),
            "STEWARD_LOG__LEVEL": "warning",
        }
        for role in ("planner", "operator", "explainer"):
            prefix = f"STEWARD_MODELS__{role.upper()}__"
            self.environment |= {
                f"{prefix}PROVIDER": "compatible",
                f"{prefix}NAME": role,
                f"{prefix}BASE_URL": models.url,
                f"{prefix}API_KEY": KEY,
                f"{prefix}PLANNING": "whole",
            }
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> Site:
        self.process = subprocess.Popen(
            [EXECUTABLE, "up", "--port", str(self.port), "--json"],
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        text = ""
        for line in self.process.stdout:
            text += line
            if line.rstrip() == "}":
                break
        document = json.loads(text)
        return Site(document["url"], document.get("sign_in", ""), self.home)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.communicate(timeout=30)


@contextmanager
def with_models(
    home: Path, script: Callable[[Asked], Reply]
) -> Iterator[tuple[Server, OpenAiServer]]:
    with OpenAiServer(script, models=("planner", "operator", "explainer")) as models:
        server = Server(home, models)
        try:
            yield server, models
        finally:
            if server.process is not None and server.process.poll() is None:
                server.kill()


def open_chat(page: Page) -> None:
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Chat").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("New conversation")


def say(page: Page, message: str) -> Locator:
    """Sends a message and gives the turn that it began."""
    box = page.get_by_role("textbox", name="Message")
    box.fill(message)
    box.press("Enter")
    turn = page.get_by_role("article", name=message)
    expect(turn).to_be_visible(timeout=SLOW)
    return turn


def expect_over(page: Page) -> None:
    expect(page.get_by_role("button", name="Send")).to_be_visible(timeout=SLOW)


def look(page: Page) -> None:
    """Wide and light, narrow and dark: nothing out of place."""
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        check_accessible(page)
        assert not page.evaluate(SCROLLS_SIDEWAYS)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1440, "height": 900})


def switch_safe_mode(page: Page) -> None:
    page.get_by_role("button", name="Settings of this conversation").click()
    page.get_by_role("switch", name="Safe mode").click(force=True)
    expect(page.get_by_role("note", name="Safe mode")).to_be_visible()
    check_accessible(page)
    page.keyboard.press("Escape")


def end_safe_mode(page: Page) -> None:
    """While it is on, a person's undo waits for approval, too."""
    page.get_by_role("button", name="Settings of this conversation").click()
    page.get_by_role("switch", name="Safe mode").click(force=True)
    expect(page.get_by_role("note", name="Safe mode")).to_have_count(0)
    page.keyboard.press("Escape")


def approve_the_plan(turn: Locator) -> None:
    card = turn.get_by_role("region", name="Plan")
    expect(card.get_by_role("button", name="Approve the plan")).to_be_visible(timeout=SLOW)
    expect(card.get_by_text("Planned by a model")).to_be_visible()
    expect(card.get_by_role("list", name="Steps").get_by_role("switch")).to_have_count(3)
    look(turn.page)
    card.get_by_role("button", name="Approve the plan").click()


def approve_the_call(turn: Locator) -> None:
    """Safe mode asks for the change itself, in the place where it is made."""
    asked = turn.get_by_role("button", name="Approve once")
    expect(asked).to_be_visible(timeout=SLOW)
    turn.get_by_text("All details").click()
    expect(turn.get_by_role("group", name="Exact payload")).to_contain_text("parse_dates")
    expect(turn.get_by_role("group", name="Changed cells")).to_be_visible()
    look(turn.page)
    asked.click()


def read_the_answer(turn: Locator) -> None:
    expect(turn.get_by_text("grew", exact=True)).to_be_visible(timeout=SLOW)
    expect_over(turn.page)
    expect(turn.get_by_role("img").first).to_be_visible(timeout=SLOW)
    rows = turn.get_by_role("group", name=re.compile("^Rows: "))
    expect(rows.get_by_role("columnheader")).to_have_text(["year", "total_gross"])
    expect(turn.get_by_text("3 steps · 100 %")).to_be_visible()
    expect(turn.get_by_text(re.compile(r"\d tokens"))).to_be_visible()


def survive_the_server(server: Server, page: Page) -> Locator:
    """Killed in the middle of an answer, started again, loaded anew: the turn goes on to its end."""
    turn = say(page, FOLLOW_UP)
    expect(turn.get_by_text(re.compile("^Here are the"))).to_be_visible(timeout=SLOW)
    server.kill()
    expect(turn.get_by_text(re.compile("Reconnecting"))).to_be_visible(timeout=SLOW)
    server.start()
    page.reload()
    expect(turn.get_by_text("month by month", exact=True)).to_be_visible(timeout=SLOW)
    expect_over(page)
    rows = turn.get_by_role("group", name=re.compile("^Rows: "))
    expect(rows.get_by_role("columnheader")).to_have_text(["month", "total_gross"])
    return turn


def undo_and_redo(page: Page, turn: Locator, before: str) -> None:
    after = version_of(page, DATASET)
    turn.get_by_role("button", name="Undo what was changed").click()
    messages = page.get_by_role("region", name="Messages")
    expect(messages.get_by_text(f"Undone: {QUESTION}")).to_be_visible(timeout=SLOW)
    assert version_of(page, DATASET) == before
    turn.get_by_role("button", name="Redo what was changed").click()
    expect(turn.get_by_role("button", name="Undo what was changed")).to_be_visible(timeout=SLOW)
    assert version_of(page, DATASET) == after


def test_a_conversation_outlives_its_server(tmp_path: Path, open_desk: OpenDesk) -> None:
    with with_models(tmp_path / "home", Script()) as (server, models):
        site = server.start()
        desk = open_desk()
        page = desk.page
        page.goto(site.sign_in)
        expect(page.get_by_role("heading", level=1)).to_have_text("Demo: customer data")
        before = version_of(page, DATASET)
        open_chat(page)
        switch_safe_mode(page)

        first = say(page, QUESTION)
        approve_the_plan(first)
        approve_the_call(first)
        read_the_answer(first)
        assert version_of(page, DATASET) != before

        survive_the_server(server, page)
        # What the browser says about a server that is away is no fault of the page.
        desk.errors[:] = [each for each in desk.errors if "ERR_" not in each]
        asked = [each for each in models.asked if each.body["model"] == "planner"]
        assert QUESTION in json.dumps(asked[-1].body["messages"])

        end_safe_mode(page)
        undo_and_redo(page, first, before)
        look(page)


def answer_without_a_model(page: Page) -> None:
    examples = page.get_by_role("list", name="Examples").get_by_role("button")
    expect(examples.first).to_be_visible()
    note = page.get_by_role("note", name="Without a model")
    expect(note.get_by_role("link", name="Add a model")).to_be_visible()
    look(page)
    words = examples.first.inner_text().splitlines()[0]
    examples.first.click()
    turn = page.get_by_role("article", name=words)
    # The plan of an answered question is folded away.
    planned = turn.get_by_text("How this was done").or_(turn.get_by_text("Planned by rules"))
    expect(planned.first).to_be_visible(timeout=SLOW)
    expect_over(page)
    expect(page.get_by_role("note", name="Without a model")).to_contain_text("No language model")
    expect(page.get_by_role("textbox", name="Message")).to_be_focused()
    look(page)


def edit_into_another_version(page: Page) -> None:
    box = page.get_by_role("textbox", name="Message")
    box.press_sequentially("Show 3 rows of @crm")
    options = page.get_by_role("listbox", name="Datasets")
    expect(options.get_by_role("option", name="crm_customers")).to_be_visible()
    check_accessible(page)
    box.press("Enter")
    expect(box).to_have_value("Show 3 rows of @crm_customers ")
    box.press("Enter")
    turn = page.get_by_role("article", name="Show 3 rows of @crm_customers", exact=True)
    # An answer by rules shows the rows itself.
    expect(turn.get_by_text("3 rows", exact=True)).to_be_visible(timeout=SLOW)
    expect_over(page)
    box.press("ArrowUp")
    expect(page.get_by_text("Editing: the message before stays")).to_be_visible()
    box.fill("How many customers by country in @crm_customers?")
    box.press("Enter")
    other = page.get_by_role("article", name="How many customers by country")
    versions = other.get_by_role("group", name="Versions of this message")
    expect(versions).to_have_text("2/2", timeout=SLOW)
    expect_over(page)
    versions.get_by_role("button", name="Earlier version").click()
    expect(turn).to_be_visible()
    expect(turn.get_by_role("group", name="Versions of this message")).to_have_text("1/2")


def answer_again_and_branch(page: Page) -> None:
    """The same message once more, beside the first answer; then on from an earlier message."""
    turn = page.get_by_role("article", name="Show 3 rows of @crm_customers", exact=True)
    turn.get_by_role("button", name="Answer again").click()
    versions = turn.get_by_role("group", name="Versions of this message")
    expect(versions).to_have_text("3/3", timeout=SLOW)
    expect_over(page)
    first = page.get_by_role("article").first
    first.get_by_role("button", name="Go on from here").click()
    say(page, "Show 2 rows of support_tickets")
    expect_over(page)
    expect(page.get_by_role("article")).to_have_count(2)
    other = page.get_by_role("article", name="Show 2 rows of support_tickets")
    expect(other.get_by_role("group", name="Versions of this message")).to_have_text("4/4")


def stop_a_query(page: Page) -> None:
    say(page, "SQL: SELECT status, count(*) AS n FROM billing_invoices GROUP BY ALL")
    expect(page.get_by_role("columnheader", name="status")).to_be_visible(timeout=SLOW)
    expect_over(page)
    turn = say(page, "PYTHON: while True: pass")
    page.get_by_role("button", name="Stop").click()
    expect(turn.get_by_text("Cancelled")).to_be_visible(timeout=SLOW)
    expect_over(page)


def start_a_recipe(page: Page) -> None:
    box = page.get_by_role("textbox", name="Message")
    box.press_sequentially("/profile")
    page.get_by_role("listbox", name="Recipes").get_by_role("option").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Datasets").click(force=True)
    page.get_by_role("option", name="support_tickets", exact=True).click()
    page.keyboard.press("Escape")
    check_accessible(page)
    dialog.get_by_role("button", name="Start").click()
    expect(dialog).to_have_count(0, timeout=SLOW)
    expect(page.get_by_text("From a recipe")).to_be_visible(timeout=SLOW)


def keep_order(page: Page) -> None:
    """Renamed, deleted, had back, found."""
    items = page.get_by_role("list", name="Conversations")
    expect(items.get_by_role("listitem")).to_have_count(1)
    items.get_by_role("button", name=re.compile("^More about")).click()
    page.get_by_role("menuitem", name="Rename").click()
    field = page.get_by_role("textbox", name="Title of the conversation")
    field.fill("Numbers for the board")
    field.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Numbers for the board")
    items.get_by_role("button", name=re.compile("^More about")).click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_text("No conversation yet.")).to_be_visible()
    page.get_by_role("region", name="Messages").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Numbers for the board")
    page.get_by_role("textbox", name="Search conversations").fill("no such words")
    expect(page.get_by_text("No conversation has these words.")).to_be_visible()
    page.get_by_role("textbox", name="Search conversations").fill("board")
    expect(items.get_by_role("link", name=re.compile("Numbers for the board"))).to_be_visible()


def test_a_conversation_without_a_model(site: Site, open_desk: OpenDesk) -> None:
    page = open_desk().page
    page.goto(site.sign_in)
    expect(page.get_by_role("heading", level=1)).to_have_text("Demo: customer data")
    open_chat(page)
    answer_without_a_model(page)
    edit_into_another_version(page)
    answer_again_and_branch(page)
    stop_a_query(page)
    start_a_recipe(page)
    keep_order(page)
