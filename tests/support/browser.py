"""A real Chromium, driven by Playwright's synchronous API and closed to the network outside."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Playwright, ViewportSize, expect, sync_playwright

from tests.support.processes import skip_or_fail

# The first is the same browser without its windows: it takes two thirds of the processor time.
PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
APPLICATIONS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",  # containers give /dev/shm 64 MB
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--font-render-hinting=none",  # chromium-headless-shell would round the widths of letters
    "--no-first-run",
    "--no-default-browser-check",
    "--renderer-process-limit=1",  # a process for each page would take a tenth of the processor time
    # Names other than the loopback's do not resolve: that a page loads something from elsewhere is to be seen.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
)
VIEWPORT: ViewportSize = {"width": 1280, "height": 800}
SECONDS_TO_WAIT = 30.0  # a loaded machine takes seconds for what an idle one does at once
expect.set_options(timeout=SECONDS_TO_WAIT * 1000)


def find_chromium(playwright: Playwright) -> str | None:
    """Return the path of a Chromium: CHROMIUM of the environment, the PATH's, macOS's, or Playwright's own."""
    if given := os.environ.get("CHROMIUM"):
        return given
    found = filter(None, map(shutil.which, PROGRAMS))
    installed = (*found, *APPLICATIONS, playwright.chromium.executable_path)
    return next((path for path in installed if Path(path).exists()), None)


@contextlib.contextmanager
def running_browser() -> Iterator[Browser]:
    """Run a Chromium until the block ends; skip (in CI: fail) where none is found."""
    with sync_playwright() as playwright:
        program = find_chromium(playwright)
        if program is None:
            skip_or_fail("no Chromium: set CHROMIUM to its path, or install the package chromium")
        sandbox = os.geteuid() != 0  # which root cannot have
        browser = playwright.chromium.launch(
            executable_path=program, headless=True, chromium_sandbox=sandbox, args=list(FLAGS)
        )
        yield browser
        browser.close()


def new_context(browser: Browser, base_url: str | None = None) -> BrowserContext:
    """Return a new browser profile: no cookies, 1280 x 800 pixels, English, UTC."""
    context = browser.new_context(base_url=base_url, viewport=VIEWPORT, locale="en-GB", timezone_id="UTC")
    context.set_default_timeout(SECONDS_TO_WAIT * 1000)
    return context
