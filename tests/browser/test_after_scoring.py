"""A scored result without a mouse: signing in on the way to it, publishing a part, the anonymous link, withdrawing."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.gallery import Gallery
from tests.support.factories import PASSWORD
from tests.support.site import Site

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]


def press(page: Page, key: str, control: Locator) -> None:
    """Go to a control by Tab, and press a key there."""
    for _ in range(200):
        if control.evaluate("(element) => element === document.activeElement"):
            page.keyboard.press(key)
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {control}")


def test_a_result_is_shared_and_withdrawn_by_keyboard(gallery_site: Site, gallery: Gallery, page: Page) -> None:
    path = f"/submissions/{gallery.submissions['scored']}"
    page.goto(gallery_site.url + path)
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found")  # private
    press(page, "Enter", page.get_by_role("main").get_by_role("link", name="Sign in"))
    page.get_by_label("Email address").fill(gallery.participant)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(gallery_site.url + path)  # back where one was
    expect(page.get_by_role("link", name="Account")).to_be_visible()

    press(page, "Enter", page.locator("summary", has_text="Publish some"))
    press(page, "Space", page.get_by_role("checkbox", name="comp1"))
    press(page, "Enter", page.get_by_role("button", name="Publish some"))
    expect(page.get_by_role("status").filter(has_text="Published")).to_be_visible()

    press(page, "Enter", page.get_by_role("button", name="Create new link"))
    anonymous = page.locator("#anonymous-address").inner_text()
    page.reload()
    expect(page.locator("#anonymous-address")).to_have_count(0)  # shown once
    address = gallery_site.url + anonymous[anonymous.index("/anonymous/") :]  # the site is at a port of its own
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_have_text("Anonymous result")  # the reload has not revoked it
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Own method, scored")

    press(page, "Enter", page.get_by_role("link", name="Withdraw"))
    expect(page.get_by_role("main")).to_contain_text("Its anonymous link stops working.")
    press(page, "Enter", page.get_by_role("button", name="Withdraw permanently"))
    expect(page.get_by_role("main")).to_contain_text("It does not count and cannot be published.")
    expect(page.get_by_role("table", name="Scores by class")).to_have_count(0)
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
    expect(page.get_by_role("link", name="Account")).to_be_visible()  # error pages know who is signed in
