"""A real Steward in a process of its own, and a real browser that must see no error."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

from steward.app import open_steward
from steward.core import load_settings
from tests.cli.fixtures import nursery
from tests.cli.terminal import Terminal

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# What is expected comes within a moment, but on a busy machine the moment is longer than five seconds.
_PATIENCE = 30_000
_WHOLE_JOURNEY_SECONDS = 400
expect.set_options(timeout=_PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(_WHOLE_JOURNEY_SECONDS))


@dataclass(frozen=True)
class Site:
    url: str
    sign_in: str
    home: Path

    def steward(self, *arguments: str, text: str = "") -> str:
        """Runs a command of the terminal on the same installation."""
        with terminal_of(self.home) as terminal:
            address = {"STEWARD_HTTP__PUBLIC_URL": self.url}
            return terminal.run(*arguments, stdin=text, env=address).out.strip()

    def with_new_link(self) -> "Site":
        """The same server with a link that nobody has used, as `steward user link` makes it."""
        with closing(open_steward(load_settings(home=self.home))) as steward:
            owner = steward.identity.users.first_owner()
            assert owner is not None
            link = steward.identity.sessions.new_link(owner.id)
        return replace(self, sign_in=f"{self.url}/sign-in?{urlencode({'link': link})}")


@contextmanager
def terminal_of(home: Path) -> Iterator[Terminal]:
    """Its processes are forks of one that has loaded Steward, which takes some seconds."""
    environment = {"STEWARD_HOME": str(home), "STEWARD_LOG__LEVEL": "warning"}
    with (
        TemporaryDirectory(prefix="steward-journey-") as folder,
        closing(Terminal(nursery(), Path(folder), environment)) as terminal,
    ):
        yield terminal


@contextmanager
def running(home: Path, **environment: str) -> Iterator[Site]:
    """A fresh installation with its demo project, as `make up` starts it; settings as the environment has them."""
    with terminal_of(home) as terminal, terminal.serving(env=environment) as server:
        with urlopen(server.url + "/readyz") as answer:
            assert answer.status == 200
        yield Site(server.url, server.sign_in or "", home)


@pytest.fixture(scope="session")
def first_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a first start leaves behind, to copy: a server starts on it in half the time."""
    home = tmp_path_factory.mktemp("first") / "home"
    with running(home):
        pass
    return home


@pytest.fixture
def site(first_home: Path, tmp_path: Path) -> Iterator[Site]:
    """One for each test; a file whose tests do not disturb each other has one for all, by `running`."""
    with running(shutil.copytree(first_home, tmp_path / "home")) as started:
        yield started


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    path = request.config.getoption("--chromium")
    if not path:
        pytest.skip("no browser: pass --chromium PATH, or run `make test`")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield opened
        opened.close()


@dataclass(frozen=True)
class Desk:
    """One person's browser; anything the page reports as an error fails the test."""

    context: BrowserContext
    page: Page
    errors: list[str]


@pytest.fixture
def open_desk(browser: Browser) -> Iterator[Callable[..., Desk]]:
    """Opens a browser of its own for each person, by default wide and light."""
    desks: list[Desk] = []

    def open_one(
        *, width: int = 1440, height: int = 900, dark: bool = False, locale: str = "en-US"
    ) -> Desk:
        context = browser.new_context(
            locale=locale,
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            permissions=["clipboard-read", "clipboard-write"],
        )
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: _note(message, errors))
        desk = Desk(context, page, errors)
        desks.append(desk)
        return desk

    yield open_one
    for desk in desks:
        assert desk.errors == []
        desk.context.close()


def _note(message: ConsoleMessage, errors: list[str]) -> None:
    # A refused sign-in is an answer of the server, which the browser also writes to its console.
    if message.type == "error" and "status of 4" not in message.text:
        errors.append(message.text)


def accessibility_problems(page: Page) -> list[str]:
    """What axe finds on the page as it stands, serious and critical only."""
    # It stays until the page is loaded anew, and is half a megabyte to send.
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE.read_text())
    result = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{found['id']}: {found['help']} ({found['nodes'][0]['target']})"
        for found in result["violations"]
        if found["impact"] in {"serious", "critical"}
    ]
