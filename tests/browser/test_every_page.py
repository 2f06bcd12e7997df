"""What holds of some pages or of all: print, lines, the way to the content, colours, times, no scripts."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect

from tests.browser.conftest import Exhibition
from tests.browser.layout import DESK, TELEPHONE, TOO_WIDE
from tests.browser.visits import EMBEDDED, REFUSED_FORMS, Visit

pytestmark = pytest.mark.browser

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


@pytest.mark.parametrize("visit", [Visit("organiser", "/organise")], ids=str)
def test_the_menu_of_organisers_fits_into_a_narrow_window(visited: Page) -> None:
    visited.set_viewport_size({"width": 375, "height": 667})
    assert visited.evaluate(TOO_WIDE) == []


@pytest.mark.parametrize("visit", [Visit("visitor", "/methods/{published_method}")], ids=str)
def test_a_button_that_copies_has_its_name_again_after_two_clicks(visited: Page) -> None:
    visited.clock.install()
    visited.locator("summary", has_text="Cite").click()
    button = visited.locator("[data-copy=bibtex]")
    button.click()
    expect(button).not_to_have_text("Copy BibTeX")
    button.click()
    visited.clock.run_for(2_200)
    expect(button).to_have_text("Copy BibTeX")


@pytest.mark.usefixtures("browser_errors")
def test_first_tab_offers_to_skip_to_the_content(page: Page, exhibition: Exhibition) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(exhibition.url)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="vocboard")).to_have_css("outline-color", "rgb(255, 165, 82)")
    page.keyboard.press("Shift+Tab")
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
def test_times_are_the_readers_own_with_utc(exhibition: Exhibition, browser_context: BrowserContext) -> None:
    browser = browser_context.browser
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
    elsewhere.add_cookies(exhibition.cookies("organiser"))
    page.goto(f"{exhibition.url}/organise/new")
    page.locator("summary", has_text="Dates").click()
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
def test_pages_work_without_scripts(exhibition: Exhibition, browser_context: BrowserContext) -> None:
    browser = browser_context.browser
    plain = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 800})
    page = plain.new_page()
    plain.add_cookies(exhibition.cookies("participant"))
    page.goto(f"{exhibition.url}/submissions/{exhibition.gallery.submissions['scored']}?competition=comp3")
    table = page.get_by_role("table", name="Scores by class")
    expect(table.get_by_role("columnheader", name="Median")).to_have_count(0)
    page.get_by_label("More columns").check()
    expect(table.get_by_role("columnheader", name="Median")).to_be_visible()
    expect(page.locator(".multiple polyline").first).to_be_visible()
    page.locator("[name=curve][value=dog]").check()
    page.get_by_role("button", name="Show the ticked curves").click()
    expect(page.locator(".curve-plot .chips li")).to_have_text(["aeroplane", "dog"])
    page.goto(f"{exhibition.url}/challenges/voc2012/leaderboards/comp3")
    page.get_by_role("link", name="sheep").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text("sheep")
    for path, button, confirmed in (
        ("/", None, "Submit results"),
        ("/challenges/voc2012", None, "Submit results"),
        ("/challenges/voc2007/submit", None, "Upload and submit"),
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
