"""Does on the pages what an organiser does, and counts the clicks."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Locator, Page

from tests.browser.dropping import drop

MAX_CLICKS = 4
# With this variable, every page on the way is written to that directory: light, dark, and 390 pixels wide.
PICTURES = "VOCBOARD_PICTURES"
TELEPHONE = {"width": 390, "height": 844}


class Organising:
    """A page's browser, from a challenge's page on.

    A click is one on a link, a button, a tick box, a radio button, or what opens a form, and one on a choice in a list.
    To choose a file takes two: one opens the window, and one chooses there. Typing into fields, which the keyboard
    reaches, and dropping a file are none.
    """

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self._url = url
        self._clicks: list[str] = []
        self._action = ""

    @contextlib.contextmanager
    def action(self, name: str, start: str, *, at_most: int = MAX_CLICKS) -> Iterator[None]:
        """Count the clicks of an action: assert at its end that there were few enough.

        Args:
            start: path of the page where it begins.
            at_most: the number of clicks.
        """
        self._action, self._clicks = name, []
        self.page.goto(self._url + start)
        yield
        self.look()
        assert 0 < len(self._clicks) <= at_most, f"{name} takes {len(self._clicks)} clicks: {self._clicks}"
        self._action = ""

    def link(self, name: str | re.Pattern[str], *, within: Locator | None = None) -> None:
        """Follow a link."""
        self._click((within or self.page.get_by_role("main")).get_by_role("link", name=name, exact=True), str(name))

    def tab(self, name: str, page: str | None = None) -> None:
        """Open a tab of the challenge's pages for organisers, and one of its pages; without, its first."""
        self._click(self._tabs("Organise").get_by_role("link", name=name, exact=True), name)
        if page is not None:
            self._click(self._tabs(name).get_by_role("link", name=page, exact=True), page)

    def _tabs(self, name: str) -> Locator:
        return self.page.get_by_role("navigation", name=name, exact=True)

    def button(self, name: str, *, within: Locator | None = None) -> None:
        """Press a button."""
        self._click((within or self.page.get_by_role("main")).get_by_role("button", name=name, exact=True), name)

    def unfold(self, name: str) -> None:
        """Open what is folded."""
        self._click(self.page.locator("summary").filter(has_text=re.compile(rf"^{re.escape(name)}(\s|$)")), name)

    def tick(self, label: str | re.Pattern[str]) -> None:
        """Tick a box or choose a radio button."""
        self._click(self.page.get_by_label(label), str(label))

    def choose(self, label: str, option: str) -> None:
        """Choose from a list."""
        self.look()
        self._clicks.append(f"{label}: {option}")
        self.page.get_by_label(label, exact=True).select_option(option)

    def choose_file(self, label: str | re.Pattern[str], file: Path) -> None:
        """Choose a file in the window of the browser that a click opens."""
        with self.page.expect_file_chooser() as opened:
            self._click(self.page.get_by_label(label), str(label))
        self._clicks.append(file.name)
        opened.value.set_files(file)

    def drop_file(self, file: Path) -> None:
        """Drag a file from the desktop to the page."""
        drop(self.page, file.name, file.read_bytes())

    def fill(self, label: str, text: str) -> None:
        """Type into a field."""
        self.page.get_by_label(label, exact=True).filter(visible=True).fill(text)

    def look(self) -> None:
        """Write pictures of the page as it is now, if they are wanted."""
        directory = os.environ.get(PICTURES)
        if not directory or not self._action:
            return
        page, size = self.page, self.page.viewport_size
        name = f"{self._action}-{len(self._clicks)}".replace(" ", "-")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.screenshot(path=Path(directory) / f"{name}-{scheme}.png", full_page=True)
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(TELEPHONE)  # type: ignore[arg-type]
        page.screenshot(path=Path(directory) / f"{name}-390.png", full_page=True)
        if size:
            page.set_viewport_size(size)

    def _click(self, target: Locator, name: str) -> None:
        self.look()
        self._clicks.append(name)
        target.click()
