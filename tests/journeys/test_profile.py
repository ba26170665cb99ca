"""A person protects their account: a password, then a second step, and the way back in."""

import base64
import re
import time
from collections.abc import Callable
from dataclasses import replace

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
    secret = section.get_by_label("Key", exact=True).input_value()
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


def test_an_organisation_requires_the_second_step(site: Site, open_desk: OpenDesk) -> None:
    page = sign_in(open_desk(), site)
    page.goto(f"{site.url}/profile")
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Set password").click()
    secret = set_up(page)
    page.get_by_role("button", name="I have kept them").click()
    page.goto(f"{site.url}/")
    expect(page).to_have_url(re.compile("/p/prj_"))
    page.goto(f"{page.url.rstrip('/')}/settings/second-step")
    expect(page.get_by_text("Everyone who signs in with a password has")).to_be_visible()
    page.get_by_role("button", name="Require two-step sign-in").click()
    expect(page.get_by_text("Required since")).to_be_visible()
    check_accessible(page)
    # Without it, nothing else is open: neither what was, nor another address.
    page.goto(f"{site.url}/profile")
    page.get_by_role("button", name="Turn off").click()
    page.get_by_label("Code").fill(code_of(secret, 1))
    page.get_by_role("button", name="Turn off").click()
    expect(page.get_by_role("heading", name="Set up your second step")).to_be_visible()
    page.goto(f"{site.url}/profile")
    expect(page.get_by_role("heading", name="Set up your second step")).to_be_visible()
    check_accessible(page)
    set_up(page)
    page.get_by_role("link", name="Continue to Steward").click()
    expect(page).to_have_url(re.compile("/profile"))
    expect(page.get_by_text("Recovery codes left: 10")).to_be_visible()


def set_up(page: Page) -> str:
    page.get_by_label("Current password").last.fill(PASSWORD)
    page.get_by_role("button", name="Set up two-step sign-in").click()
    secret = page.get_by_label("Key", exact=True).input_value()
    page.get_by_label("Code").fill(code_of(secret))
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_text("Keep these recovery codes")).to_be_visible()
    return secret


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


def test_a_passkey(site: Site, open_desk: OpenDesk) -> None:
    """The browser's own authenticator, in software: it holds passkeys and always finds the right finger."""
    # Browsers know passkeys for names only.
    here = replace(
        site,
        url=site.url.replace("127.0.0.1", "localhost"),
        sign_in=site.sign_in.replace("127.0.0.1", "localhost"),
    )
    desk = open_desk()
    devices = desk.context.new_cdp_session(desk.page)
    devices.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
    }
    device = devices.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    page = sign_in(desk, here)
    page.goto(f"{here.url}/profile")
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Set password").click()
    section = page.get_by_role("region", name="Passkeys")
    section.get_by_role("button", name="Add a passkey").click()
    section.get_by_label("Name of the passkey").fill("Laptop")
    section.get_by_label("Your password").fill("not this one")
    check_accessible(page)
    section.get_by_role("button", name="Continue").click()
    expect(section.get_by_text("The current password is not right.")).to_be_visible()
    section.get_by_label("Your password").fill(PASSWORD)
    section.get_by_role("button", name="Continue").click()
    expect(section.get_by_text("not used yet")).to_be_visible()
    # A device holds one for an account.
    section.get_by_role("button", name="Add a passkey").click()
    section.get_by_label("Your password").fill(PASSWORD)
    section.get_by_role("button", name="Continue").click()
    expect(section.get_by_text("already holds a passkey")).to_be_visible()
    # Signed out, it is all that is needed; also where two steps are required.
    desk.context.clear_cookies()
    here.steward("user", "require-two-step", "--on")
    page.goto(f"{here.url}/sign-in")
    check_accessible(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page).to_have_url(re.compile("/p/prj_"))
    page.goto(f"{here.url}/profile")
    expect(section.get_by_text("last used")).to_be_visible()
    assert "Laptop" in here.steward("user", "passkeys", "owner@localhost")
    # A password alone opens nothing; from there, the passkey does.
    desk.context.clear_cookies()
    page.goto(f"{here.url}/sign-in")
    page.get_by_label("E-mail").fill("owner@localhost")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_text("You have a passkey")).to_be_visible()
    check_accessible(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page).to_have_url(re.compile("/p/prj_"))
    # Removed, it is due to set up another second step, and the device's key is worth nothing.
    page.goto(f"{here.url}/profile")
    section.get_by_role("button", name="Remove Laptop").click()
    section.get_by_role("button", name="Remove “Laptop”").click()
    expect(page.get_by_role("heading", name="Set up your second step")).to_be_visible()
    check_accessible(page)
    desk.context.clear_cookies()
    page.goto(f"{here.url}/sign-in")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("Steward does not know this passkey")).to_be_visible()
    devices.send("WebAuthn.removeVirtualAuthenticator", device)
