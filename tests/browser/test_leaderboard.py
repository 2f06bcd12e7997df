"""The leaderboard of 20 classes and 200 methods."""

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Exhibition
from tests.browser.gallery import EDITION
from tests.support.browser import SECONDS_TO_WAIT

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser_errors")]

METHODS = 200


@pytest.fixture
def board(page: Page, exhibition: Exhibition) -> Page:
    page.goto(f"{exhibition.url}/challenges/voc2012/leaderboards/comp3")
    return page


def left_of(page: Page, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return box["x"]


def test_all_columns_are_in_view_at_1280_pixels(board: Page) -> None:
    expect(board.locator(".board tbody tr")).to_have_count(METHODS)
    for name in ("Mean", *EDITION.classes):
        box = board.get_by_role("columnheader", name=name, exact=True).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1280
    size = board.locator(".board tbody td").nth(5).evaluate("cell => parseFloat(getComputedStyle(cell).fontSize)")
    assert size >= 12


def test_head_and_first_columns_stay_in_view(board: Page) -> None:
    board.set_viewport_size({"width": 390, "height": 844})
    frame = board.locator(".board-scroll")
    before = left_of(board, ".board tbody .name")
    frame.evaluate("frame => frame.scrollTo(400, 2000)")
    assert frame.evaluate("frame => frame.scrollLeft") > 100
    row = board.locator(".board tbody tr", has_text=re.compile(r"^\s*60\b")).first
    name = row.locator(".name").bounding_box()
    assert name is not None
    assert name["x"] == pytest.approx(before, abs=1)
    head, framed = board.locator(".board thead .name").bounding_box(), frame.bounding_box()
    assert head is not None
    assert framed is not None
    assert head["y"] == pytest.approx(framed["y"], abs=2)
    assert board.evaluate("scrollX") == 0


def test_sorts_by_the_class_that_is_clicked(board: Page) -> None:
    board.get_by_role("columnheader", name="sofa").get_by_role("link").click()
    head = board.get_by_role("columnheader", name="sofa")
    expect(head).to_have_attribute("aria-sort", "descending")
    column = head.evaluate("head => head.cellIndex")
    cells = board.locator(f".board tbody tr > :nth-child({column + 1})").all_inner_texts()
    scores = [float(text) for text in cells if re.fullmatch(r"[\d.]+", text)]
    assert scores == sorted(scores, reverse=True)
    assert not any(re.fullmatch(r"[\d.]+", text) for text in cells[len(scores) :]), "n/a and not entered come last"
    assert len(scores) < METHODS
    head.get_by_role("link").click()
    expect(board.get_by_role("columnheader", name="sofa")).to_have_attribute("aria-sort", "ascending")


def test_filters_while_one_types(board: Page) -> None:
    board.get_by_label("Filter by method").fill("dpm institute")
    shown = board.locator(".board tbody tr:visible")
    expect(shown).not_to_have_count(METHODS)
    for text in shown.locator(".name").all_inner_texts():
        assert "DPM" in text
        assert "Institute" in text
    board.get_by_label("Filter by method").press("Enter")
    board.wait_for_url(re.compile(r"q=dpm"))
    expect(board.locator(".board tbody tr").first).to_contain_text("DPM")


def test_marks_the_best_of_a_column_alone(board: Page) -> None:
    for position in (3, 4, 12):
        cells = board.locator(f".board tbody tr > :nth-child({position + 1})")
        best = board.locator(f".board tbody tr > :nth-child({position + 1}).best")
        scores = [float(text) for text in cells.all_inner_texts() if re.fullmatch(r"[\d.]+", text)]
        assert {float(text) for text in best.all_inner_texts()} == {max(scores)}
        assert int(best.first.evaluate("cell => getComputedStyle(cell).fontWeight")) >= 700


def test_overlays_the_curves_of_the_chosen_methods(board: Page) -> None:
    chart = "Chart.getChart(document.querySelector('[data-plot] canvas'))"
    drawn = f"() => ({chart}?.data.datasets ?? []).map((line) => line.label)"
    expect(board.locator("[data-plot]")).to_be_visible()
    _wait(board, drawn, lambda lines: len(lines) == 3)
    seventh = board.locator(".board tbody tr").nth(6)
    method = seventh.get_by_role("rowheader").get_by_role("link").inner_text()
    seventh.get_by_role("checkbox").check()
    _wait(board, drawn, lambda lines: method in lines)
    board.get_by_label("Class").select_option("dog")
    _wait(board, drawn, lambda lines: len(lines) == 4)
    with board.expect_response(re.compile(r"/curves/comp3")) as answer:
        board.locator(".board tbody tr").nth(7).get_by_role("checkbox").check()
    curve = answer.value.json()["curves"]["dog"]
    assert len(curve["recall"]) == len(curve["precision"]) > 10


def _wait(board: Page, expression: str, is_there: Callable[[list[str]], bool]) -> None:
    """Wait until the page's value is right. Not by `wait_for_function`, which our content security policy refuses."""
    deadline = time.monotonic() + SECONDS_TO_WAIT
    while not is_there(board.evaluate(expression)):
        assert time.monotonic() < deadline, board.evaluate(expression)
        time.sleep(0.05)
