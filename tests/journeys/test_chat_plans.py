"""Work in a chat with a model: plans edited by a person, questions, budgets, attached files, rows kept from the model, results."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.journeys.conftest import Desk
from tests.journeys.test_chat import (
    expect_over,
    look,
    open_chat,
    say,
    step,
    with_models,
)
from tests.journeys.test_data import SLOW
from tests.journeys.test_runs import version_of
from tests.models.openai_server import Asked, OpenAiServer, Reply

OpenDesk = Callable[..., Desk]

TIDY = "Tidy the names of the customers"
ASK = "Ask me which year, then go on"
COUNT = "Count the invoices by status, whatever it costs"
LOAD = "Load the attached file"
LIST = "List some companies"
DATASET = "crm_customers"
TOWNS = b"town,people\nBonn,8\nLille,5\n"
PRICES = {"operator": {"input": 0, "output": 300_000}}
"""Whatever the operator says costs more than a turn may."""


def trimmed(columns: list[str]) -> dict[str, Any]:
    return {"dataset": DATASET, "operation": "trim", "arguments": {"columns": columns}}


def plan_for(message: str, asked: str) -> list[dict[str, Any]]:
    match message:
        case _ if message == TIDY:
            seen = {"dataset": DATASET, "limit": 3}
            return [
                step("look", "Look at some rows", "data-analyst", "preview", arguments=seen),
                step(
                    "tidy",
                    "Trim the companies",
                    "data-engineer",
                    "clean",
                    arguments=trimmed(["company"]),
                    needs=["look"],
                ),
            ]
        case _ if message == ASK:
            form = {
                "type": "object",
                "properties": {"year": {"type": "integer"}, "net": {"type": "boolean"}},
                "required": ["year"],
            }
            given = {"question": "Which year do you mean?", "answer": form}
            return [step("ask", "Ask for the year", "data-analyst", "ask_human", arguments=given)]
        case _ if message == COUNT:
            return [step("count", "Count by status", "data-analyst", "execute_sql")]
        case _ if message == LOAD:
            upload = re.search(r"upload id (\w+)", asked)
            assert upload is not None, "the planner is told which file is attached"
            given = {"upload": upload.group(1), "name": "towns"}
            return [step("load", "Load the towns", "data-engineer", "ingest", arguments=given)]
        case _:
            given = {"sql": f"SELECT company FROM {DATASET} WHERE company IS NOT NULL LIMIT 5"}
            return [step("list", "List them", "data-analyst", "execute_sql", arguments=given)]


class Script:
    """What the three models say about the message that was written last."""

    def __call__(self, asked: Asked) -> Reply:
        said = json.dumps(asked.body["messages"])
        message = max((TIDY, ASK, COUNT, LOAD, LIST), key=said.rfind)
        match asked.body["model"]:
            case "planner":
                plan = {"goal": message, "steps": plan_for(message, said)}
                return Reply(text=[json.dumps(plan)])
            case "operator" if '"tool"' not in said:
                sql = "SELECT status, count(*) AS n FROM billing_invoices GROUP BY ALL"
                return Reply(calls=[("execute_sql", json.dumps({"sql": sql}))])
            case "operator":
                return Reply(text=["Counted."])
            case _:
                return Reply(text=["That is ", "**done**."])


def plan_card(turn: Locator) -> Locator:
    card = turn.get_by_role("region", name="Plan")
    expect(card.get_by_role("button", name="Approve the plan")).to_be_visible(timeout=SLOW)
    return card


def edit_the_plan(turn: Locator) -> None:
    """A mistake is told at its step; then the person's plan runs, and shows what is theirs."""
    page, card = turn.page, plan_card(turn)
    page.keyboard.press("Escape")
    card.get_by_role("button", name="Edit the plan").click()
    form = card.get_by_role("form", name="Edit the plan")
    tidy = form.get_by_role("group", name=re.compile("^Step 2"))
    expect(tidy.get_by_role("combobox", name="Tool", exact=True)).to_have_value(re.compile(r"\w"))
    choose(tidy, "Dataset", "billing_invoices")
    save = form.get_by_role("button", name="Approve the changed plan")
    save.click()
    expect(tidy.get_by_role("alert")).to_contain_text("company", timeout=SLOW)
    look(page)
    choose(tidy, "Dataset", DATASET)
    tidy.get_by_role("textbox", name="What is done").fill("Trim companies and countries")
    columns = tidy.get_by_role("combobox", name="Columns")
    columns.click()
    page.get_by_role("option", name="country", exact=True).click()
    columns.press("Escape")
    add_a_step(form)
    save.click()
    expect(form).to_have_count(0, timeout=SLOW)
    expect_over(page)
    expect(card.get_by_text(re.compile("^Changed by "))).to_be_visible(timeout=SLOW)
    open_card(card)
    expect(card.get_by_text("Added", exact=True)).to_be_visible()
    card.get_by_text("Title, arguments").click()
    expect(card.get_by_text("Trim the companies", exact=True)).to_be_visible()
    expect(card.get_by_text(re.compile("3 steps · 100 %"))).to_be_visible()
    look(page)


