"""The main pages by keyboard alone: everything in its order, nothing trapped, nothing under what is fixed."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Exhibition

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]

BOARD = "/challenges/voc2012/leaderboards/comp3"
REPORT = "/organise/harbour/rescores/{rescore_rules}"
ARCHIVE = "/organise/voc2012/archive"
# How many stops are walked at most, which is to the end.
PAGES = {
    "/": ("visitor", 200),
    "/challenges/voc2012/leaderboards/comp1?method={of_few}": ("visitor", 200),
    BOARD + "/compare?method={published}&class=dog": ("visitor", 200),
    "/challenges/voc2007/submit": ("participant", 200),
    "/submissions/{scored}?competition=comp3": ("participant", 200),
    REPORT: ("organiser", 200),
    "/organise/new": ("organiser", 200),
}
STOPS = """() => [...document.querySelectorAll(
    "a[href]:not([tabindex='-1']), button, input, select, textarea, summary, [tabindex='0']"
  )]
  .filter((element) => element.checkVisibility() && !element.disabled && element.type !== "hidden")
  .map((element, number) => (element.dataset.stop = number)).length"""
# Which stop has the focus, and what is over its middle, if that is something else.
FOCUSED = """() => {
  const element = document.activeElement;
  const box = element.getBoundingClientRect();
  if (box.height > innerHeight / 2) return { stop: Number(element.dataset.stop), over: null };  // a region that scrolls
  const [x, y] = [box.x + Math.min(box.width / 2, 40), box.y + box.height / 2];
  const top = document.elementFromPoint(x, y);
  const own = [element, ...(element.labels ?? [])].some((each) => each.contains(top) || top?.contains(each));
  const over = own ? null : (top?.outerHTML ?? "outside of the window").slice(0, 150);
  return { stop: Number(element.dataset.stop), over };
}"""


@pytest.mark.parametrize(("path", "who", "most"), [(path, *given) for path, given in PAGES.items()])
def test_tab_reaches_everything_in_order_and_in_sight(
    page: Page, exhibition: Exhibition, path: str, who: str, most: int
) -> None:
    if who != "visitor":
        page.context.add_cookies(exhibition.cookies(who))
    page.goto(exhibition.url + exhibition.gallery.address(path))
    stops = page.evaluate(STOPS)
    covered = []
    for expected in range(min(stops, most)):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUSED)
        assert found["stop"] == expected, (found, page.evaluate("() => document.activeElement.outerHTML"))
        if found["over"]:
            covered.append(page.evaluate("() => document.activeElement.outerHTML.slice(0, 150)") + found["over"])
    assert covered == []


def test_escape_closes_what_has_opened_and_returns_the_focus(page: Page, exhibition: Exhibition) -> None:
    page.context.add_cookies(exhibition.cookies("organiser"))
    for path, button, content in (
        (BOARD, "Download", "HTML for another page"),
        (ARCHIVE, "Archive challenge", "Nobody can submit to"),
    ):
        page.goto(exhibition.url + exhibition.gallery.address(path))
        opener = page.locator("summary", has_text=button)
        opener.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text(content)).to_be_visible()
        page.keyboard.press("Tab")
        expect(opener).not_to_be_focused()
        page.keyboard.press("Escape")
        expect(page.get_by_text(content)).to_be_hidden()
        expect(opener).to_be_focused()


def test_the_errors_of_a_form_have_the_focus_and_are_in_sight(page: Page, exhibition: Exhibition) -> None:
    page.context.add_cookies(exhibition.cookies("participant"))
    page.goto(exhibition.url + "/account")
    page.get_by_label("Label").fill("cluster")
    page.locator("#password").fill("not my password")
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_role("alert")).to_be_in_viewport()
