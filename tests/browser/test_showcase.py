"""The showcase in a browser: its slider with and without scripts, its fixed sizes, its accessibility."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.app.pages.test_showcase import COMP1, COMP3, Scene
from tests.browser import axe
from tests.support.site import serving
from vocboard.app.settings import Settings

pytestmark = pytest.mark.browser
PHONE = {"width": 320, "height": 640}
SHOWN = "#showcase li[data-rank]:not([hidden])"
BOXES = "#showcase g[data-rank]:not([hidden])"


@pytest.fixture(scope="module")
def scene(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Give the showcase; tests only look at it."""
    data = tmp_path_factory.mktemp("data")
    with serving(Settings(data_directory=data, database_url=shared_database_url)) as site:
        yield Scene(site)


@pytest.fixture(scope="module")
def contrasts() -> set[int]:
    """Return the kinds of texts that have enough contrast, to which each page adds."""
    return set()


def test_the_slider_shows_more_and_fewer_results_at_once(scene: Scene, page: Page) -> None:
    page.goto(f"{scene.site.url}/methods/{scene.method}?showcase=main.{COMP3}")
    expect(page.locator(SHOWN)).to_have_count(6)
    for number, count, least in (("1", 2, "0.50"), ("10", 10, "0.42")):
        page.get_by_label("Results per image").fill(number)
        expect(page.locator(SHOWN)).to_have_count(count)
        expect(page.locator(BOXES)).to_have_count(count)
        expect(page.locator("[data-least]")).to_have_text(least)
    expect(page).to_have_url(f"{scene.site.url}/methods/{scene.method}?showcase=main.{COMP3}")


def test_without_scripts_the_form_does_the_same(scene: Scene, browser: Browser) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{scene.site.url}/methods/{scene.method}?showcase=main.{COMP3}")
        slider = page.get_by_label("Results per image")
        slider.press("ArrowLeft")
        slider.press("ArrowLeft")
        page.locator("#showcase").get_by_role("button", name="Show").click()
        expect(page.locator(SHOWN)).to_have_count(2)


@pytest.mark.parametrize("competition", [COMP1, COMP3])
def test_pages_are_accessible_and_fit_a_phone(scene: Scene, page: Page, contrasts: set[int], competition: str) -> None:
    compared = f"/challenges/{scene.slug}/leaderboards/{competition}/compare?method={scene.old}&method={scene.theirs}"
    for path in (f"/methods/{scene.method}?showcase=main.{competition}", compared):
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        page.goto(scene.site.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        boxes = page.locator("#showcase .picture").evaluate_all(
            "all => all.map((each) => each.getBoundingClientRect()).map(({ width, height }) => width / height)"
        )
        assert boxes == pytest.approx([500 / 375] * len(boxes), rel=0.02), "whether or not pictures have been loaded"
        axe.check(page, known=contrasts)


def test_a_leaderboard_shows_pictures_beside_the_name_that_a_pointer_rests_on(
    scene: Scene, page: Page, contrasts: set[int]
) -> None:
    page.goto(f"{scene.site.url}/challenges/{scene.slug}/leaderboards/{COMP3}")
    pictures, name = (
        page.locator(".row-pictures"),
        page.locator(".board tbody").get_by_role("link", name="Ours", exact=True),
    )
    name.hover()
    expect(pictures.locator("img")).to_have_count(2)
    expect(pictures).to_have_accessible_name("Ours on test images")
    axe.check(page, known=contrasts)
    pictures.hover()
    page.wait_for_timeout(500)
    expect(pictures).to_be_visible()
    page.keyboard.press("Escape")
    expect(pictures).to_have_count(0)
    page.mouse.move(0, 0)
    name.focus()
    expect(pictures.locator("img")).to_have_count(2)
