"""Write the parts of docs/editions that follow from edition files and tasks: `python -m tools.edition_pages`.

Such a part stands between two comments, the first of which names it.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from vocboard.evaluator.editions import Competition, Edition, LayoutProtocol, TaskRules, load, names
from vocboard.evaluator.result_files.names import expected_name
from vocboard.evaluator.tasks.definitions import METRICS, PARTIAL_ENTRIES, TASKS
from vocboard.evaluator.tasks.detection.subsets import SUBSETS

PAGES = Path(__file__).resolve().parents[1] / "docs" / "editions"
OWN = "own"
_EXAMPLES = ("car", "cars")  # the class that stands in names of files; else the last one
_PART = re.compile(r"<!-- begin (?P<part>\w+): .*? -->\n.*?<!-- end (?P=part) -->\n", re.DOTALL)
_BEGIN = "<!-- begin {}: generated from evaluator/ by `python -m tools.edition_pages`; do not edit -->\n"
_END = "<!-- end {} -->\n"


def page(name: str) -> str:
    """Return the page of an edition, or of custom editions, with its generated parts up to date.

    Raises:
        ValueError: the page has no place for one of them.
    """
    parts = _parts(name)
    text = path(name).read_text(encoding="utf-8")
    found = [match["part"] for match in _PART.finditer(text)]
    if sorted(found) != sorted(parts):
        raise ValueError(f"{path(name).name} has generated parts {found}, expected {list(parts)}")

    def generated(match: re.Match[str]) -> str:
        part = match["part"]
        return f"{_BEGIN.format(part)}\n{''.join(parts[part]())}\n{_END.format(part)}"

    return _PART.sub(generated, text)


def path(name: str) -> Path:
    """Return the file of a page."""
    return PAGES / f"{name.lower()}.md"


def all_pages() -> tuple[str, ...]:
    """Return the names of all pages with generated parts."""
    return (*names(), OWN)


def _parts(name: str) -> Mapping[str, Callable[[], Iterator[str]]]:
    if name == OWN:
        return {"metrics": _metrics, "described": _described, "subsets": _subsets, "fields": _fields}
    edition = load(name)
    return {"files": lambda: _files(edition), "scores": lambda: _scores(edition)}


def _files(edition: Edition) -> Iterator[str]:
    """A table of result files, with competitions that differ in their numbers alone in one row."""
    rows: dict[tuple[str, str, str], list[Competition]] = {}
    for competition in edition.competitions.values():
        definition, rules = TASKS[competition.task], competition.rules
        title = " ".join(filter(None, [competition.variant, definition.title.lower()]))
        row = title, competition.image_set, definition.content(rules)
        rows.setdefault(row, []).append(competition)
    yield "| competitions | task | file | line or content |\n|---|---|---|---|\n"
    for (title, _, content), competitions in rows.items():
        keys = ", ".join(str(each.number or each.key) for each in competitions)
        first = competitions[0]
        example = next((name for name in first.classes if name in _EXAMPLES), first.classes[-1])
        file = expected_name(first, example, image="<image>")
        shown = f"`{content}`" if content.startswith("<") else content
        yield f"| {keys} | {title} | `{file}` | {shown} |\n"


def _scores(edition: Edition) -> Iterator[str]:
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


def _metrics() -> Iterator[str]:
    """The metrics of custom editions."""
    yield "| task | `metric` | only as `secondary` |\n|---|---|---|\n"
    for task, definition in TASKS.items():
        metrics = ", ".join(f"`{metric}`" for metric in definition.metrics)
        listed = [
            f"`{metric}`{_protocols(known.protocols)}"
            for metric, known in definition.only_secondary.items()
            if metric not in SUBSETS
        ]
        if SUBSETS.keys() & definition.only_secondary.keys():
            listed.append("[metrics of some objects](#metrics-of-some-objects)")
        others = ", ".join(listed)
        yield f"| `{task}` | {metrics} | {others} |\n"


def _protocols(protocols: frozenset[LayoutProtocol] | None) -> str:
    return f" ({', '.join(sorted(protocols))})" if protocols else ""


def _described() -> Iterator[str]:
    """Describe the metrics that the VOC documents do not define."""
    yield "| metric | name | what it measures |\n|---|---|---|\n"
    for metric, known in METRICS.items():
        if known.description:
            sentences = (
                known.description,
                known.undefined,
                None if known.higher_is_better else "Lower is better.",
                None if known.has_intervals else "It has no intervals.",
                "Shown only at the detail level `everything`." if known.needs_public_ground_truth else None,
            )
            yield f"| `{metric}` | {known.title} | {' '.join(filter(None, sentences))} |\n"


def _subsets() -> Iterator[str]:
    """Which objects the metrics of some objects are about."""
    yield "| metric | name | of which objects |\n|---|---|---|\n"
    for metric, subset in SUBSETS.items():
        yield f"| `{metric}` | {METRICS[metric].title} | {subset.objects} |\n"


def _fields() -> Iterator[str]:
    """The fields of names of files, with links to the pages of tasks."""
    yield "| task | fields that `file` needs | that it may have |\n|---|---|---|\n"
    for task, definition in TASKS.items():
        possible = sorted(definition.possible_fields | {"competition", "image_set"})
        cells = [", ".join(f"`{{{name}}}`" for name in each) for each in (sorted(definition.needed_fields), possible)]
        described = f"tasks/{task.replace('_', '-')}.md"
        name = f"[`{task}`](../{described})" if (PAGES.parent / described).exists() else f"`{task}`"
        yield f"| {name} | {cells[0]} | {cells[1]} |\n"


def main() -> int:
    """Write the pages."""
    for name in all_pages():
        path(name).write_text(page(name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
