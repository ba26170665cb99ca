"""A person protects their account: a password, then a second step, and the way back in."""

import base64
import re
import time
from collections.abc import Callable

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from playwright.sync_api import Page, expect

from tests.journeys.conftest import Desk, Site
from tests.journeys.test_data import check_accessible
from tests.journeys.test_first_steps import sign_in

OpenDesk = Callable[..., Desk]

PASSWORD = "correct horse battery"


def code_of(secret: str, steps: int = 0) -> str:
    """What an app on a phone shows."""
    key = base64.b32decode(secret)
    return TOTP(key, 6, SHA1(), 30).generate(int(time.time()) + 30 * steps).decode()


def test_two_step_sign_in(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    page.goto(f"{site.url}/profile")
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Set password").click()
    section = page.get_by_role("region", name="Two-step sign-in")
    section.get_by_label("Current password").fill("not this one")
    section.get_by_role("button", name="Set up two-step sign-in").click()
    expect(section.get_by_text("The current password is not right.")).to_be_visible()
    section.get_by_label("Current password").fill(PASSWORD)
    section.get_by_role("button", name="Set up two-step sign-in").click()
    expect(section.get_by_role("img", name=re.compile("QR code"))).to_be_visible()
    check_accessible(page)
    secret = section.get_by_label("Key").input_value()
    section.get_by_label("Code").fill("000000")
    section.get_by_role("button", name="Turn on").click()
    expect(section.get_by_text("This code is not right")).to_be_visible()
    section.get_by_label("Code").fill(code_of(secret))
    section.get_by_role("button", name="Turn on").click()
    expect(section.get_by_text("Keep these recovery codes")).to_be_visible()
    check_accessible(page)
    recovery = section.locator("pre").inner_text().split()
    assert len(recovery) == 10
    section.get_by_role("button", name="I have kept them").click()
    expect(section.get_by_text("Recovery codes left: 10")).to_be_visible()
    come_back(open_desk().page, site, code_of(secret, 1))
    back = come_back(open_desk().page, site, recovery[0])
    back.goto(f"{site.url}/profile")
    section = back.get_by_role("region", name="Two-step sign-in")
    expect(section.get_by_text("Recovery codes left: 9")).to_be_visible()
    section.get_by_role("button", name="Turn off").click()
    section.get_by_label("Code").fill(recovery[1])
    section.get_by_role("button", name="Turn off").click()
    expect(section.get_by_role("button", name="Set up two-step sign-in")).to_be_visible()


def come_back(page: Page, site: Site, code: str) -> Page:
    """In another browser, with password and code."""
    page.goto(f"{site.url}/sign-in")
    page.get_by_label("E-mail").fill("owner@localhost")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Code").fill(code)
    check_accessible(page)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile("/p/prj_"))
    return page
