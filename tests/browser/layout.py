"""What holds of every page: its width, names for what one can use, its outline, keyboard, zoom and print."""

from itertools import pairwise

from playwright.sync_api import Page, ViewportSize

from tests.browser.visits import Visit

TELEPHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1280, "height": 800}
ENLARGED: ViewportSize = {"width": 640, "height": 400}  # the desk at 200 per cent
MAX_BYTES = 300_000

TOO_WIDE = """() => {
  const wide = [];
  if (document.documentElement.scrollWidth > innerWidth) {
    for (const element of document.querySelectorAll("body *")) {
      if (element.getBoundingClientRect().right > innerWidth + 1) wide.push(element.tagName + "." + element.className);
    }
  }
  const menu = document.querySelector(".fascia-inner");
  if (menu?.scrollWidth > menu?.clientWidth) wide.push("the menu");
  return wide;
}"""
NAMELESS = """() => [...document.querySelectorAll("input:not([type=hidden]), select, textarea, button, a[href]")]
  .filter((element) => element.checkVisibility())
  .filter((element) => !(element.labels?.length || element.ariaLabel || element.title || element.textContent.trim()))
  .map((element) => element.outerHTML)"""
# Links and buttons of less than 24 px that are not within running text (WCAG 2.2, 2.5.8). The dots of a drawing are
# links of a table, too.
SMALL_TARGETS = """() => {
  const isText = (node) => /\\w{2}/.test(node.textContent) && (node.nodeType === Node.TEXT_NODE
    || node.nodeType === Node.ELEMENT_NODE && !node.matches("a, button, .utc")
    && getComputedStyle(node).display === "inline");
  const isWithinText = (element) => {
    if (getComputedStyle(element).display !== "inline") return false;
    let block = element.parentElement;
    while (getComputedStyle(block).display === "inline") block = block.parentElement;
    return [...block.childNodes].some((node) => !node.contains(element) && isText(node));
  };
  return [...document.querySelectorAll("a[href], button, summary")].filter((element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && Math.min(width, height) < 23.5 && element.checkVisibility()
      && !element.closest("svg") && !isWithinText(element);
  }).map((element) => element.outerHTML.slice(0, 150));
}"""
OUTLINE = """() => [...document.querySelectorAll("h1, h2, h3, h4")]
  .filter((heading) => heading.checkVisibility()).map((heading) => Number(heading.tagName[1]))"""
# A header or footer of a section is no landmark of the page.
LANDMARKS = """() => {
  const shown = (selector) => [...document.querySelectorAll(selector)]
    .filter((element) => element.checkVisibility() && !element.closest("[aria-hidden=true]"));
  const ofPage = (element) => element.role || !element.parentElement.closest("article, aside, main, nav, section");
  return [
    shown("header:not([role]), [role=banner]").filter(ofPage).length,
    shown("main:not([role]), [role=main]").length,
    shown("footer:not([role]), [role=contentinfo]").filter(ofPage).length,
  ];
}"""
SIZE = "() => performance.getEntriesByType('navigation')[0].decodedBodySize"
# Several at once: each question takes ten milliseconds.
IN_WINDOW = f"() => ({{ wide: ({TOO_WIDE})(), small: ({SMALL_TARGETS})() }})"
OF_PAGE = f"""() => ({{
  size: ({SIZE})(), nameless: ({NAMELESS})(), outline: ({OUTLINE})(), landmarks: ({LANDMARKS})(),
  ids: [...document.querySelectorAll("[id]")].map((element) => element.id),
  across: document.querySelector(".board, .compare") !== null,
}})"""
# After the Tab key, the browser shows where the focus is as for a keyboard. One of each kind is looked at.
INVISIBLE_FOCUS = """() => {
  const kinds = new Map();
  for (const element of document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")) {
    if (!element.checkVisibility() || element.disabled || element.tabIndex < 0 || element.type === "hidden") continue;
    const within = element.closest("nav, table, form")?.className;
    kinds.set([element.tagName, element.className, element.type, within].join(), element);
  }
  const drawn = (element) => {
    const style = getComputedStyle(element);
    return [style.outlineStyle === "none" ? "" : style.outline, style.boxShadow].join();
  };
  const found = [];
  for (const element of kinds.values()) {
    const around = [element, ...(element.labels ?? []), element.parentElement];
    document.activeElement.blur();
    const before = around.map(drawn);
    element.focus({ preventScroll: true });
    if (document.activeElement !== element) continue;
    if (around.every((each, place) => drawn(each) === before[place])) found.push(element.outerHTML.slice(0, 200));
  }
  if (document.querySelector("[tabindex]:not([tabindex='0'], [tabindex='-1'])")) found.push("tabindex above 0");
  document.activeElement.blur();
  return found;
}"""
PRINTED = """() => ({
  heading: document.querySelector("h1").checkVisibility(),
  menu: document.querySelector(".fascia, .foot")?.checkVisibility() ?? false,
  // Within the paper: A4 without margins of 10 mm, across where a leaderboard or a comparison is.
  wide: [...document.querySelectorAll("main *")].filter((each) => each.checkVisibility() && !each.closest("svg"))
    .filter((each) => each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML.slice(0, 100)),
  over: [...document.querySelectorAll("main *")].filter((each) => each.checkVisibility())
    .filter((each) => /sticky|fixed/.test(getComputedStyle(each).position) && getComputedStyle(each).bottom !== "auto")
    .map((each) => each.outerHTML.slice(0, 100)),
  // What is a grid is broken after its headings, or not at all.
  grids: [...document.querySelectorAll("form :is(.stack, .panel)")].filter((each) => each.checkVisibility())
    .filter((each) => getComputedStyle(each).display !== "block").map((each) => each.outerHTML.slice(0, 100)),
  cut: [...document.querySelectorAll(".scroll")].filter((box) => box.checkVisibility())
    .filter((box) => box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible")
    .map((box) => box.outerHTML.slice(0, 100)),
})"""


def check_layout(page: Page, visit: Visit) -> None:
    """Check a page, which is in the same window and media again afterwards, at its top and with the focus nowhere."""
    try:
        _check(page, visit)
    finally:  # other visits have the same window
        page.set_viewport_size(DESK)
        page.emulate_media(media="null")
    page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")


def _check(page: Page, visit: Visit) -> None:
    assert page.viewport_size == DESK
    _check_size(page)
    if not visit.path.startswith("/api/"):
        page.keyboard.press("Tab")
        assert page.evaluate(INVISIBLE_FOCUS) == []
    for size in (ENLARGED, TELEPHONE):
        page.set_viewport_size(size)
        _check_size(page)
    found = page.evaluate(OF_PAGE)
    assert found["size"] < MAX_BYTES
    assert found["nameless"] == []
    if visit.path.startswith("/api/"):
        return
    outline, ids = found["outline"], found["ids"]
    assert outline.count(1) == 1
    assert outline[0] == 1
    assert all(below <= above + 1 for above, below in pairwise(outline)), outline
    assert found["landmarks"] == [1, 1, 1]
    assert len(ids) == len(set(ids))
    page.emulate_media(media="print")
    width, height = (1047, 718) if found["across"] else (718, 1047)
    page.set_viewport_size({"width": width, "height": height})
    expected = {"heading": True, "menu": False, "wide": [], "over": [], "grids": [], "cut": []}
    printed = page.evaluate(PRINTED)
    assert printed == expected, f"{page.url} on paper: {printed}"


def _check_size(page: Page) -> None:
    found = page.evaluate(IN_WINDOW)
    assert found == {"wide": [], "small": []}, f"{page.viewport_size}: {found}"
