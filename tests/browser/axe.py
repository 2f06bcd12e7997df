"""Checks a page with axe-core."""

import json
from importlib.resources import files
from typing import Literal

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
  const unwanted = axe._audit.rules.filter(({ impact }) => !IMPACTS.includes(impact));
  axe.configure({ rules: [
    { id: "color-contrast", selector: "[data-colours]" }, ...unwanted.map(({ id }) => ({ id, enabled: false })),
  ] });
})()"""
SERIOUS = ["serious", "critical"]  # impacts; rules of others are not run
AXE = FASTER.replace("IMPACTS", json.dumps(SERIOUS)).replace(
    "AXE", (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
)
# Of a theme, only the colours differ.
THEMES: tuple[tuple[Literal["light", "dark"], list[str]], ...] = (("light", []), ("dark", ["color-contrast"]))
# Most rows of long tables are like those before, and are removed: axe-core visits every element, even those left out,
# and would take a minute for a leaderboard of 200 rows by 20 classes. Every tenth stays, since cells are shaded by the
# quintile of their score, and rows of another kind.
PREPARE = """() => {
  const rows = "tbody tr:nth-child(n+11):not(:nth-child(10n), .own, .reported, .current, .means, .totals, .group)";
  for (const row of document.querySelectorAll(rows)) row.remove();
  for (const closed of document.querySelectorAll("details:not([open])")) closed.open = true;
}"""
# Three quarters of the time is in contrasts, which are the same for texts of the same colour and size on the same
# backgrounds. Marks the first four texts of each kind that is not known by a hash (FNV-1a) of its colours. What
# overlaps a text without being around it is not in the hash. axe-core does not measure texts that only screen readers
# have, that are beyond the top edge, or in parts of the page that are left out. Returns whether there are any. First,
# animations end, except for those of scrolling.
MARK_COLOURS = """async ([skipped, known]) => {
  const inTime = document.getAnimations().filter(({ timeline }) => timeline === document.timeline);
  await Promise.all(inTime.map((animation) => animation.finished.catch(() => null)));
  const seen = new Set(known), above = new Map([[null, 2166136261]]);
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
  const isOutOfSight = (element) => {
    const { width, height, bottom } = element.getBoundingClientRect();
    return bottom + scrollY <= 0 || (Math.min(width, height) <= 1 && getComputedStyle(element).overflow === "hidden");
  };
  const hasText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
  const marks = new Map();
  for (const element of document.body.querySelectorAll("*")) {
    delete element.dataset.colours;
    const shows = [...element.childNodes].some(hasText) || element.matches("input, select, textarea");
    if (!shows || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (isOutOfSight(element) || skipped.some((selector) => element.closest(selector))) continue;
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(element);
    const kind = hash([color, fontSize, fontWeight, textShadow].join(), around(element));
    const marked = (marks.get(kind) ?? 0) + 1;
    if (seen.has(kind) || marked > 4) continue;
    marks.set(kind, marked);
    element.dataset.colours = kind;
  }
  return marks.size > 0;
}"""
# Returns the serious problems, and the kinds of texts with enough contrast, or with a gradient around them: that is in
# the hash, and axe-core can never measure their contrast.
RUN = """async ([skipped, rules, impacts]) => {
  const page = { include: [["html"]], exclude: skipped.map((selector) => [selector]) };
  const found = await axe.run(page, {
    resultTypes: ["violations", "passes", "incomplete"], elementRef: true, selectors: false,
    ...(rules.length ? { runOnly: rules } : {}),
  });
  const problems = found.violations.filter(({ impact }) => impacts.includes(impact)).map((one) => [
    `${one.id} (${one.impact}), ${one.help}`, ...one.nodes.map((node) => `${node.html}\\n      ${node.failureSummary}`),
  ].join("\\n    "));
  const texts = (results, isKnown) => results.filter(({ id }) => id === "color-contrast")
    .flatMap(({ nodes }) => nodes.filter(({ any }) => any.some(({ data }) => data && isKnown(data))));
  const known = texts(found.passes, (data) => data.contrastRatio);
  const onGradient = (element) => element
    && (getComputedStyle(element).backgroundImage !== "none" || onGradient(element.parentElement));
  const unclear = texts(found.incomplete, (data) => data.messageKey === "bgGradient");
  known.push(...unclear.filter(({ element }) => onGradient(element)));
  return [problems, known.map(({ element }) => Number(element.dataset.colours))];
}"""


def prepare(page: Page) -> None:
    """Remove most of the later rows of long tables, and open what is closed."""
    page.evaluate(PREPARE)


def check(page: Page, *, known: set[int] | None = None) -> None:
    """Prepare the page, and check it as `check_prepared` does."""
    prepare(page)
    check_prepared(page, known=known)


def check_prepared(page: Page, *skipped: str, known: set[int] | None = None) -> None:
    """Let axe-core look at a prepared page, and at its contrasts in both themes.

    Args:
        skipped: selectors of what is left out.
        known: hashes of kinds of texts whose contrast need not be looked at again; those of this page are added.
    """
    known = set() if known is None else known
    page.evaluate(AXE)
    serious = []
    for theme, rules in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        if page.evaluate(MARK_COLOURS, [skipped, [*known]]) or not rules:
            found, passed = page.evaluate(RUN, [skipped, rules, SERIOUS])
            serious += [f"{theme}: {one}" for one in found]
            known.update(passed)
    assert not serious, f"{page.url}\n" + "\n".join(serious)
