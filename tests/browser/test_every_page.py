"""What holds of every page: no sideways scrolling, no errors in the browser, keyboard, screen reader, zoom, print."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect

from tests.browser.conftest import Exhibition, SignIn
from tests.browser.visits import EMBEDDED, REFUSED_FORMS, VISITS, Visit

pytestmark = pytest.mark.browser

TELEPHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1280, "height": 800}
ENLARGED: ViewportSize = {"width": 640, "height": 400}  # the desk at 200 per cent
MOST_BYTES = 300_000


TOO_WIDE = """() => {
  const wide = [];
  if (document.documentElement.scrollWidth > innerWidth) {
    for (const element of document.querySelectorAll("body *")) {
      if (element.getBoundingClientRect().right > innerWidth + 1) wide.push(element.tagName + "." + element.className);
    }
  }
  const menu = document.querySelector(".fascia-inner");
  if (menu?.scrollWidth > menu?.clientWidth) wide.push("the menu");
  return wide;
}"""
NAMELESS = """() => [...document.querySelectorAll("input:not([type=hidden]), select, textarea, button, a[href]")]
  .filter((element) => element.checkVisibility())
  .filter((element) => !(element.labels?.length || element.ariaLabel || element.title || element.textContent.trim()))
  .map((element) => element.outerHTML)"""
OUTLINE = """() => [...document.querySelectorAll("h1, h2, h3, h4")]
  .filter((heading) => heading.checkVisibility()).map((heading) => Number(heading.tagName[1]))"""

SIZE = "() => performance.getEntriesByType('navigation')[0].decodedBodySize"
# After the Tab key, the browser shows where the focus is as for a keyboard. One of each kind is looked at.
INVISIBLE_FOCUS = """() => {
  const kinds = new Map();
  for (const element of document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")) {
    if (!element.checkVisibility() || element.disabled || element.tabIndex < 0 || element.type === "hidden") continue;
    const within = element.closest("nav, table, form")?.className;
    kinds.set([element.tagName, element.className, element.type, within].join(), element);
  }
  const drawn = (element) => {
    const style = getComputedStyle(element);
    return [style.outlineStyle === "none" ? "" : style.outline, style.boxShadow].join();
  };
  const found = [];
  for (const element of kinds.values()) {
    const around = [element, ...(element.labels ?? []), element.parentElement];
    document.activeElement.blur();
    const before = around.map(drawn);
    element.focus({ preventScroll: true });
    if (document.activeElement !== element) continue;
    if (around.every((each, place) => drawn(each) === before[place])) found.push(element.outerHTML.slice(0, 200));
  }
  if (document.querySelector("[tabindex]:not([tabindex='0'], [tabindex='-1'])")) found.push("tabindex above 0");
  return found;
}"""
PRINTED = """() => ({
  heading: document.querySelector("h1").checkVisibility(),
  menu: document.querySelector(".fascia, .foot")?.checkVisibility() ?? false,
  // Within the paper: A4 without margins of 10 mm, across where a leaderboard or a comparison is.
  wide: [...document.querySelectorAll("main *")].filter((each) => each.checkVisibility() && !each.closest("svg"))
    .filter((each) => each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML.slice(0, 100)),
  over: [...document.querySelectorAll("main *")].filter((each) => each.checkVisibility())
    .filter((each) => /sticky|fixed/.test(getComputedStyle(each).position) && getComputedStyle(each).bottom !== "auto")
    .map((each) => each.outerHTML.slice(0, 100)),
  // What is a grid is broken after its headings, or not at all.
  grids: [...document.querySelectorAll("form :is(.stack, .panel)")].filter((each) => each.checkVisibility())
    .filter((each) => getComputedStyle(each).display !== "block").map((each) => each.outerHTML.slice(0, 100)),
  cut: [...document.querySelectorAll(".scroll")].filter((box) => box.checkVisibility())
    .filter((box) => box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible")
    .map((box) => box.outerHTML.slice(0, 100)),
})"""


@pytest.mark.parametrize("visit", [*VISITS, *REFUSED_FORMS], ids=str)
def test_page_is_in_order(visited: Page, visit: Visit) -> None:
    assert visited.evaluate(SIZE) < MOST_BYTES
    for size in (DESK, ENLARGED, TELEPHONE):
        visited.set_viewport_size(size)  # type: ignore[arg-type]
        assert visited.evaluate(TOO_WIDE) == [], f"wider than {size['width']} pixels"
    assert visited.evaluate(NAMELESS) == []
    if visit.path.startswith("/api/"):
        return
    outline = visited.evaluate(OUTLINE)
    assert outline.count(1) == 1
    assert outline[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(outline)), outline
    for landmark in ("banner", "main", "contentinfo"):
        expect(visited.get_by_role(landmark)).to_have_count(1)  # type: ignore[arg-type]
    ids = visited.evaluate("() => [...document.querySelectorAll('[id]')].map((element) => element.id)")
    assert len(ids) == len(set(ids))
    visited.set_viewport_size(DESK)  # type: ignore[arg-type]
    visited.keyboard.press("Tab")
    assert visited.evaluate(INVISIBLE_FOCUS) == []
    visited.emulate_media(media="print")
    across = visited.locator(".board, .compare").count() > 0
    visited.set_viewport_size({"width": 1047 if across else 718, "height": 718 if across else 1047})
    found = {"wide": [], "over": [], "grids": [], "cut": []}
    assert visited.evaluate(PRINTED) == {"heading": True, "menu": False, **found}


PRINTED_TABLES = [Visit("organiser", "/organise/voc2012/submissions"), Visit("organiser", "/organise/voc2012/entrants")]


@pytest.mark.parametrize("visit", PRINTED_TABLES, ids=str)
def test_organisers_print_every_column_and_no_controls(visited: Page) -> None:
    visited.set_viewport_size({"width": 718, "height": 1_000})  # A4 without its margins
    visited.emulate_media(media="print")
    table = visited.locator(".list").evaluate("(table) => table.getBoundingClientRect().right")
    assert table <= 718
    for control in visited.locator("main :is(input, select, button, summary)").all():
        expect(control).to_be_hidden()


# How many lines the text of each of some elements takes.
LINES = """(elements) => elements.map((element) => {
  const range = document.createRange();
  range.selectNodeContents(element);
  return new Set([...range.getClientRects()].map((one) => Math.round(one.top))).size;
})"""
ON_ONE_LINE = [
    (Visit("administrator", "/organise/log"), DESK, ".list td time"),  # beside an event of several lines
    (EMBEDDED[0], DESK, "p a"),
    (Visit("organiser", "/organise/doubtful"), TELEPHONE, ".file-name .path-part"),
]


@pytest.mark.parametrize(("visit", "size", "selector"), ON_ONE_LINE, ids=str)
def test_what_belongs_together_is_on_one_line(visited: Page, size: ViewportSize, selector: str) -> None:
    visited.set_viewport_size(size)
    lines = visited.locator(selector).evaluate_all(LINES)
    assert set(lines) == {1}, lines


@pytest.mark.parametrize("visit", [Visit("organiser", "/organise/doubtful"), REFUSED_FORMS[-1]], ids=str)
def test_the_name_of_a_file_with_problems_is_as_large_on_every_page(visited: Page) -> None:
    expect(visited.locator(".file-name")).to_have_css("font-size", "13px")


@pytest.mark.usefixtures("browser_errors")
def test_first_tab_offers_to_skip_to_the_content(page: Page, exhibition: Exhibition) -> None:
    page.goto(exhibition.url)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()


@pytest.mark.usefixtures("browser_errors")
def test_colours_follow_the_choice_and_stay_chosen(page: Page, exhibition: Exhibition) -> None:
    background = "() => getComputedStyle(document.documentElement).backgroundColor"
    page.emulate_media(color_scheme="light")
    page.goto(exhibition.url)
    light = page.evaluate(background)
    button = page.get_by_role("button", name="Colours")
    button.click()
    assert page.evaluate(background) == light
    button.click()
    dark = page.evaluate(background)
    assert dark != light
    page.goto(f"{exhibition.url}/sign-in")
    assert page.evaluate(background) == dark


@pytest.mark.usefixtures("browser_errors")
def test_times_are_the_readers_own_with_utc(
    exhibition: Exhibition, browser_context: BrowserContext, sign_in: SignIn
) -> None:
    browser = browser_context.browser
    assert browser is not None
    elsewhere = browser.new_context(timezone_id="Asia/Tokyo", locale="en-GB")
    page = elsewhere.new_page()
    page.goto(f"{exhibition.url}/challenges/voc2012")
    time = page.locator("time").first
    expect(time.locator(".utc")).to_contain_text("UTC")
    expect(time).to_contain_text("GMT+9")
    instant = datetime.fromisoformat(time.get_attribute("datetime") or "")
    assert f"{instant.astimezone(UTC):%H:%M} UTC" in time.locator(".utc").inner_text()
    assert f"{instant.astimezone(timezone(timedelta(hours=9))):%H:%M} GMT+9" in time.inner_text()
    # Organisers type dates in UTC, or anywhere on Earth, and see their own time beside them.
    sign_in(page, exhibition.gallery.organiser)
    page.goto(f"{exhibition.url}/organise/new")
    page.get_by_text("Dates, rules and leaderboards").click()
    opens, hint = page.locator("#opens_at"), page.locator("#opens_at-local")
    expect(hint).to_be_hidden()
    opens.fill("2026-05-01T20:30")
    expect(hint).to_have_text("Your time: 2 May 2026, 05:30 GMT+9")
    page.get_by_label("Anywhere on Earth").check()
    expect(hint).to_have_text("Your time: 2 May 2026, 17:30 GMT+9")
    assert hint.get_attribute("id") in (opens.get_attribute("aria-describedby") or "").split()
    opens.fill("")
    expect(hint).to_be_hidden()
    elsewhere.close()


@pytest.mark.usefixtures("browser_errors")
def test_pages_work_without_scripts(exhibition: Exhibition, browser_context: BrowserContext, sign_in: SignIn) -> None:
    browser = browser_context.browser
    assert browser is not None
    plain = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 800})
    page = plain.new_page()
    page.goto(exhibition.url)
    sign_in(page, exhibition.gallery.participant)
    page.goto(f"{exhibition.url}/submissions/{exhibition.gallery.submissions['scored']}?competition=comp3")
    expect(page.get_by_role("table", name="Scores by class")).to_be_visible()
    expect(page.locator(".curve .line").first).to_be_visible()
    expect(page.locator("[data-curve]").first).to_be_hidden()
    page.goto(f"{exhibition.url}/challenges/voc2012/leaderboards/comp3")
    page.get_by_role("link", name="sheep").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("sheep")
    for path, button, confirmed in (
        ("/", None, "Submit results"),
        ("/challenges/voc2012", None, "Submit results"),
        ("/challenges/voc2007/submit", None, "Upload and check"),
        ("/submissions/{scored}", "Publish some", "Publish some"),
        ("/submissions/{scored}/withdraw", None, "Withdraw permanently"),
        ("/account", None, "Create token"),
    ):
        page.goto(exhibition.url + exhibition.gallery.address(path))
        if button:
            page.locator("summary", has_text=button).click()
            expect(page.get_by_role("group", name="Competitions")).to_be_visible()
        expect(page.locator("a.button, button.button").filter(has_text=confirmed, visible=True).first).to_be_visible()
        expect(page.locator("button[type=button]").filter(visible=True)).to_have_count(0)  # they do nothing
    plain.close()
