"""The leaderboard of 20 classes and 120 methods: for 200, a browser would need nearly twice as long."""

import contextlib
import re
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.browser.conftest import Exhibition, without_errors
from tests.browser.gallery import EDITION
from tests.browser.layout import MAX_BYTES, SIZE
from tests.support.browser import VIEWPORT, new_context
from tests.support.factories import make_challenge, make_user
from tests.support.scored import make_published
from tests.support.services import make_tables
from tests.support.site import serving
from vocboard.app.settings import Settings

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]

METHODS = 120
PATH = "/challenges/voc2012/leaderboards/comp3"
SHORT, METHODS_OF_SHORT = "/challenges/voc2012/leaderboards/comp1", 12
DESK = {"width": 1440, "height": 900}
TELEPHONE = {"width": 390, "height": 844}


@pytest.fixture
def board(page: Page, exhibition: Exhibition) -> Page:
    """Give a leaderboard of as many classes and fewer methods, which a browser shows in a third of the time."""
    page.goto(exhibition.url + SHORT)
    return page


@pytest.fixture
def whole(page: Page, exhibition: Exhibition) -> Page:
    page.goto(exhibition.url + PATH)
    return page


@pytest.fixture(scope="module")
def kept(browser: Browser, exhibition: Exhibition) -> Iterator[Page]:
    """Give the leaderboard once: a browser needs a second of processor time to show it."""
    with contextlib.closing(new_context(browser)) as context, without_errors(context):
        page = context.new_page()
        page.goto(exhibition.url + PATH)
        yield page


@pytest.fixture
def seen(kept: Page) -> Page:
    """Give the leaderboard to a test that changes nothing but the window, what is in view, and where the mouse is."""
    kept.set_viewport_size(VIEWPORT)
    kept.locator(".board-scroll").evaluate("frame => frame.scrollTo(0, 0)")
    kept.evaluate("scrollTo(0, 0)")
    kept.mouse.move(-1, -1)  # over nothing
    return kept


@pytest.fixture
def plain(browser_context: BrowserContext, exhibition: Exhibition) -> Iterator[Page]:
    """Give the short leaderboard in a browser without scripts."""
    browser = browser_context.browser
    context = browser.new_context(java_script_enabled=False, viewport=DESK)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(exhibition.url + SHORT)
    yield page
    context.close()


def box_of(found: Locator) -> dict[str, float]:
    box = found.bounding_box()
    assert box is not None
    return dict(box)  # type: ignore[arg-type]


def row(page: Page, number: int) -> Locator:
    return page.locator(".board tbody tr").nth(number - 1)


def name_of(found: Locator) -> str:
    return found.get_by_role("rowheader").get_by_role("link").inner_text()


def test_a_page_of_200_methods_would_be_small_enough(seen: Page) -> None:
    assert seen.evaluate(SIZE) / METHODS * 200 < MAX_BYTES


def test_all_columns_are_in_view_at_1280_pixels(seen: Page) -> None:
    expect(seen.locator(".board tbody tr")).to_have_count(METHODS)
    for name in ("Mean, %", "95 % interval", "Rank range", *EDITION.classes):
        box = box_of(seen.get_by_role("columnheader", name=name, exact=True))
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1280
    size = seen.locator(".board tbody td").nth(5).evaluate("cell => parseFloat(getComputedStyle(cell).fontSize)")
    assert size >= 12


def test_eighteen_rows_of_34_pixels_are_in_view_on_a_desk(seen: Page) -> None:
    seen.set_viewport_size(DESK)  # type: ignore[arg-type]
    heights = {box_of(row(seen, number))["height"] for number in (1, 7, 110)}
    assert all(33.5 <= height <= 34.5 for height in heights), heights
    last = box_of(row(seen, 18))
    assert last["y"] + last["height"] <= 900


def test_three_digits_of_a_rank_are_whole(seen: Page) -> None:
    for size in (DESK, TELEPHONE):
        seen.set_viewport_size(size)  # type: ignore[arg-type]
        rank = row(seen, 118).locator(".rank")
        assert rank.inner_text().strip() == "118"
        cell, number = box_of(rank), box_of(rank.locator("span"))
        assert number["x"] >= cell["x"]
        assert number["x"] + number["width"] <= cell["x"] + cell["width"]
        assert rank.evaluate("cell => cell.scrollWidth <= cell.clientWidth")


