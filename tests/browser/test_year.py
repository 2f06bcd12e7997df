"""The steps of docs/a-year.md work in the browser as the page describes them, and its pictures are all there."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.test_documentation import LINK
from tools.year.camera import PICTURES
from tools.year.story import take_pictures

PAGE = PICTURES.parents[1] / "a-year.md"
MAX_BYTES = 100_000  # of a picture: they are in the repository


@pytest.mark.browser
def test_the_year_is_as_the_page_tells_it(browser: Browser, tmp_path: Path) -> None:
    taken = tmp_path / "pictures"
    taken.mkdir()
    take_pictures(browser, tmp_path, taken)
    assert {picture.name for picture in taken.iterdir()} == {picture.name for picture in PICTURES.iterdir()}


def test_the_page_shows_all_pictures() -> None:
    shown = {Path(target).name for target in LINK.findall(PAGE.read_text(encoding="utf-8")) if "images/" in target}
    assert {picture.name for picture in PICTURES.iterdir()} == shown
    assert all(picture.stat().st_size < MAX_BYTES for picture in PICTURES.iterdir())
