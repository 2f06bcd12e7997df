"""Drops a file on a page, as from the desktop."""

import base64

from playwright.sync_api import Page

_DROP = """([zone, name, content]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], name));
  zone.dispatchEvent(new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
  return zone.querySelector("[data-chosen]").textContent;  // at once: the upload may lead to another page
}"""


_DROP_FILES = """([target, names]) => {
  const carried = new DataTransfer();
  for (const name of names) carried.items.add(new File(["x"], name));
  const drop = new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true });
  return !target.dispatchEvent(drop);
}"""


def drop_files(page: Page, selector: str, *names: str) -> bool:
    """Drop files anywhere; return whether the page keeps the browser from opening them."""
    page.wait_for_load_state()
    target = page.locator(selector).element_handle()
    return bool(page.evaluate(_DROP_FILES, [target, names]))


def drop(page: Page, name: str, content: bytes) -> None:
    """Drop a file on the page's form to upload."""
    zone = page.locator("[data-drop]").element_handle()
    page.wait_for_load_state()  # its script is there
    assert name in page.evaluate(_DROP, [zone, name, base64.b64encode(content).decode()])
