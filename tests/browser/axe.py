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
  axe.configure({ rules: [{ id: "color-contrast", selector: "[data-colours]" }] });
})()"""
AXE = FASTER.replace("AXE", (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
SERIOUS = {"serious", "critical"}  # impacts
# Of a theme, only the colours differ.
THEMES: tuple[tuple[Literal["light", "dark"], list[str]], ...] = (("light", []), ("dark", ["color-contrast"]))
# Most rows of long tables are like those before, and are removed: axe-core visits every element, even those left out,
# and would take a minute for a leaderboard of 200 rows by 20 classes. Every tenth stays: rows are shaded by their rank.
PREPARE = """() => {
  for (const row of document.querySelectorAll("tbody tr:nth-child(n+11):not(:nth-child(10n))")) row.remove();
  for (const closed of document.querySelectorAll("details:not([open])")) closed.open = true;
}"""
SETTLE = """async () => {
  const inTime = document.getAnimations().filter(({ timeline }) => timeline === document.timeline);  // not of scrolling
  await Promise.all(inTime.map((animation) => animation.finished.catch(() => null)));
}"""
FIND_PROBLEMS = """async ([page, rules]) => {
  const found = await axe.run(page, { resultTypes: ["violations"], ...(rules.length ? { runOnly: rules } : {}) });
  return found.violations.map(({ id, impact, help, nodes }) => (
    { id, impact, help, nodes: nodes.map((node) => `${node.html}\\n      ${node.failureSummary}`) }
  ));
}"""
# Three quarters of the time is in contrasts, which are the same for texts of the same colour and size within elements
# that paint the same below it. Marks one text of each kind that is not known, and returns the hashes of these (FNV-1a).
MARK_COLOURS = """([skipped, known]) => {
  const seen = new Set(known), marked = [], above = new Map([[null, 2166136261]]);
  const hash = (text, sum) => {
    for (let place = 0; place < text.length; place++) sum = Math.imul(sum ^ text.charCodeAt(place), 16777619);
    return sum;
  };
  const around = (element) => {
    if (!above.has(element)) {
      const { backgroundColor, backgroundImage, opacity, position } = getComputedStyle(element);
      const paints = backgroundColor !== "rgba(0, 0, 0, 0)" || backgroundImage !== "none" || opacity !== "1";
      const own = paints || position !== "static" ? [element.className, backgroundColor, backgroundImage, opacity] : [];
      above.set(element, hash(own.join(), around(element.parentElement)));
    }
    return above.get(element);
  };
  for (const element of document.body.querySelectorAll("*")) {
    delete element.dataset.colours;
    if (skipped && element.closest(skipped)) continue;
    const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE);
    if (!texts.some((node) => node.data.trim()) && !element.matches("input, select, textarea")) continue;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const kind = hash([color, fontSize, fontWeight, textShadow].join(), around(element));
    if (seen.has(kind)) continue;
    seen.add(kind);
    marked.push(kind);
    element.dataset.colours = "";
  }
  return marked;
}"""


def check(page: Page, *skipped: str, known_colours: set[int] | None = None) -> None:
    """Let axe-core look at the page, and at its contrasts in both themes.

    Args:
        page: loses most of the later rows of long tables.
        skipped: selectors of what is left out.
        known_colours: those of texts on kinds of elements that were looked at before; gets those of the page.
    """
    known = set() if known_colours is None else known_colours
    page.evaluate(AXE)
    page.evaluate(PREPARE)
    looked_at = {"include": [["html"]], "exclude": [[selector] for selector in skipped]}
    serious, marked = [], set[int]()
    for theme, rules in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        page.evaluate(SETTLE)
        new = page.evaluate(MARK_COLOURS, [",".join(skipped), [*known, *marked]])
        marked.update(new)
        if not new and rules:
            continue
        found: list[dict[str, Any]] = page.evaluate(FIND_PROBLEMS, [looked_at, rules])
        serious += [
            f"{theme}: {one['id']} ({one['impact']}), {one['help']}\n    " + "\n    ".join(one["nodes"])
            for one in found
            if one["impact"] in SERIOUS
        ]
    assert not serious, f"{page.url}\n" + "\n".join(serious)
    known |= marked
