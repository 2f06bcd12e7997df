"""Write the parts of docs/editions that follow from the edition files: `python -m tools.edition_pages`."""

import sys
from collections.abc import Iterator
from pathlib import Path

from evaluator.editions import Edition, TaskRules, load, names
from evaluator.metrics.definitions import METRICS
from evaluator.tasks.definitions import PARTIAL_ENTRIES, TASKS

PAGES = Path(__file__).resolve().parents[1] / "docs" / "editions"
BEGIN = "<!-- begin: made by `python -m tools.edition_pages` out of evaluator/editions; change it there -->\n"
END = "<!-- end -->\n"


def page(name: str) -> str:
    """Return the page of an edition, with its generated part as it should be.

    Raises:
        ValueError: the page has no place for it.
    """
    text = path(name).read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path(name).name} lacks the lines around its generated part")
    return before + begin + "\n" + "".join(_generated(load(name))) + "\n" + end + after


def path(name: str) -> Path:
    """Return the file of an edition's page."""
    return PAGES / f"{name.lower()}.md"


def _generated(edition: Edition) -> Iterator[str]:
    rules_of = {competition.task: competition.rules for competition in edition.competitions.values()}
    yield "Classes without positives, and classes not entered:\n\n"
    for task, rules in rules_of.items():
        sentences = [_without_positives(rules), TASKS[task].classes_not_entered()]
        yield f"- **{TASKS[task].title}**: {' '.join(filter(None, sentences))}\n"
    yield f"\n{PARTIAL_ENTRIES}\n"


def _without_positives(rules: TaskRules) -> str:
    """The sentence on the metric that ranks, and on secondary measures of which another one is true."""
    definition = TASKS[rules.task]
    said = definition.without_positives(rules)
    others = {METRICS[metric].title: definition.without_positives(rules, metric) for metric in rules.secondary}
    return " ".join([said, *(f"{title}: {other}" for title, other in others.items() if other != said)])


def main() -> int:
    """Write the pages."""
    for name in names():
        path(name).write_text(page(name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
