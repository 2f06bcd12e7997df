"""The API's documentation works under the site's own content security policy."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import check
from tests.browser.exhibition import Exhibition

pytestmark = pytest.mark.browser


def test_operations_can_be_read_and_tried(page: Page, exhibition: Exhibition) -> None:
    browser_errors: list[str] = []
    page.on("console", lambda message: browser_errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: browser_errors.append(str(error)))
    page.emulate_media(color_scheme="dark")
    page.goto(f"{exhibition.url}/api/docs")
    expect(page.locator("#operations-tag-account")).to_be_visible()
    subjects = page.locator("[id^=operations-tag-]")
    for subject in (subjects.first, subjects.last):
        subject.click()
        expect(subject.locator("xpath=..").locator(".opblock").first).to_be_visible()
        subject.click()
    page.locator("#operations-tag-account").click()
    operation = page.locator("#operations-account-me")
    expect(operation).to_contain_text("/api/v1/me")
    check(page)
    for scheme in ("light", "dark"):  # the page follows the system without being loaded again
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        expect(page.locator("html")).to_have_attribute("data-theme", scheme)
    operation.click()
    expect(operation).to_contain_text("owner and the scopes")
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    expect(operation).to_contain_text("not_signed_in")
    assert [text for text in browser_errors if "401" not in text] == []
    page.get_by_role("link", name="Documentation").click()
    expect(page.get_by_role("heading", name="Documentation", exact=True)).to_be_visible()