def test_intervals_are_drawn_on_one_scale_beside_the_mean_and_ranks_that_are_possible(seen: Page) -> None:
    head = seen.get_by_role("columnheader", name="95 % interval", exact=True)
    ticks = {
        float(tick.text_content() or ""): box_of(tick)["x"] + box_of(tick)["width"] / 2
        for tick in head.locator("text:visible").all()
    }
    (first, from_), (last, to) = min(ticks.items()), max(ticks.items())
    for number in (1, 50, 119):
        one = row(seen, number)
        mean, cell = float(one.locator(".mean").inner_text().strip("*")), one.locator(".forest")
        low, high = map(float, cell.inner_text().split("–"))
        assert low < mean < high
        dot, line = box_of(cell.locator("circle")), box_of(cell.locator("line"))
        for value, x in ((mean, dot["x"] + dot["width"] / 2), (low, line["x"]), (high, line["x"] + line["width"])):
            assert x == pytest.approx(from_ + (to - from_) * (value - first) / (last - first), abs=2)
    expect(row(seen, 1).locator(".ranks")).to_have_text("1–3 tied")
    assert {"tied" in text for text in seen.locator(".ranks:not(.tied)").all_inner_texts()} == {False}
    incomplete = seen.locator(".board tbody tr", has=seen.get_by_title(re.compile("not all classes entered"))).first
    expect(incomplete.locator(".ranks")).to_have_text("–")


def test_rank_name_and_mean_stay_in_view_on_a_telephone(seen: Page) -> None:
    seen.set_viewport_size(TELEPHONE)  # type: ignore[arg-type]
    widths = [box_of(row(seen, 1).locator(column))["width"] for column in (".rank", ".name", ".mean")]
    assert widths == pytest.approx([32, 124, 56], abs=1)
    frame = seen.locator(".board-scroll")
    before = [box_of(row(seen, 1).locator(column))["x"] for column in (".rank", ".name", ".mean")]
    frame.evaluate("frame => frame.scrollTo(400, 2000)")
    assert frame.evaluate("frame => frame.scrollLeft") > 100
    after = [box_of(row(seen, 60).locator(column))["x"] for column in (".rank", ".name", ".mean")]
    assert after == pytest.approx(before, abs=1)
    head, framed = box_of(seen.locator(".board thead .name")), box_of(frame)
    assert head["y"] == pytest.approx(framed["y"], abs=2)
    assert seen.evaluate("scrollX") == 0


def test_sorts_by_the_class_that_is_clicked_and_tints_its_column(board: Page) -> None:
    board.get_by_role("columnheader", name="sofa").get_by_role("link").click()
    head = board.get_by_role("columnheader", name="sofa")
    expect(head).to_have_attribute("aria-sort", "descending")
    column = head.evaluate("head => head.cellIndex")
    cells = board.locator(f".board tbody tr > :nth-child({column + 1})")
    assert cells.count() == board.locator(".board tbody td.key").count() == METHODS_OF_SHORT
    texts = cells.all_inner_texts()
    scores = [float(text) for text in texts if re.fullmatch(r"[\d.]+", text)]
    assert scores == sorted(scores, reverse=True)
    assert not any(re.fullmatch(r"[\d.]+", text) for text in texts[len(scores) :]), "n/a and not entered come last"
    assert len(scores) < METHODS_OF_SHORT
    head.get_by_role("link").click()
    expect(board.get_by_role("columnheader", name="sofa")).to_have_attribute("aria-sort", "ascending")
    board.go_back()
    expect(board.get_by_role("columnheader", name="sofa")).to_have_attribute("aria-sort", "descending")


def test_the_sorted_column_is_in_view_on_a_telephone(page: Page, exhibition: Exhibition) -> None:
    page.set_viewport_size(TELEPHONE)  # type: ignore[arg-type]
    page.goto(f"{exhibition.url}{SHORT}?sort=sofa")
    pinned, column = box_of(row(page, 1).locator(".mean")), box_of(page.locator("th[aria-sort]"))
    assert column["x"] >= pinned["x"] + pinned["width"] - 1
    assert column["x"] + column["width"] <= TELEPHONE["width"]


