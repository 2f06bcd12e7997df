"""The pages of `vocboard view` and `evaluate --report` in a real browser, from files."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from tests.browser.axe import check
from tests.evaluator.trees import an_object, annotation, write
from tests.support.golden import golden
from vocboard.commands.main import main
from vocboard.evaluator.conversion.painting import indexed_png
from vocboard.evaluator.editions import load, read
from vocboard.evaluator.tasks.instance_segmentation import rle
from vocboard.evaluator.viewing.page import view

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    case, directory = golden("voc2007-real"), tmp_path_factory.mktemp("view") / "page"
    view(case.ground_truth, directory, load("VOC2007"), results=case.results)
    return directory


def opened(browser: Browser, directory: Path, width: int = 1300) -> tuple[Page, list[str]]:
    context = browser.new_context(viewport={"width": width, "height": 850})
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto((directory / "index.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]")
    return page, errors


def test_real_detections_are_opened(browser: Browser, written: Path) -> None:
    page, errors = opened(browser, written)
    assert errors == []
    assert "52,404 detections" in page.inner_text("#summary")


def test_long_names_of_images_have_a_line_of_their_own(browser: Browser, tmp_path: Path) -> None:
    names = [f"aachen_{number:06}_000019_leftImg8bit_gtFine_frame" for number in range(3)]
    files = {f"Annotations/{name}.xml": annotation(an_object("car", (1, 1, 9, 9))) for name in names}
    tree = write(tmp_path / "VOC2007", {**files, "ImageSets/Main/test.txt": "\n".join(names)}).parent
    view(tree, tmp_path / "page", load("VOC2007"))
    for width in (1300, 390):
        page, _ = opened(browser, tmp_path / "page", width)
        for row in page.locator(".row").all():
            name, rest = (row.locator(part).bounding_box() for part in (".id", ".rest"))
            assert name
            assert rest
            assert name["y"] + name["height"] <= rest["y"] + 1
        page.context.close()


def test_browsing_by_keyboard_kind_and_confidence(browser: Browser, written: Path) -> None:
    page, errors = opened(browser, written)
    first = page.inner_text("#name")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#name") != first
    page.keyboard.press("k")
    assert page.inner_text("#name") == first
    page.select_option("#kind", "duplicate")
    page.select_option("#order", "down")
    assert page.inner_text("#count") == "2,985 detections"  # as `--diagnose` counts them
    marks = page.locator("#rows .row .rest").all_inner_texts()
    confidences = [float(text.split()[0]) for text in marks]
    assert all(text.endswith("duplicate") for text in marks)
    assert confidences == sorted(confidences, reverse=True)
    page.select_option("#class", label="car")
    assert all(" car, " in text for text in page.locator("#rows .row .rest").all_inner_texts())
    page.select_option("#kind", "missed")
    assert "images" in page.inner_text("#count")
    page.fill("#search", "no such image")
    assert page.inner_text("#name") == "nothing matches"
    assert errors == []


def test_results_of_every_task_can_be_browsed(browser: Browser, written: Path) -> None:
    page, errors = opened(browser, written)
    expected = {"comp2": ("positive", "12,134 confidences"), "comp8": ("correct", "parts")}
    for key, (kind, count) in expected.items():
        page.select_option("#competition", key)
        page.select_option("#order", "down")
        assert count in page.inner_text("#count")
        page.select_option("#kind", kind)
        rows = page.locator("#rows .row .rest").all_inner_texts()
        assert rows
        assert all(row.endswith(kind) for row in rows)
        assert page.locator("#found tbody tr.chosen").inner_text().split()[-1] == kind
    assert page.locator("#picture rect.correct").count() > 0  # parts of layouts
    page.select_option("#competition", "comp4")
    assert "detections" in page.inner_text("#summary")
    assert errors == []


def test_regions_are_drawn_from_their_runs(browser: Browser, tmp_path: Path) -> None:
    edition = read(Path(__file__).parents[2] / "docs" / "editions" / "examples" / "instances.toml")
    objects = np.zeros((60, 80), dtype=np.uint8)
    objects[10:30, 10:50] = 1
    maps = {f"Segmentation{kind}/a.png": indexed_png(objects) for kind in ("Object", "Class")}
    tree = write(tmp_path / "Instances", {"ImageSets/Segmentation/test.txt": "a\n", **maps}).parent
    text = f"a 0.9 {rle.encode(rle.lengths_of(objects == 1))}\n"
    view(tree, tmp_path / "page", edition, results=write(tmp_path / "r", {"comp1_inst_test_car.txt": text}))
    page, errors = opened(browser, tmp_path / "page")
    sides = "({x, y, width, height}) => [x, y, width, height]"
    box = page.locator("path.region").evaluate(f"region => ({sides})(region.getBBox())")
    assert box == [10, 10, 40, 20]
    assert page.locator("path.region.correct").count() == 1
    assert errors == []


def test_the_picture_is_zoomed_and_its_boxes_chosen_by_keyboard_and_keys_of_one_character_can_be_turned_off(
    browser: Browser, written: Path
) -> None:
    page, errors = opened(browser, written)
    whole = page.get_attribute("#picture", "viewBox")
    page.keyboard.press("+")
    assert page.get_attribute("#picture", "viewBox") != whole
    left, top, *_ = map(float, str(page.get_attribute("#picture", "viewBox")).split())
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Shift+ArrowUp")
    moved = [float(number) for number in str(page.get_attribute("#picture", "viewBox")).split()]
    assert (moved[0] < left, moved[1] < top) == (True, True)
    page.keyboard.press("0")
    assert page.get_attribute("#picture", "viewBox") == whole
    boxes = page.locator("#picture rect.box").count()
    page.keyboard.press("d")
    assert page.locator("#picture rect.box").count() < boxes
    page.keyboard.press("d")

    page.select_option("#order", "errors")  # to the image with most errors, which has many detections
    assert page.locator("#picture .chosen").count() == 0
    button = page.locator("#found tbody button").nth(1)
    button.focus()
    page.keyboard.press("Enter")
    assert page.locator("#picture .chosen").count() == 1
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    assert page.locator("#found tbody tr").nth(1).get_attribute("class") == "chosen"

    first = page.inner_text("#name")
    page.click("aside summary")
    page.uncheck("#shortcuts")
    page.keyboard.press("j")
    assert page.inner_text("#name") == first
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#name") != first
    assert errors == []


def test_keys_that_scroll_browse_only_in_the_list(browser: Browser, written: Path) -> None:
    page, errors = opened(browser, written, 390)
    first = page.inner_text("#name")
    page.keyboard.press("End")
    page.wait_for_function("scrollY > 0")  # the page is longer than the screen, and scrolls as usual
    assert page.inner_text("#name") == first
    page.focus("#list")
    page.keyboard.press("ArrowDown")
    assert " · 2 of " in page.inner_text("#name")
    active = page.get_attribute("#list", "aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    assert errors == []


@pytest.fixture(scope="module")
def contrasts() -> set[int]:
    """Return the kinds of texts of the page that have enough contrast, to which each width adds."""
    return set()


@pytest.mark.parametrize("width", [390, 1300])
def test_the_page_fits_and_is_accessible(browser: Browser, written: Path, width: int, contrasts: set[int]) -> None:
    page, errors = opened(browser, written, width)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#truth tbody button").first.click()
    assert errors == []
    check(page, known=contrasts)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a report's page."""
    case = golden("voc2012-synthetic")  # every task
    command = ["evaluate", case.edition, str(case.results), "--ground-truth", str(case.ground_truth)]
    directory = tmp_path_factory.mktemp("written") / "report"
    assert main([*command, "--diagnose", "--bootstrap", "100", "--report", str(directory)]) == 0
    return directory / "index.html"


def test_the_report_is_accessible_and_fits(browser: Browser, report: Path) -> None:
    page = browser.new_context().new_page()
    page.goto(report.as_uri())
    for width in (1300, 390):  # of the latter, texts are smaller, and more of the tables have to be scrolled
        page.set_viewport_size({"width": width, "height": 850})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    check(page)
    page.set_viewport_size({"width": 720, "height": 1000})  # a printed page
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 720
    worst = page.locator('a[href*="/comp3/"]').first
    result = str(worst.get_attribute("href")).rpartition("/")[2]
    worst.click()
    page.wait_for_selector("html[data-ready=yes]")
    assert page.locator("#competition").input_value() == "comp3"
    assert page.evaluate("state.chosen") == {"kind": "result", "index": int(result)}
