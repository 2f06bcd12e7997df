"""The plot of a submission's curves."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Exhibition

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]

CHART = "Chart.getChart(document.querySelector('[data-plot] canvas'))"
READ_OUT = f"""() => {{
  const {{ tooltip, chartArea }} = {CHART};
  return {{ shown: tooltip.opacity, font: tooltip.options.bodyFont.family, left: tooltip.caretX - chartArea.left,
    bottom: chartArea.bottom - tooltip.caretY }};
}}"""


@pytest.fixture
def curves(page: Page, exhibition: Exhibition) -> Page:
    page.context.add_cookies(exhibition.cookies("participant"))
    page.goto(f"{exhibition.url}/submissions/{exhibition.gallery.submissions['scored']}?competition=comp3")
    expect(page.locator("[data-plot]")).to_be_visible()
    return page


def test_values_are_read_out_in_the_font_of_the_page_and_beside_the_lines(curves: Page) -> None:
    curves.locator("[data-plot] canvas").hover()
    found = curves.evaluate(READ_OUT)
    assert found["shown"] > 0
    assert "Plex" in found["font"]
    assert found["left"] == pytest.approx(4, abs=1)  # in the corner
    assert found["bottom"] == pytest.approx(4, abs=1)


def test_the_chosen_classes_survive_a_reload_and_the_way_back(curves: Page) -> None:
    for name in ("cat", "dog"):
        curves.locator(f"[data-curve={name}]").check()
    address, chosen = curves.url, ["aeroplane", "cat", "dog"]
    which = "boxes => boxes.filter((box) => box.checked).map((box) => box.dataset.curve)"
    curves.reload()
    assert curves.locator("[data-curve]").evaluate_all(which) == chosen
    curves.get_by_role("link", name="Account").click()
    curves.go_back()
    assert curves.url == address
    assert curves.locator("[data-curve]").evaluate_all(which) == chosen