def test_filters_while_one_types_and_says_how_many(board: Page) -> None:
    field = board.get_by_label("Filter by method")
    field.fill("nobody has this name")
    expect(board.get_by_text("No method matches")).to_be_visible()
    expect(board.locator(".board")).to_be_hidden()
    expect(board.get_by_text(f"0 of {METHODS_OF_SHORT} methods")).to_be_visible()
    field.fill("yolo institute")
    shown = board.locator(".board tbody tr:visible")
    expect(shown).not_to_have_count(0)
    expect(shown).not_to_have_count(METHODS_OF_SHORT)
    for text in shown.locator(".name").evaluate_all("names => names.map((name) => name.textContent + name.title)"):
        assert "YOLO" in text
        assert "Institute" in text
    expect(board.get_by_text(f"{shown.count()} of {METHODS_OF_SHORT} methods")).to_be_visible()
    board.reload()
    expect(board.get_by_label("Filter by method")).to_have_value("yolo institute")
    expect(board.locator(".board tbody tr").first).to_contain_text("YOLO")


def test_the_filter_finds_the_last_of_many_contributors(page: Page, tmp_path: Path) -> None:
    settings = Settings(data_directory=tmp_path / "data")
    make_tables(settings)
    with serving(settings) as site:
        with site.writing() as session:
            challenge, people = make_challenge(session), ", ".join(f"Contributor {number}" for number in range(50))
            make_published(session, challenge, make_user(session), "Large team", 0.5, contributors=f"{people}, Zuse")
            make_published(session, challenge, make_user(session), "Another", 0.4)
            path = f"/challenges/{challenge.slug}/leaderboards/comp1"
        page.goto(site.url + path)
        page.get_by_label("Filter by method").fill("zuse")
        expect(page.get_by_text("1 of 2 methods")).to_be_visible()
        expect(page.locator(".board tbody tr:visible")).to_contain_text("Large team")


def test_colours_that_are_chosen_on_another_page_hold_on_the_way_back(board: Page, exhibition: Exhibition) -> None:
    board.goto(f"{exhibition.url}/docs")
    for _ in ("light", "dark"):
        board.get_by_role("button", name="Colours").click()
    board.go_back()
    expect(board.locator("html")).to_have_attribute("data-theme", "dark")
    expect(board.get_by_role("button", name="Colours: dark")).to_be_visible()


def test_marks_the_best_of_a_column_alone_and_shades_quintiles(board: Page) -> None:
    for position in (6, 7, 15):
        cells = board.locator(f".board tbody tr > :nth-child({position})")
        best = board.locator(f".board tbody tr > :nth-child({position}).best")
        scores = [float(text) for text in cells.all_inner_texts() if re.fullmatch(r"[\d.]+", text)]
        assert {float(text) for text in best.all_inner_texts()} == {max(scores)}
        assert int(best.first.evaluate("cell => getComputedStyle(cell).fontWeight")) >= 700
        colours = {
            quintile: board.locator(f".board tbody tr > :nth-child({position}).q{quintile}").first.evaluate(
                "cell => getComputedStyle(cell).backgroundColor"
            )
            for quintile in range(1, 6)
        }
        assert len(set(colours.values())) == 5
    board.locator("summary", has_text="View").click()
    board.get_by_role("link", name="Shade scores by fifths").click()
    shade = "cell => getComputedStyle(cell).backgroundColor"
    expect(board.locator(".board:not(.shaded)")).to_be_visible()
    assert board.locator("td.q5").first.evaluate(shade) == board.locator("td.q1").first.evaluate(shade)
    assert "shade=off" in board.url


def test_the_readout_is_within_the_window(seen: Page) -> None:
    seen.set_viewport_size(DESK)  # type: ignore[arg-type]
    row(seen, 3).locator("td").nth(6).hover()
    readout = seen.locator("[data-readout]")
    expect(readout).to_contain_text(name_of(row(seen, 3)))
    box = box_of(readout)
    assert box["y"] + box["height"] <= 900


