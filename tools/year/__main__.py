"""`python -m tools.year`: take the pictures of docs/a-year.md again."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.support.browser import FLAGS, find_chromium
from tools.year.camera import PICTURES
from tools.year.story import take_pictures


def main() -> int:
    """Replace the pictures."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory(prefix="vocboard-") as directory:
        program = find_chromium(playwright)
        if program is None:
            print("no Chromium: set CHROMIUM to its path, or install the package chromium", file=sys.stderr)
            return 2
        browser = playwright.chromium.launch(executable_path=program, chromium_sandbox=False, args=list(FLAGS))
        PICTURES.mkdir(exist_ok=True)
        for old in PICTURES.glob("*.webp"):
            old.unlink()
        take_pictures(browser, Path(directory), PICTURES)
        browser.close()
    total = sum(picture.stat().st_size for picture in PICTURES.glob("*.webp"))
    print(f"{len(list(PICTURES.glob('*.webp')))} pictures in {PICTURES}, {total // 1024} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
