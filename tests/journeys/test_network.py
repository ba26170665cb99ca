"""An admin says which places the project may call, tries a host, saves, and takes it back."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import check_accessible
from tests.journeys.test_first_steps import sign_in


def test_the_network_policy_of_a_project(site: Site, open_desk: Callable[..., Desk]) -> None:
    page = sign_in(open_desk(), site)
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Settings").click()
    page.get_by_role("region", name="Network").get_by_role("link", name="Open").click()
    expect(page.get_by_role("heading", level=1, name="Network")).to_be_visible()
    project = page.get_by_role("region", name="This project")
    expect(project.get_by_role("button", name="Save")).to_be_disabled()
    project.get_by_label("Only the places listed here").check()
    project.get_by_label("Allowed").fill("*.example.com:443")
    project.get_by_label("Try a host or an address").fill("api.example.net")
    project.get_by_role("button", name="Try").click()
    expect(project.get_by_role("status")).to_contain_text("no rule in the network policy")
    check_accessible(page)
    project.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Network policy saved")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("The rules are as before")).to_be_visible()
    expect(project.get_by_label("All places, except those denied below")).to_be_checked()