def test_own_rows_are_marked_for_their_owner_alone(page: Page, exhibition: Exhibition) -> None:
    page.goto(exhibition.url + SHORT)
    expect(page.locator("tr.own")).to_have_count(0)
    page.context.add_cookies(exhibition.cookies("rival"))
    page.reload()
    expect(page.locator("tr.own")).to_have_count(METHODS_OF_SHORT // 4)
    expect(page.locator("tr.own").first).to_contain_text("yours")


def test_chosen_methods_keep_their_colour_and_are_compared(board: Page) -> None:
    bar = board.locator(".board-bar")
    expect(bar).to_be_hidden()
    chosen = [row(board, 7), row(board, 2)]
    names = [name_of(each) for each in chosen]
    for each in chosen:
        each.get_by_role("checkbox").check()
    expect(bar).to_be_visible()
    assert box_of(bar)["y"] + box_of(bar)["height"] <= 800
    assert bar.locator(".chips li").all_inner_texts() == names
    mark = "item => getComputedStyle(item.querySelector('i')).backgroundColor"
    colours = [bar.locator(".chips li").nth(number).evaluate(mark) for number in (0, 1)]
    assert len(set(colours)) == 2
    line = "row => getComputedStyle(row.querySelector('.rank')).boxShadow"
    for each, colour in zip(chosen, colours, strict=True):
        assert colour in each.evaluate(line)
    board.get_by_role("columnheader", name="sofa").get_by_role("link").click()
    expect(bar.locator(".chips li")).to_have_text(names)
    board.get_by_role("link", name=re.compile(r"^Action classification|^Action")).first.click()
    board.go_back()
    expect(bar.locator(".chips li")).to_have_text(names)
    board.get_by_label("Filter by method").fill("nobody has this name")
    expect(bar.locator(".chips li")).to_have_text(names)
    bar.get_by_label("Class").select_option("dog")
    board.reload()
    expect(bar.get_by_label("Class")).to_have_value("dog")
    bar.get_by_role("button", name="Compare").click()
    expect(board.get_by_role("heading", name="Comparison")).to_be_visible()
    expect(board.get_by_role("heading", name=re.compile("curves: dog"))).to_be_visible()
    compared = board.locator(".compared li")
    assert [names[number] in compared.nth(number).inner_text() for number in (0, 1)] == [True, True]
    mean_of_dots = board.locator("tr.means circle")
    assert [mean_of_dots.nth(number).evaluate("dot => getComputedStyle(dot).fill") for number in (0, 1)] == colours
    expect(board.locator(".curve-plot g[class^=s]")).to_have_count(2)
    board.set_viewport_size({"width": 390, "height": 800})
    compared.first.get_by_role("link").first.evaluate("link => { link.textContent = 'long name '.repeat(9); }")
    assert compared.first.locator(".remove").evaluate("link => link.scrollWidth <= link.clientWidth")
    board.set_viewport_size({"width": 1280, "height": 800})
    board.get_by_role("link", name="Choose other methods").click()
    expect(bar.locator(".chips li")).to_have_text(names)
    bar.get_by_role("link", name="Clear").click()
    expect(bar).to_be_hidden()
    assert "method=" not in board.url


def test_a_dot_for_each_method_and_class(board: Page) -> None:
    for number in (1, 2, 3):
        row(board, number).get_by_role("checkbox").check()
    board.get_by_role("button", name="Compare").click()
    table = board.locator(".compare:not(.paired)")
    expect(table.locator("tbody tr")).to_have_count(1 + len(EDITION.classes))
    for name in EDITION.classes[5:8]:
        line = table.locator("tbody tr", has=board.get_by_role("rowheader", name=name, exact=True))
        values = [float(text) for text in line.locator("td.value").all_inner_texts()]
        where = line.locator("circle").evaluate_all("dots => dots.map((dot) => dot.getBoundingClientRect().x)")
        assert len(where) == 3
        by_value = sorted(range(3), key=lambda number: values[number])
        assert by_value == sorted(range(3), key=lambda number: where[number])
        expect(line.locator("td.best")).to_have_text(f"{max(values):.2f}")
    table.get_by_role("rowheader", name="sofa").get_by_role("link").click()
    expect(board.get_by_role("heading", name=re.compile("curves: sofa"))).to_be_visible()


def test_progress_over_time_leads_to_the_record(whole: Page) -> None:
    records = whole.locator(".progress .record")
    assert records.count() >= 2
    last = records.last
    label = last.get_attribute("aria-label")
    assert label is not None
    last.click()
    target = whole.locator("tr:target")
    expect(target).to_be_in_viewport()
    assert name_of(target) in label
    expect(target.locator(".rank")).to_have_text("1")


@pytest.mark.parametrize("width", [320, 1280])
def test_points_of_the_drawing_are_24_pixels_to_press(board: Page, width: int) -> None:
    board.set_viewport_size({"width": width, "height": 800})
    point = board.locator(".progress .record circle").last
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    assert box["width"] < 12
    board.mouse.click(box["x"] + box["width"] / 2 - 11, box["y"] + box["height"] / 2)
    expect(board.locator("tr:target .rank")).to_have_text("1")


def test_it_says_which_competitions_have_entries(board: Page) -> None:
    links = board.get_by_role("navigation", name="Competitions")
    expect(links.get_by_role("link", name="Detection")).to_have_text(f"Detection {METHODS}")
    expect(links.get_by_role("link", name=re.compile("^any data"))).to_have_text("any data 0")
    links.get_by_role("link", name="Segmentation").click()
    expect(board.get_by_role("heading", level=1)).to_contain_text("Segmentation, trainval")


def test_all_competitions_are_in_view_at_200_per_cent_and_phones_show_that_there_are_more(seen: Page) -> None:
    switch = seen.get_by_role("navigation", name="Competitions")
    seen.set_viewport_size({"width": 640, "height": 400})
    for link in switch.get_by_role("link").all():
        expect(link).to_be_in_viewport(ratio=1)
    seen.set_viewport_size({"width": 390, "height": 844})
    switch.evaluate("(row) => (row.scrollLeft = 0)")
    faded = "(row) => getComputedStyle(row).maskImage.includes('gradient')"
    assert switch.evaluate(faded)
    switch.evaluate("(row) => (row.scrollLeft = row.scrollWidth)")
    seen.wait_for_function(f"() => !({faded})(document.querySelector('.switch[aria-label=Competitions]'))")


def test_sorts_filters_and_compares_without_scripts(plain: Page) -> None:
    plain.get_by_role("columnheader", name="sheep").get_by_role("link").click()
    expect(plain.locator("th[aria-sort=descending]")).to_have_text("sheep")
    plain.get_by_label("Filter by method").fill("dpm")
    plain.get_by_role("button", name="Filter").click()
    expect(plain.locator("th[aria-sort=descending]")).to_have_text("sheep")
    names = [name_of(row(plain, number)) for number in (1, 2)]
    for number in (1, 2):
        row(plain, number).get_by_role("checkbox").check()
    plain.get_by_role("button", name="Compare").click()
    for name in names:
        expect(plain.locator(".compared")).to_contain_text(name)
    expect(plain.locator(".compare circle").first).to_be_visible()
    expect(plain.locator(".curve-plot g[class^=s]")).to_have_count(2)
    plain.get_by_role("link", name="Choose other methods").click()
    expect(plain.locator(".chips li")).to_have_count(2)
    plain.get_by_role("link", name="Clear").click()
    expect(plain.locator(".board-bar")).to_be_hidden()


def test_chooses_and_compares_by_keyboard(board: Page) -> None:
    row(board, 1).get_by_role("checkbox").focus()
    board.keyboard.press("Space")
    board.keyboard.press("Tab")  # the name
    board.keyboard.press("Tab")
    board.keyboard.press("Space")
    expect(board.locator(".chips li")).to_have_count(2)
    board.get_by_role("button", name="Compare").focus()
    board.keyboard.press("Enter")
    expect(board.locator(".compared li")).to_have_count(2)


def test_prints_all_rows_without_controls(whole: Page) -> None:
    row(whole, 1).get_by_role("checkbox").check()
    whole.emulate_media(media="print", color_scheme="dark")
    for hidden in (".board-bar", "[data-readout]", ".board-tools form", ".menu"):
        expect(whole.locator(hidden)).to_be_hidden()
    for shown in ("tbody .name", "tbody .mean", "tbody td.none", "thead"):
        expect(whole.locator(f".board {shown}").first).to_be_visible()
    expect(whole.locator(".legend")).to_contain_text("not entered")
    expect(whole.locator(".legend")).to_be_visible()
    frame = whole.locator(".board-scroll")
    assert frame.evaluate("frame => frame.scrollHeight <= frame.clientHeight + 1")
    cells = (
        row(whole, 1)
        .locator("th, td")
        .evaluate_all(
            "cells => cells.map((cell) => [cell.getBoundingClientRect().left, cell.getBoundingClientRect().right])"
        )
    )
    for (_, right), (left, _) in pairwise(cells):
        assert left == pytest.approx(right, abs=1)  # no column over another
    background = whole.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
    ink = row(whole, 1).locator(".name a").evaluate("link => getComputedStyle(link).color")
    assert _brightness(ink) < 80 < 200 < _brightness(background)


def test_prints_every_column_of_a_comparison(seen: Page, page: Page, exhibition: Exhibition) -> None:
    chosen = seen.locator(".board tbody input").evaluate_all("boxes => boxes.slice(0, 12).map((box) => box.value)")
    page.set_viewport_size({"width": 1046, "height": 700})  # A4 landscape without its margins
    page.goto(f"{exhibition.url}{PATH}/compare?{'&'.join(f'method={one}' for one in chosen)}")
    page.emulate_media(media="print")
    rights = page.locator(".compare").evaluate_all("tables => tables.map((one) => one.getBoundingClientRect().right)")
    assert len(rights) == 2
    assert max(rights) <= 1046


def test_nothing_moves_while_it_loads(browser: Browser, exhibition: Exhibition) -> None:
    page = new_context(browser).new_page()  # with nothing in its cache
    with without_errors(page.context):
        page.add_init_script(
            "window.shifts = [];"
            "new PerformanceObserver((list) => shifts.push(...list.getEntries().map((one) => one.value)))"
            ".observe({ type: 'layout-shift', buffered: true });"
        )
        answer = page.goto(exhibition.url + PATH)
        assert len(answer.body()) < 300_000
        page.wait_for_timeout(500)
        assert sum(page.evaluate("window.shifts")) < 0.01
    page.context.close()


def _brightness(colour: str) -> float:
    parts = [float(part) for part in re.findall(r"[\d.]+", colour)[:3]]
    return sum(parts) / 3 if max(parts) > 1 else 255 * sum(parts) / 3


def test_the_html_to_embed_shows_the_board_inside_of_another_site(
    board: Page, exhibition: Exhibition, tmp_path: Path
) -> None:
    board.locator("summary", has_text="Download").click()
    html = board.get_by_label("HTML for another page").input_value()
    best = name_of(row(board, 1))
    public = exhibition.site.settings.public_url  # the site is at a port of its own
    (tmp_path / "page.html").write_text(html.replace(public, exhibition.url))
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as elsewhere:
        thread = Thread(target=elsewhere.serve_forever)
        thread.start()
        try:
            board.goto(f"http://localhost:{elsewhere.server_port}/page.html")
            expect(board.frame_locator("iframe").locator("tbody tr").first).to_contain_text(best)
        finally:
            elsewhere.shutdown()
            thread.join()


def test_a_board_with_two_measures_shows_the_classes_of_either_and_is_sorted_by_either(
    page: Page, exhibition: Exhibition
) -> None:
    page.goto(f"{exhibition.url}/challenges/voc2005/leaderboards/comp1")
    assert name_of(row(page, 1)) == "Bag of keypoints"
    expect(row(page, 1)).to_contain_text("96.00")
    page.get_by_role("group", name="Scores by class").get_by_role("link").nth(1).click()
    expect(page).to_have_url(re.compile("metric=equal_error_rate"))
    expect(row(page, 1).get_by_role("cell", name="88.00", exact=True)).to_have_count(1 + 4)  # the mean and the classes
    page.get_by_role("columnheader", name=re.compile("^Mean, .*equal error rate")).get_by_role("link").click()
    expect(row(page, 1)).to_contain_text("Boundary fragments")
    page.reload()
    expect(row(page, 1)).to_contain_text("Boundary fragments")


def test_all_leaderboards_lead_to_the_row_and_compare_the_image_sets(page: Page, exhibition: Exhibition) -> None:
    page.goto(f"{exhibition.url}/challenges/voc2005/leaderboards")
    expect(page.get_by_role("heading", name=re.compile("^test1 against test2"))).to_be_visible()
    sets = page.locator("table.compare tbody tr").filter(has_text="Boundary fragments")
    expect(sets.locator("td.value")).to_have_text(["94.00", "79.00", "−15.00"])
    page.locator(".matrix tbody tr").filter(has_text="Boundary fragments").get_by_role("link", name="79.00").click()
    expect(page.locator("tr:target")).to_contain_text("Boundary fragments")
    expect(page).to_have_url(re.compile("/leaderboards/comp2"))


def test_a_link_to_a_leaderboard_is_previewed_with_its_picture(seen: Page, exhibition: Exhibition) -> None:
    address = seen.locator('meta[property="og:image"]').get_attribute("content")
    picture = address.replace(exhibition.site.settings.public_url, exhibition.url)
    size = "async src => { const it = new Image(); it.src = src; await it.decode(); return [it.width, it.height]; }"
    assert seen.evaluate(size, picture) == [1200, 630]
