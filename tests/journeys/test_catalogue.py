"""The catalogue in a real browser: an API that describes itself is installed, connected and called."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.connections.catalogue.graph import Api
from tests.connections.outside import Heard
from tests.journeys.conftest import Desk, Site, running
from tests.journeys.test_data import check_accessible
from tests.journeys.test_first_steps import go, sign_in

OpenDesk = Callable[..., Desk]


@contextmanager
def graphql_api() -> Iterator[str]:
    """The address of a GraphQL API on this machine."""
    api = Api()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            size = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.wfile.write(api(Heard(self.command, self.path, headers, self.rfile.read(size))))

        do_GET = do_POST = answer  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/graphql"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def near(tmp_path: Path) -> Iterator[Site]:
    """A server whose administrator allows calls to this machine."""
    with running(tmp_path / "home", STEWARD_NETWORK__ALLOW_PRIVATE='["127.0.0.0/8"]') as started:
        yield started


def install(page: Page, name: str, address: str) -> None:
    page.get_by_role("button", name="From a file or address").click()
    dialog = page.get_by_role("dialog", name="Install a service from its description")
    dialog.get_by_label("Or address").fill(address)
    dialog.get_by_label("Name").fill(name)
    check_accessible(page)
    dialog.get_by_role("button", name="Install").click()


def connected(page: Page) -> Locator:
    """The drawer of the service, once it is connected without credentials."""
    drawer = page.get_by_role("dialog", name="zoo")
    drawer.get_by_label("Authentication").click()
    page.get_by_role("option", name="None").click()
    drawer.get_by_role("button", name="Connect", exact=True).click()
    return drawer


def test_a_graphql_api_is_installed_from_its_address_and_called(
    near: Site, open_desk: OpenDesk
) -> None:
    page = sign_in(open_desk(), near)
    go(page, "Catalogue")
    with graphql_api() as address:
        install(page, "zoo", address)
        drawer = connected(page)
        drawer.get_by_role("textbox", name="Search operations").fill("pets")
        drawer.get_by_role("button", name="Open Pets", exact=True).click()
        drawer.get_by_role("button", name="Call it once").click()
        chosen = drawer.get_by_role("textbox", name="Fields of the answer")
        expect(chosen).to_have_value(
            "{\n  totalCount\n  edges {\n    node {\n      id\n      name\n      kind\n      born\n"
            "      owner {\n        id\n        name\n      }\n      friend {\n        id\n        name\n"
            "        kind\n        born\n      }\n    }\n  }\n  pageInfo {\n    hasNextPage\n    endCursor\n  }\n}"
        )
        check_accessible(page)
        chosen.scroll_into_view_if_needed()
        chosen.fill("{ totalCount }")
        drawer.get_by_role("button", name="Call", exact=True).click()
        expect(page).to_have_url(re.compile("/runs/"))
        expect(page.get_by_text("Pets on zoo: 200").first).to_be_visible()


def test_a_grpc_server_is_installed_by_its_reflection_and_called(
    near: Site, open_desk: OpenDesk
) -> None:
    pytest.importorskip("grpc_reflection")
    from tests.connections.catalogue.rpc import zoo_server

    page = sign_in(open_desk(width=1100, dark=True), near)
    go(page, "Catalogue")
    with zoo_server() as (zoo, port):
        install(page, "zoo", f"grpc://127.0.0.1:{port}")
        drawer = connected(page)
        drawer.get_by_role("button", name="Open Get pet", exact=True).click()
        drawer.get_by_role("button", name="Call it once").click()
        drawer.get_by_role("textbox", name="Id").fill("7")
        check_accessible(page)
        drawer.get_by_role("button", name="Call", exact=True).click()
        expect(page).to_have_url(re.compile("/runs/"))
        expect(page.get_by_text("Get pet on zoo: 200").first).to_be_visible()
        assert zoo.heard[0][:2] == ("GetPet", {"id": "7"})
