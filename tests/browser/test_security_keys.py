"""Security keys in a real browser, with an authenticator that Chromium emulates."""

from pathlib import Path
from urllib.parse import parse_qsl

import pyotp
import pytest
from playwright.sync_api import Page, Request, expect

from tests.app.pages.test_second_factor import STEP, send_password
from tests.browser.axe import check
from tests.support.browsing import from_here, token_of
from tests.support.factories import PASSWORD, make_user
from tests.support.processes import free_port
from tests.support.services import make_tables
from tests.support.site import serving
from vocboard.app.accounts import second_factor
from vocboard.app.accounts.models import SecurityKey
from vocboard.app.database import now
from vocboard.app.settings import Settings

pytestmark = pytest.mark.browser

PAGE = "/account/second-factor"
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "usb",
    "hasResidentKey": False,
    "hasUserVerification": False,
    "automaticPresenceSimulation": True,
}


def sign_in(page: Page, here: str, email: str) -> None:
    page.goto(f"{here}/sign-in?next={PAGE}")
    page.get_by_label("Email address").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Enter a code")).to_be_visible()


@pytest.mark.usefixtures("browser_errors")
def test_a_security_key_stands_for_the_code_once_and_for_its_owner(page: Page, tmp_path: Path) -> None:
    port = free_port()
    here = f"http://localhost:{port}"  # an address has no keys
    settings = Settings(data_directory=tmp_path / "data", public_url=here)
    make_tables(settings)
    browser = page.context.new_cdp_session(page)
    browser.send("WebAuthn.enable")
    made = browser.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request) if request.method == "POST" else None)
    with serving(settings, port) as site:
        with site.writing() as session:
            user = make_user(session)
            second_factor.begin(session, user=user, settings=settings)
            found = second_factor.state(session, user)
            assert found is not None
            app = pyotp.TOTP(second_factor.app_key(found, server_key="") or "")
            code = app.at(now() - STEP)
            second_factor.confirm(session, user=user, code=code, keep=None, settings=settings)
            email = user.email
        sign_in(page, here, email)
        expect(page.get_by_role("button", name="Use a security key")).to_have_count(0)
        page.get_by_label("Code").fill(app.at(now()))
        page.get_by_role("button", name="Sign in").click()
        keys = page.locator("section", has=page.get_by_role("heading", name="Security keys"))
        keys.get_by_label("Password").fill(PASSWORD)
        keys.get_by_role("button", name="Add a key").click()
        keys.get_by_label("Name of the key").fill("Blue key")
        keys.get_by_role("button", name="Use the key now").click()
        expect(page.get_by_text("Security key added")).to_be_visible()
        expect(keys.get_by_text("Blue key: added")).to_be_visible()
        check(page)
        page.context.clear_cookies()
        sign_in(page, here, email)
        check(page)
        page.get_by_role("button", name="Use a security key").click()
        expect(keys.get_by_text("last used")).to_be_visible()
        # What was sent does not sign in again, nor somebody else.
        answer = dict(parse_qsl(sent[-1].post_data or ""))
        assert answer["key"]
        with site.client() as other:
            send_password(other, email)
            form = other.get("/sign-in/code")
            replayed = {**answer, "csrf_token": token_of(form)}
            refused = other.post("/sign-in/code", data=replayed, headers=from_here(other))
            assert (refused.status_code, "was not accepted" in refused.text) == (422, True)
            assert other.get("/account").status_code == 303
        # A key that does not answer is no way in, and it goes with the second factor.
        browser.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": made["authenticatorId"]})
        keys.get_by_label("Password").fill(PASSWORD)
        keys.get_by_role("button", name="Remove the key").click()
        expect(page.get_by_text("Security key removed.")).to_be_visible()
        with site.database.reading() as session:
            assert session.query(SecurityKey).count() == 0