def choose(place: Locator, field: str, option: str) -> None:
    place.get_by_role("combobox", name=field, exact=True).click()
    place.page.get_by_role("option", name=option, exact=True).click()


def add_a_step(form: Locator) -> None:
    """By keys alone, and put before the others."""
    page = form.page
    form.get_by_role("button", name="Add a step").press("Enter")
    added = form.get_by_role("group", name=re.compile("^Step 3"))
    expect(added.get_by_role("textbox", name="What is done")).to_be_focused()
    page.keyboard.type("See which datasets there are")
    tool = added.get_by_role("combobox", name="Tool", exact=True)
    tool.press_sequentially("List datasets")
    page.get_by_role("option", name=re.compile("List")).first.click()
    mover = form.get_by_role("button", name="Move up: See which datasets there are")
    mover.press("Enter")
    mover.press("Alt+ArrowUp")
    expect(form.get_by_role("group", name="Step 1: See which datasets there are")).to_be_visible()
    expect(mover).to_be_focused()


def open_card(card: Locator) -> None:
    head = card.get_by_role("button", expanded=False).first
    if card.get_by_role("list", name="Steps").count() == 0:
        head.click()


def roll_back_and_do_again(turn: Locator, before: str) -> None:
    page = turn.page
    after = version_of(page, DATASET)
    assert after != before
    steps = turn.get_by_role("list", name="Steps").get_by_role("listitem")
    tidied = steps.filter(has_text="Trim companies and countries").first
    tidied.get_by_role("button", name="Roll back").click()
    expect(tidied.get_by_role("button", name="Do again")).to_be_visible(timeout=SLOW)
    expect(tidied.get_by_text("Undone").first).to_be_visible()
    assert version_of(page, DATASET) == before
    tidied.get_by_role("button", name="Do again").click()
    expect(tidied.get_by_role("button", name="Roll back")).to_be_visible(timeout=SLOW)
    assert version_of(page, DATASET) == after


def answer_a_question(page: Page) -> None:
    turn = say(page, ASK)
    asked = turn.get_by_role("region", name="Which year do you mean?")
    expect(asked).to_be_visible(timeout=SLOW)
    asked.get_by_role("button", name="Answer").click()
    expect(asked.get_by_text("This is needed.")).to_be_visible()
    look(page)
    asked.get_by_role("textbox", name="Year").fill("2024")
    asked.get_by_role("switch", name="Net").click(force=True)
    asked.get_by_role("button", name="Answer").click()
    expect(turn.get_by_text("done", exact=True)).to_be_visible(timeout=SLOW)
    expect_over(page)


