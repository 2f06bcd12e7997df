"""Writes a page that compares several methods: ranks, and differences with their intervals.

Each method's own report is in a folder beside the page.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from vocboard.evaluator.editions import Edition
from vocboard.evaluator.names import Metric
from vocboard.evaluator.reports.findings import MethodReport
from vocboard.evaluator.reports.page import PAGE, interval_text, page, per_cent, wide, write_pages
from vocboard.evaluator.statistics.compared import ComparedMeasure, ComparedMethods
from vocboard.evaluator.statistics.comparison import Comparison, Difference
from vocboard.evaluator.statistics.intervals import LEVEL, MIN_COUNTING_IMAGES, ReplicatedMeasure
from vocboard.evaluator.tasks.definitions import METRICS, TASKS
from vocboard.evaluator.whole_output import whole_directory

FOLDER = "method"  # of a method's own report, with its number


def write_comparison_report(
    reports: Mapping[str, MethodReport],
    comparisons: Mapping[str, Mapping[str, ComparedMethods]],
    edition: Edition,
    output: Path,
) -> None:
    """Write a directory with the page, `index.html`, and the report on each method in `method1`, `method2` and so on.

    Args:
        reports: by method, at least one.
        comparisons: by image set and competition.
        edition: edition of all evaluations.
        output: directory to write, atomically; the output of an earlier call is replaced.

    Raises:
        OutputExistsError: `output` exists and was not written by vocboard.
        OSError: it cannot be written.
    """
    with whole_directory(output, "report") as directory:
        links = []
        for number, (method, report) in enumerate(reports.items(), start=1):
            folder = f"{FOLDER}{number}"
            (directory / folder).mkdir()
            write_pages(report, edition, directory / folder, output / folder, method)
            links.append(f'<li><a href="{folder}/{PAGE}">{escape(method)}</a></li>')
        parts = [f"<section><h2>Methods</h2><ul>{''.join(links)}</ul></section>"]
        for image_set, of_set in comparisons.items():
            for key, found in of_set.items():
                measures = {
                    method: report.findings[image_set].bootstraps[key].measures
                    for method, report in reports.items()
                    if key in report.findings[image_set].bootstraps
                }
                parts += _competition(edition, image_set, key, found, measures)
        if len(parts) == 1:
            parts.append("<section><p>Nothing was compared; that needs --bootstrap.</p></section>")
        sets = ", ".join(next(iter(reports.values())).evaluations)
        text = page(f"{edition.title}, {sets}: {len(reports)} methods", "\n".join(parts), edition)
        (directory / PAGE).write_text(text, encoding="utf-8")


def _competition(
    edition: Edition,
    image_set: str,
    key: str,
    found: ComparedMethods,
    measures: Mapping[str, Mapping[Metric, ReplicatedMeasure]],
) -> Iterator[str]:
    rules = edition.competitions[key].rules
    yield f"<section><h2>{key}: {escape(TASKS[rules.task].title.lower())}, {escape(image_set)}</h2>"
    yield (
        f"<p>{found.replicates:,} replicates of {found.images:,} test images. The intervals of differences are "
        "simultaneous for all pairs of methods, for each metric and each class on its own.</p>"
    )
    for metric in (rules.metric, *rules.secondary):
        if metric in found.measures:
            yield f"<h3>{escape(METRICS[metric].title)}</h3>"
            yield from _measure(found.measures[metric], {name: each[metric] for name, each in measures.items()})
    yield "</section>"


def _measure(found: ComparedMeasure, measures: Mapping[str, ReplicatedMeasure]) -> Iterator[str]:
    if found.mean is None:
        yield "<p>Means are not compared: fewer than two methods entered the same classes.</p>"
    else:
        yield _ranks(found.mean, measures)
        yield _pairs(found.mean)
    if len(found.per_class) > 1:
        yield _classes(found, list(measures) if found.mean is None else found.mean.methods)


def _ranks(found: Comparison, measures: Mapping[str, ReplicatedMeasure]) -> str:
    ranks = range(1, len(found.methods) + 1)
    rows = []
    for method, shares in zip(found.methods, found.rank_shares.tolist(), strict=True):
        score, (best, worst) = measures[method].mean, found.rank_ranges[method]
        cells = [
            per_cent(score.score),
            interval_text(score.interval()),
            f"{best}" if best == worst else f"{best} to {worst}",
            "yes" if method in found.first_group else "",
            *(f"{100 * share:.1f}" for share in shares),
        ]
        rows.append(_row(method, cells))
    heads = (
        *("method", "mean", "95 % interval", "ranks", "first group"),
        *(f"rank {rank}, % of replicates" for rank in ranks),
    )
    return _table("Ranks of the means", heads, rows)


def _pairs(found: Comparison) -> str:
    rows = [
        _row(
            f"{one} − {other}",
            [
                _points(each.difference, 2),
                _ends(each),
                f"{each.p_value:.3f}",
                "significant" if each.is_significant else "",
            ],
        )
        for (one, other), each in found.differences.items()
    ]
    heads = ("methods", "difference, points", "simultaneous 95 % interval", "corrected p-value", "")
    return _table("Differences of the means", heads, rows)


def _classes(found: ComparedMeasure, methods: Sequence[str]) -> str:
    """Return a table of the differences of the first method from the others, in each class."""
    first, *others = methods
    rows = []
    for name, comparison in found.per_class.items():
        known = () if comparison is None else comparison.methods
        cells = [
            _difference(comparison.difference(first, other))
            if comparison is not None and first in known and other in known
            else "n/a"
            for other in others
        ]
        rows.append(_row(name, cells, is_html=True))
    heads = ("class", *(f"{first} − {other}, points" for other in others))
    title = (
        "Differences in each class, with simultaneous 95 % intervals; in bold: significant, with *: also if corrected "
        "for all classes"
    )
    return _table(title, heads, rows)


def _difference(each: Difference) -> str:
    text = f"{_points(each.difference)} ({_ends(each)})"
    joint = "*" if each.p_value_all_classes is not None and each.p_value_all_classes <= 1 - LEVEL else ""
    return f"<b>{text}{joint}</b>" if each.is_significant else text


def _ends(each: Difference) -> str:
    if np.isnan(each.low):
        return f"fewer than {MIN_COUNTING_IMAGES} images count"
    return f"{_points(each.low)} to {_points(each.high)}"


def _points(value: float, decimals: int = 1) -> str:
    return f"{round(100 * value, decimals) + 0.0:.{decimals}f}"  # adding 0 removes the sign of -0


def _row(head: str, cells: Sequence[str], *, is_html: bool = False) -> str:
    inside = "".join(f"<td>{cell if is_html else escape(cell)}</td>" for cell in cells)
    return f'<tr><th scope="row">{escape(head)}</th>{inside}</tr>'


def _table(title: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"<h4>{escape(title)}</h4>{wide(title, table)}"
