"""From no model to an answer that a small real one planned: fetched, verified, tested, chosen and asked in a browser."""

import http.server
import re
import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import Desk, Site, accessibility_problems
from tests.models.real_weights import SMALL, require_engine, small_weights

_SLOW = 240_000
"""A small model on a busy machine: minutes."""
pytestmark = pytest.mark.timeout(1_200)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    weights = small_weights()
    require_engine()
    handler = partial(Quiet, directory=str(weights.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/{weights.name}"
        server.shutdown()
        thread.join()


def test_a_local_model_is_fetched_tested_chosen_and_plans(
    site: Site, open_desk: Callable[..., Desk], address: str
) -> None:
    page = open_desk().page
    page.goto(site.sign_in)
    page.get_by_role("link", name="Chat", exact=True).click()
    page.get_by_role("link", name="Add a model").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Models")
    page.keyboard.press("Escape")

    card = page.get_by_role("group", name=SMALL.name, exact=True)
    expect(card).to_contain_text("licence Apache-2.0")
    expect(card).to_contain_text("needs about 500 MB of memory")
    expect(card).to_contain_text(str(SMALL.sha256))
    card.get_by_role("button", name="Use another address").click()
    card.get_by_label("Address of the GGUF file").fill(address)
    card.get_by_role("button", name=f"Download {SMALL.name}").click()
    card.get_by_role("button", name=f"Use {SMALL.name}").click(timeout=60_000)
    expect(card.get_by_role("button", name=f"{SMALL.name} is set up")).to_be_disabled()
    assert accessibility_problems(page) == []

    page.get_by_role("button", name=f"Test {SMALL.name}").click()
    expect(page.get_by_role("status").filter(has_text="answered in")).to_contain_text(
        "answers in a given JSON Schema", timeout=_SLOW
    )
    expect(page.get_by_role("combobox", name="Plans")).to_have_value(SMALL.name)

    page.get_by_role("link", name="Chat", exact=True).click()
    expect(page.get_by_text("No language model is set up")).to_have_count(0)
    page.get_by_role("textbox", name="Message").fill("How many customers are there?")
    page.keyboard.press("Enter")
    # It plans, or it fails and Steward says so. Both took its tokens, and neither is an answer as a fact that it made up.
    expect(page.get_by_text(re.compile(r"[\d,]+ tokens")).first).to_be_visible(timeout=_SLOW)


def test_the_page_fits_a_narrow_dark_screen(site: Site, open_desk: Callable[..., Desk]) -> None:
    page = open_desk(width=390, height=844, dark=True).page
    page.goto(site.sign_in)
    expect(page.get_by_role("heading", level=1)).to_have_text("Demo: customer data")
    page.goto(page.url.partition("?")[0].rstrip("/") + "/models")
    expect(page.get_by_role("group", name=SMALL.name, exact=True)).to_be_visible()
    assert accessibility_problems(page) == []
    wide = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not page.evaluate(wide)