def raise_a_budget(page: Page) -> None:
    turn = say(page, COUNT)
    asked = turn.get_by_role("region", name="There is not enough budget left")
    raised = asked.get_by_role("button", name="Raise the limit")
    expect(raised).to_be_enabled(timeout=SLOW)
    look(page)
    asked.get_by_role("textbox", name="New limit in US dollars").fill("1000")
    raised.click()
    expect(turn.get_by_text("Counted.", exact=True)).to_be_visible(timeout=SLOW)
    expect_over(page)
    expect(turn.get_by_text(re.compile(r"\$1\d\.\d\d"))).to_be_visible()


def attach_a_file(page: Page) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Attach files").click()
    chooser.value.set_files({"name": "towns.csv", "mimeType": "text/csv", "buffer": TOWNS})
    files = page.get_by_role("list", name="Attached files")
    expect(files.get_by_text(re.compile("bytes"))).to_be_visible(timeout=SLOW)
    turn = say(page, LOAD)
    expect(turn.get_by_text("towns.csv").first).to_be_visible()
    plan_card(turn).get_by_role("button", name="Approve the plan").click()
    expect(turn.get_by_text("done", exact=True)).to_be_visible(timeout=SLOW)
    expect_over(page)
    assert version_of(page, "towns")


def keep_rows_from_the_model(page: Page, models: OpenAiServer) -> None:
    page.get_by_role("button", name="New conversation").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("New conversation")
    page.get_by_role("button", name="Settings of this conversation").click()
    page.get_by_role("switch", name="Schema only").click(force=True)
    page.keyboard.press("Escape")
    told = len(models.asked)
    turn = say(page, LIST)
    rows = turn.get_by_role("group", name=re.compile("^Rows: "))
    expect(rows.get_by_role("cell").first).to_be_visible(timeout=SLOW)
    expect_over(page)
    seen = [cell.strip() for cell in rows.get_by_role("cell").all_inner_texts() if cell.strip()]
    sent = json.dumps([each.body for each in models.asked[told:]])
    assert len(seen) == 5
    assert DATASET in sent
    assert [each for each in seen if each in sent] == []


def look_through_the_results(page: Page) -> None:
    """Everything of the conversation in one place, and the way back to its step."""
    page.get_by_role("button", name="Results of this conversation").click()
    drawer = page.get_by_role("dialog", name="Results of this conversation")
    card = drawer.get_by_role("article").first
    expect(card.get_by_role("columnheader", name="status")).to_be_visible(timeout=SLOW)
    look(page)
    with page.expect_download() as download:
        card.get_by_role("link", name=re.compile("Download")).click()
    assert Path(download.value.path()).read_text().splitlines()[0] == "status,n"
    drawer.get_by_text("Reports", exact=True).click()
    expect(drawer.get_by_text("No report yet")).to_be_visible(timeout=SLOW)
    drawer.get_by_text("Tables", exact=True).click()
    card.get_by_role("button", name="Show the step: Count by status").click()
    expect(drawer).to_have_count(0)
    call = page.get_by_role("button", name=re.compile("Run SQL"), expanded=True)
    expect(call).to_be_in_viewport(timeout=SLOW)


@pytest.fixture
def home(first_home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(first_home, tmp_path / "home"))


def test_a_person_changes_answers_pays_and_attaches(home: Path, open_desk: OpenDesk) -> None:
    with with_models(home, Script()) as (server, models):
        server.environment["STEWARD_MODELS__PRICES"] = json.dumps(PRICES)
        site = server.start().with_new_link()
        page = open_desk().page
        page.goto(site.sign_in)
        expect(page.get_by_role("heading", level=1)).to_have_text("Demo: customer data")
        before = version_of(page, DATASET)
        open_chat(page)
        expect(page.get_by_role("list", name="Examples")).to_be_visible(timeout=SLOW)
        expect(page.get_by_role("note", name="Without a model")).to_have_count(0)

        turn = say(page, TIDY)
        edit_the_plan(turn)
        roll_back_and_do_again(turn, before)
        answer_a_question(page)
        raise_a_budget(page)
        look_through_the_results(page)
        attach_a_file(page)
        keep_rows_from_the_model(page, models)
