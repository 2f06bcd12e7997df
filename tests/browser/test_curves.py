"""The plot of a submission's curves."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Exhibition

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]

CHOSEN = "boxes => boxes.filter((box) => box.checked).map((box) => box.value)"


def test_the_chosen_curves_are_drawn_and_survive_a_reload_and_the_way_back(page: Page, exhibition: Exhibition) -> None:
    page.context.add_cookies(exhibition.cookies("participant"))
    page.goto(f"{exhibition.url}/submissions/{exhibition.gallery.submissions['scored']}?competition=comp3")
    boxes, legend = page.locator("[name=curve]"), page.locator(".curve-plot .chips li")
    expect(legend).to_have_text(["aeroplane"])
    for name in ("cat", "dog"):
        page.locator(f"[name=curve][value={name}]").check()
    expect(legend).to_have_text(["aeroplane", "cat", "dog"])
    expect(page.locator(".curve-plot polyline").first).to_be_visible()
    colours = page.locator(".curve-plot g[class^=s] polyline").evaluate_all(
        "all => all.map(one => getComputedStyle(one).stroke)"
    )
    assert len(set(colours)) == 3
    address, chosen = page.url, ["aeroplane", "cat", "dog"]
    page.reload()
    expect(legend).to_have_text(chosen)
    assert boxes.evaluate_all(CHOSEN) == chosen
    page.get_by_role("link", name="Account").click()
    page.go_back()
    assert page.url == address
    assert boxes.evaluate_all(CHOSEN) == chosen
