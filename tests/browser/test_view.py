"""The page of `vocboard view` in a real browser, from a file."""

import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.support.golden import golden
from vocboard.evaluator.editions import load
from vocboard.evaluator.viewing import view

MOST_SECONDS_TO_OPEN = 2.0
MOST_SECONDS_TO_WRITE = 10.0

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    case, directory = golden("voc2007-real"), tmp_path_factory.mktemp("view") / "page"
    started = time.process_time()
    view(case.ground_truth, directory, load("VOC2007"), results=case.results)
    return directory, time.process_time() - started


def opened(browser: Browser, directory: Path, width: int = 1300, scheme: str = "light") -> tuple[Page, list[str]]:
    context = browser.new_context(viewport={"width": width, "height": 850}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto((directory / "index.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    return page, errors


def test_real_detections_are_written_and_opened_in_time(browser: Browser, written: tuple[Path, float]) -> None:
    directory, seconds = written
    assert seconds < MOST_SECONDS_TO_WRITE
    durations = []
    for _ in range(3):
        page, errors = opened(browser, directory)
        durations.append(page.evaluate("performance.now()") / 1000)  # since the page was asked for
        assert errors == []
        assert "52,404 detections" in page.inner_text("#summary")
        page.context.close()
    assert min(durations) < MOST_SECONDS_TO_OPEN  # a busy machine may be slow once


def test_browsing_by_keyboard_kind_and_confidence(browser: Browser, written: tuple[Path, float]) -> None:
    page, errors = opened(browser, written[0])
    first = page.inner_text("#name")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#name") != first
    page.keyboard.press("k")
    assert page.inner_text("#name") == first
    page.select_option("#kind", "repeated")
    page.select_option("#order", "down")
    assert page.inner_text("#count") == "3,057 detections"
    marks = page.locator("#rows .row .rest").all_inner_texts()
    confidences = [float(text.split()[0]) for text in marks]
    assert all(text.endswith("repeated") for text in marks)
    assert confidences == sorted(confidences, reverse=True)
    page.select_option("#class", label="car")
    assert all(" car, " in text for text in page.locator("#rows .row .rest").all_inner_texts())
    page.select_option("#kind", "missed")
    assert "images" in page.inner_text("#count")
    page.fill("#search", "no such image")
    assert page.inner_text("#name") == "nothing matches"
    assert errors == []


def test_zoom_and_layers(browser: Browser, written: tuple[Path, float]) -> None:
    page, errors = opened(browser, written[0])
    whole = page.get_attribute("#picture", "viewBox")
    page.keyboard.press("+")
    assert page.get_attribute("#picture", "viewBox") != whole
    page.keyboard.press("0")
    assert page.get_attribute("#picture", "viewBox") == whole
    boxes = page.locator("#picture rect.box").count()
    page.keyboard.press("d")
    assert page.locator("#picture rect.box").count() < boxes
    assert errors == []


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (1300, "dark")])
def test_fits_every_width(browser: Browser, written: tuple[Path, float], width: int, scheme: str) -> None:
    page, errors = opened(browser, written[0], width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert errors == []
