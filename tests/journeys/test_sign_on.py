"""Single sign-on in a real browser, with a certified OpenID provider: set up, a role by group, the group gone."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.identity.sign_on.openid_provider import (
    LIBRARY,
    SECRET,
    OpenIdProvider,
    running_provider,
)
from tests.journeys.conftest import Desk, Site, accessibility_problems, running

pytestmark = pytest.mark.skipif(
    not LIBRARY.is_dir(), reason="the web packages are not installed: npm ci --prefix web"
)


@pytest.fixture
def openid() -> Iterator[OpenIdProvider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def site(first_home: Path, tmp_path: Path) -> Iterator[Site]:
    home = shutil.copytree(first_home, tmp_path / "home")
    with running(home, STEWARD_NETWORK__ALLOW_PRIVATE='["127.0.0.1"]') as started:
        yield started


def set_up(page: Page, openid: OpenIdProvider) -> None:
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Settings").click()
    page.get_by_role("link", name="Set up").click()
    expect(page.get_by_role("heading", level=1, name="Single sign-on")).to_be_visible()
    page.get_by_role("button", name="Add a provider").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Acme")
    dialog.get_by_label("Issuer").fill(openid.issuer)
    dialog.get_by_label("Client ID").fill("steward")
    dialog.get_by_label("Client secret").fill(SECRET)
    dialog.get_by_label("Scopes").fill("openid profile email groups")
    dialog.get_by_role("button", name="Add a rule").click()
    dialog.get_by_label("Value").fill("finance")
    assert accessibility_problems(page) == []
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("groups = finance")).to_be_visible()
    redirect = page.get_by_label("Redirect address, to enter at the provider").input_value()
    logout = page.get_by_label("Sign-out address").input_value()
    openid.register([redirect], backchannel_logout_uri=logout)
    page.get_by_role("button", name="Test").click()
    expect(page.get_by_text("Acme answers")).to_be_visible()
    assert SECRET not in page.content()
    assert accessibility_problems(page) == []


def sign_in_there(page: Page, login: str) -> None:
    """The provider's own pages: a name and a password, then what Steward may know."""
    page.get_by_placeholder("Enter any login").fill(login)
    page.get_by_placeholder("and password").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()


def test_a_group_at_the_provider_gives_a_role_here(
    site: Site, openid: OpenIdProvider, open_desk: Callable[..., Desk]
) -> None:
    owner = open_desk().page
    owner.goto(site.sign_in)
    expect(owner.get_by_role("heading", level=1)).to_have_text("Demo: customer data")
    set_up(owner, openid)

    openid.tell(groups={"ada": ["finance"]})
    page = open_desk().page
    # The provider's own pages would fetch a font from the internet.
    page.context.route(
        lambda url: "127.0.0.1" not in url,
        lambda route: route.fulfill(body="", content_type="text/css"),
    )
    page.goto(site.url)
    page.get_by_role("link", name="Sign in with Acme").click()
    sign_in_there(page, "ada")
    expect(page.get_by_role("heading", level=1)).to_have_text("Demo: customer data")
    owner.get_by_role("navigation", name="Pages").get_by_role("link", name="Members").click()
    row = owner.get_by_role("row").filter(has_text="ada@acme.example")
    expect(row.get_by_role("combobox")).to_have_value("Viewer")

    # Signing out at the provider signs out here.
    page.goto(f"{openid.issuer}/session/end")
    page.get_by_role("button", name="Yes, sign me out").click()
    page.get_by_text("Sign-out Success").wait_for()
    page.goto(site.url)
    expect(page.get_by_role("link", name="Sign in with Acme")).to_be_visible()

    # The group is gone: the next sign-in takes the role away and says so.
    openid.tell(groups={"ada": []})
    page.get_by_role("link", name="Sign in with Acme").click()
    sign_in_there(page, "ada")
    expect(page.get_by_role("alert")).to_contain_text("you have no access here")
    expect(row).to_have_count(0)
