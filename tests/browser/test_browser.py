"""The browser of the tests reaches this machine and nothing else."""

import pytest
from playwright.sync_api import Error, Page

pytestmark = pytest.mark.browser


def test_reaches_nothing_outside(page: Page) -> None:
    with pytest.raises(Error, match="ERR_NAME_NOT_RESOLVED"):
        page.goto("https://example.org/")
