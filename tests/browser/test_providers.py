"""Signing in with OpenID Connect in a real browser, which a real provider sends back."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import check
from tests.support.processes import free_port
from tests.support.provider import PASSWORD, running_provider
from tests.support.services import make_tables
from tests.support.site import serving
from vocboard.app.settings import Settings

pytestmark = pytest.mark.browser


@pytest.mark.usefixtures("browser_errors")
def test_a_newcomer_registers_with_an_institution(page: Page, tmp_path: Path) -> None:
    port = free_port()
    with running_provider() as provider:
        settings = Settings(
            data_directory=tmp_path / "data",
            public_url=f"http://127.0.0.1:{port}",
            oidc_providers=provider.setting(),
        )
        make_tables(settings)
        with serving(settings, port) as site:
            page.goto(f"{site.url}/account")
            page.get_by_role("link", name="Example University").click()
            page.get_by_label("Username").fill("ada")
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_role("heading", name="Finish signing in")).to_be_visible()
            check(page)  # the others are among the visits of test_accessibility.py
            page.get_by_role("button", name="Create account").click()
            expect(page.get_by_text("Your account is ready")).to_be_visible()
            expect(page.get_by_role("heading", name="Account", exact=True)).to_be_visible()
            page.get_by_role("link", name="Change of the other ways to sign in").click()
            expect(page.get_by_role("heading", name="Linked")).to_be_visible()
            # The second time, the provider knows the browser.
            page.get_by_role("button", name="Sign out").first.click()
            page.get_by_role("link", name="Example University").click()
            expect(page.get_by_role("heading", name="Challenges")).to_be_visible()
            expect(page.get_by_role("button", name="Sign out")).to_be_visible()
