"""Agents in a real browser: started from the library, changed, compared, restored, tried with a model and without one."""

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import Desk, Site, accessibility_problems, running
from tests.journeys.test_first_steps import go

UNDER_THE_BAR = """() => {
  const bar = document.querySelector('[class*=_save_]');
  const found = new Set();
  for (let step = 0; step < 30; step += 1) {
    window.scrollTo(0, step * 100);
    const { left, right, top, bottom } = bar.getBoundingClientRect();
    for (let x = left + 2; x < right; x += 6)
      for (let y = top + 4; y < Math.min(bottom, innerHeight); y += 6) {
        const there = document.elementFromPoint(x, y);
        if (there && !bar.contains(there)) found.add(there.tagName);
      }
  }
  return [...found];
}"""
"""What lies over the bar with which an agent is saved, wherever the page is scrolled to."""
WIDE = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"


NOTE = "Complaints about parcels go to Graz."


class _Model(BaseHTTPRequestHandler):
    """A model server that always says the same; with a memory, it keeps one note and then knows it."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tools = [each["function"]["name"] for each in asked.get("tools", ())]
        said = json.dumps(asked["messages"])
        message: dict[str, object] = {"role": "assistant", "content": "Two customers complained."}
        if "remember" in tools and NOTE not in said:
            function = {"name": "remember", "arguments": json.dumps({"text": NOTE})}
            call = {"id": "call_1", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        elif "remember" in tools and "Your note 1 of" in said:
            message["content"] = "They go to Graz, as noted before."
        body = json.dumps(
            {
                "id": "one",
                "object": "chat.completion",
                "created": 1,
                "model": "stub",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 40, "completion_tokens": 4, "total_tokens": 44},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def model() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Model) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield json.dumps(
            {
                "provider": "compatible",
                "name": "stub",
                "base_url": f"http://127.0.0.1:{server.server_port}/v1",
                "api_key": "none",
                "stream": False,
            }
        )
        server.shutdown()
        thread.join()


def start_from(page: Page, title: str, name: str) -> None:
    go(page, "Agents")
    page.get_by_role("button", name=f"Start from this: {title}").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_label("Title").fill("Complaints in short")
    dialog.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Complaints in short")


def test_an_agent_is_composed_compared_tried_and_counted(
    first_home: Path, tmp_path: Path, open_desk: Callable[..., Desk], model: str
) -> None:
    home = shutil.copytree(first_home, tmp_path / "home")
    with running(home, STEWARD_MODELS__DEFAULT=model) as started:
        page = open_desk().page
        page.goto(started.with_new_link().sign_in)
        start_from(page, "Summariser", "complaints")
        assert accessibility_problems(page) == []

        page.get_by_label("Instructions").fill("Say in one sentence what people complain about.")
        page.get_by_role("combobox", name="Tools").click()
        page.get_by_role("option", name="Send mail").click()
        page.keyboard.press("Escape")
        expect(page.get_by_text("This cannot be saved yet")).to_be_visible()
        expect(page.get_by_role("list", name="Arguments of Send mail")).to_contain_text("Recipient")
        page.get_by_role("combobox", name="Tools").press("Backspace")
        expect(page.get_by_text("This cannot be saved yet")).to_have_count(0)
        page.get_by_label("Why").fill("Shorter")
        page.get_by_role("button", name="Save as a new version").click()
        expect(page.get_by_text("Saved as version 2")).to_be_visible()

        page.get_by_role("tab", name="Versions").click()
        changes = page.get_by_role("group", name="Changes of Instructions")
        expect(changes).to_contain_text("+Say in one sentence what people complain about.")
        assert accessibility_problems(page) == []
        page.get_by_role("button", name="Restore version 1").click()
        expect(page.get_by_text("3. Version 1 again (current)")).to_be_visible()

        page.get_by_role("tab", name="Try it").click()
        page.get_by_label("Task").fill("What do they complain about?")
        page.get_by_label("Data it works on").fill('{"mails": ["Too late", "Too dear"]}')
        page.get_by_role("button", name="Try it").click()
        answer = page.get_by_role("region", name="Answer")
        expect(answer).to_contain_text("Two customers complained.")
        expect(answer).to_contain_text("Done")

        # An agent of the chat has more tools than one of your own: which are kept is said, and chosen.
        go(page, "Agents")
        page.get_by_role("button", name="Start from this: Data engineer").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text("tools, and an agent of your own at most 8")).to_be_visible()
        page.keyboard.press("Escape")
        page.get_by_role("link", name="Complaints in short").click()

        page.get_by_role("tab", name="Figures").click()
        expect(page.get_by_text("Requests to models")).to_be_visible()
        assert accessibility_problems(page) == []


def test_an_agent_remembers_and_its_notes_are_looked_at_deleted_and_brought_back(
    first_home: Path, tmp_path: Path, open_desk: Callable[..., Desk], model: str
) -> None:
    home = shutil.copytree(first_home, tmp_path / "home")
    with running(home, STEWARD_MODELS__DEFAULT=model) as started:
        page = open_desk().page
        page.goto(started.with_new_link().sign_in)
        start_from(page, "Summariser", "parcels")
        page.get_by_role("tab", name="Memory").click()
        expect(page.get_by_text("This agent remembers nothing")).to_be_visible()

        page.get_by_role("tab", name="Compose").click()
        file = page.get_by_role("region", name="As a file")
        page.get_by_role("switch", name="Remember between runs").click(force=True)
        page.get_by_label("Notes at most").fill("5")
        expect(file).to_contain_text("With your changes, which are not saved yet.")
        expect(file).to_contain_text("keep: 5")
        page.get_by_label("Output schema").fill("{")
        expect(file).to_contain_text("This is the saved version.")
        expect(file).not_to_contain_text("keep: 5")
        page.get_by_role("button", name="Discard changes").click()
        expect(page.get_by_label("Output schema")).to_have_value("")
        expect(page.get_by_text("not saved yet")).to_have_count(0)

        page.get_by_role("switch", name="Remember between runs").click(force=True)
        page.get_by_label("Notes at most").fill("5")
        assert accessibility_problems(page) == []
        page.get_by_role("button", name="Save as a new version").click()
        expect(page.get_by_text("Saved as version 2")).to_be_visible()
        page.get_by_role("tab", name="Memory").click()
        expect(page.get_by_text("No notes yet")).to_be_visible()

        for answer in ("Two customers complained.", "They go to Graz, as noted before."):
            page.get_by_role("tab", name="Try it").click()
            page.get_by_label("Task").fill("Where do complaints go?")
            page.get_by_role("button", name="Try it").click()
            expect(page.get_by_role("region", name="Answer")).to_contain_text(answer)
            page.get_by_role("tab", name="Compose").click()

        page.get_by_role("tab", name="Memory").click()
        notes = page.get_by_role("list", name="Notes")
        expect(notes).to_contain_text(NOTE)
        expect(page.get_by_text("1 of at most 5 notes.")).to_be_visible()
        expect(notes.get_by_role("link", name="Open the run")).to_be_visible()
        assert accessibility_problems(page) == []
        page.get_by_role("button", name="Delete note 1").click()
        expect(page.get_by_text("No notes yet")).to_be_visible()
        expect(page.get_by_text("Note 1 deleted")).to_be_visible()
        page.keyboard.press("Control+z")
        expect(notes).to_contain_text(NOTE)


def test_agents_fit_a_narrow_dark_screen_and_say_that_no_model_is_set_up(
    site: Site, open_desk: Callable[..., Desk]
) -> None:
    page = open_desk(width=390, height=844, dark=True).page
    page.goto(site.sign_in)
    expect(page.get_by_role("heading", level=1)).to_have_text("Demo: customer data")
    base = page.url.partition("?")[0].rstrip("/")
    page.goto(f"{base}/agents")
    expect(page.get_by_role("link", name="E-mail drafter")).to_be_visible()
    assert accessibility_problems(page) == []
    assert not page.evaluate(WIDE)

    page.goto(f"{base}/agents/sql-analyst?tab=try")
    expect(page.get_by_text("No language model is set up")).to_be_visible()
    expect(page.get_by_role("button", name="Try it")).to_be_disabled()
    assert not page.evaluate(WIDE)
    page.get_by_role("link", name="Open Models").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Models")
    page.goto(f"{base}/agents/sql-analyst")
    expect(page.get_by_role("list", name="What the tools take")).to_be_visible()
    assert accessibility_problems(page) == []
    assert not page.evaluate(WIDE)

    page.goto(f"{base}/agents")
    page.get_by_role("button", name="Start from this: Router").click()
    page.get_by_role("dialog").get_by_role("button", name="Begin").click()
    expect(page.get_by_role("button", name="Save as a new version")).to_be_visible()
    assert page.evaluate(UNDER_THE_BAR) == []
