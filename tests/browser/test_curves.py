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
# The first two points of all curves are at the highest precision shown: counts each line's pixels between them.
LINES_SEEN = f"""() => {{
  const chart = {CHART};
  const [from, to] = chart.getDatasetMeta(0).data.map((point) => point.getProps(["x", "y"], true));
  const scale = chart.currentDevicePixelRatio;
  const context = chart.canvas.getContext("2d");
  const {{ data }} = context.getImageData(from.x * scale, Math.round(from.y * scale), (to.x - from.x) * scale, 1);
  return chart.data.datasets.map(({{ borderColor }}) => {{
    const colour = borderColor.match(/[0-9a-f]{{2}}/g).map((part) => Number.parseInt(part, 16));
    let count = 0;
    for (let at = 0; at < data.length; at += 4) {{
      if (colour.every((value, channel) => Math.abs(value - data[at + channel]) < 40)) count += 1;
    }}
    return count;
  }});
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


def test_lines_that_share_a_stretch_are_all_seen_there(curves: Page) -> None:
    for name in ("bicycle", "bus", "car"):
        curves.locator(f"[data-curve={name}]").check()
    curves.locator("[data-curve=aeroplane]").uncheck()
    curves.wait_for_function(f"() => {CHART}?.data.datasets.map(({{ label }}) => label).join() === 'bicycle,bus,car'")
    seen = curves.evaluate(LINES_SEEN)
    assert min(seen) >= 5, seen  # pixels of each line's colour


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
