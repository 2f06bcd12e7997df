"""The browser of the tests reaches this machine and nothing else."""

import pytest
from playwright.sync_api import Browser, Error

from tests.support.browser import new_context

pytestmark = pytest.mark.browser


def test_reaches_nothing_outside(browser: Browser) -> None:
    with new_context(browser) as context:  # closed, since Chromium goes on to its page of errors
        page = context.new_page()
        with pytest.raises(Error, match="ERR_NAME_NOT_RESOLVED"):
            page.goto("https://example.org/")
