"""Takes pictures of pages, small enough for a repository."""

import io
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Locator, Page

PICTURES = Path(__file__).parents[2] / "docs" / "images" / "year"
WIDTH, HEIGHT = 1080, 760  # of the window, in pixels
MARGIN = 12  # around what is shown of a page
QUALITY = 82  # of WebP: text stays sharp


class Camera:
    """Takes pictures of a page's main part, or of some of it, in the light theme."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def take(
        self,
        name: str,
        page: Page,
        *,
        first: Locator | None = None,
        last: Locator | None = None,
        column: Locator | None = None,
    ) -> None:
        """Store a picture of a page as `<name>.webp`.

        Args:
            first: where it begins; by default at the top of the page's content.
            last: where it ends; by default after the height of a window.
            column: what it is as wide as; by default the window.
        """
        settle(page)
        page.evaluate("() => { document.activeElement?.blur(); scrollTo(0, 0); }")
        main = _box(page.locator("main .page"))
        top = _box(first)["y"] - MARGIN if first else main["y"]
        bottom = _end(_box(last)) + MARGIN if last else top + HEIGHT
        left, width = (_box(column)["x"] - MARGIN, _box(column)["width"] + 2 * MARGIN) if column else (0, WIDTH)
        clip = {"x": left, "y": top, "width": width, "height": min(bottom, _end(main)) - top}
        png = page.screenshot(full_page=True, clip=clip, animations="disabled")  # type: ignore[arg-type]
        picture = Image.open(io.BytesIO(png)).convert("RGB")
        picture.save(self._directory / f"{name}.webp", quality=QUALITY, method=6)


def settle(page: Page) -> None:
    """Wait until a page does not update by itself any more."""
    page.wait_for_function("() => document.readyState === 'complete' && !document.querySelector('[data-unfinished]')")
    page.wait_for_load_state("networkidle")


def new_page(browser: Browser) -> Page:
    """Open a window of its own: not signed in, in light colours, in UTC."""
    context = browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT},
        locale="en-GB",
        timezone_id="UTC",
        color_scheme="light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(60_000)
    return context.new_page()


def _box(element: Locator) -> dict[str, float]:
    box = element.bounding_box()
    assert box is not None  # noqa: S101  # it is visible
    return dict(box)  # type: ignore[arg-type]


def _end(box: dict[str, float]) -> float:
    return box["y"] + box["height"]
