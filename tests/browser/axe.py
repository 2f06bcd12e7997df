"""Checks a page with axe-core."""

from importlib.resources import files
from typing import Any, Literal

from playwright.sync_api import Page

# Most of axe-core's time is in its colours, which it keeps in weak maps, dozens for each text: as properties of the
# objects they are much faster. And it parses the same few colours thousands of times.
FASTER = """(() => {
  class WeakMap {
    #key = Symbol();
    has(object) { return this.#key in object; }
    get(object) { return object[this.#key]; }
    set(object, value) { object[this.#key] = value; return this; }
    delete(object) { return delete object[this.#key]; }
  }
  class WeakSet {
    #key = Symbol();
    has(object) { return this.#key in object; }
    add(object) { object[this.#key] = true; return this; }
    delete(object) { return delete object[this.#key]; }
  }
  AXE
  const colour = axe.commons.color.Color.prototype;
  const parse = colour.parseString;
  const parsed = new Map();
  colour.parseString = function (text) {
    const { r, g, b, alpha } = parsed.get(text) ?? parse.call(this, text);
    parsed.set(text, { r, g, b, alpha });
    return Object.assign(this, { r, g, b, alpha });
  };
})()"""
AXE = FASTER.replace("AXE", (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
SERIOUS = {"serious", "critical"}  # impacts
# Of a theme, only the colours differ.
THEMES: tuple[tuple[Literal["light", "dark"], list[str]], ...] = (("light", []), ("dark", ["color-contrast"]))
# Rows of long tables are like those before, and are removed: axe-core visits every element, even those left out, and
# would take a minute for a leaderboard of 200 rows by 20 classes.
FIND_PROBLEMS = """async ([skipped, rules]) => {
  for (const row of document.querySelectorAll("tbody tr:nth-child(n+31)")) row.remove();
  for (const closed of document.querySelectorAll("details:not([open])")) closed.open = true;
  const inTime = document.getAnimations().filter(({ timeline }) => timeline === document.timeline);  // not of scrolling
  await Promise.all(inTime.map((animation) => animation.finished.catch(() => null)));
  const page = { include: [["html"]], exclude: skipped.map((selector) => [selector]) };
  const found = await axe.run(page, { resultTypes: ["violations"], ...(rules.length ? { runOnly: rules } : {}) });
  return found.violations.map(({ id, impact, help, nodes }) => (
    { id, impact, help, nodes: nodes.map((node) => `${node.html}\\n      ${node.failureSummary}`) }
  ));
}"""


def check(page: Page, *skipped: str) -> None:
    """Let axe-core look at the page, and in the dark theme at its contrasts.

    Args:
        page: loses the later rows of long tables.
        skipped: selectors of what is left out.
    """
    page.evaluate(AXE)
    serious = []
    for theme, rules in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        found: list[dict[str, Any]] = page.evaluate(FIND_PROBLEMS, [skipped, rules])
        serious += [
            f"{theme}: {one['id']} ({one['impact']}), {one['help']}\n    " + "\n    ".join(one["nodes"])
            for one in found
            if one["impact"] in SERIOUS
        ]
    assert not serious, f"{page.url}\n" + "\n".join(serious)
