"""Exports scores as CSV, one line per score, and as LaTeX, one row per competition or method."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping

from vocboard.evaluator.names import Metric
from vocboard.evaluator.reports.findings import Findings, MethodReport
from vocboard.evaluator.scores import CompetitionScores, Measure
from vocboard.evaluator.statistics.bootstrap import Bootstrap

COLUMNS = ("edition", "image_set", "competition", "task", "metric", "class", "score", "positives", "results")
MEAN = "mean"
_LATEX = {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
          "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}  # fmt: skip


def as_csv(reports: Mapping[str, MethodReport]) -> str:
    """Return CSV with one line for each score of each metric, at full precision; undefined scores are empty.

    Several methods have a column `method`, and scores with intervals the columns `low` and `high`.

    Args:
        reports: by method.
    """
    several = len(reports) > 1
    with_intervals = any(findings.bootstraps for each in reports.values() for findings in each.findings.values())
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow((*(("method",) if several else ()), *COLUMNS, *(("low", "high") if with_intervals else ())))
    for method, report in reports.items():
        for image_set, evaluation in report.evaluations.items():
            bootstraps = report.findings.get(image_set, Findings()).bootstraps
            for key, scores in evaluation.scores.items():
                for row in _rows(scores, bootstraps.get(key) if with_intervals else None):
                    where = (evaluation.edition, image_set, key, scores.task.value)
                    writer.writerow((*((method,) if several else ()), *where, *row[: None if with_intervals else -2]))
    return content.getvalue()


def _rows(scores: CompetitionScores, bootstrap: Bootstrap | None) -> Iterator[tuple[str | int, ...]]:
    """Yield metric, class, score, positives, results, and the ends of the interval, for each score and the means."""
    for measure in (scores.primary, *scores.secondary):
        replicated = None if bootstrap is None else bootstrap.measures.get(measure.metric)
        for name in (*measure.per_class, None):
            score = measure.mean if name is None else measure.per_class[name]
            counts: tuple[int | str, int | str] = ("", "")
            if name is not None and name in scores.details:
                counts = _positives(measure, scores, name), scores.details[name].results
            ends = ("", "")
            if replicated is not None:
                found = (replicated.mean if name is None else replicated.of_class(name)).interval()
                ends = exact(found.low), exact(found.high)
            yield measure.metric.value, MEAN if name is None else name, exact(score), *counts, *ends


def _positives(measure: Measure, scores: CompetitionScores, name: str) -> int | str:
    """Return the positives of a class for a metric; empty if it or the one that ranks counts more objects."""
    if measure.objects is not None:
        return measure.objects[name]
    one, other = (each.metric is Metric.AVERAGE_PRECISION_WITH_DIFFICULT for each in (measure, scores.primary))
    return scores.details[name].positives if one == other else ""


def exact(value: float) -> str:
    """Return a number with all its digits; empty if it is undefined."""
    return "" if math.isnan(value) else repr(float(value))


def as_latex(reports: Mapping[str, MethodReport]) -> str:
    """Return LaTeX with a table for each image set and list of classes, in per cent with one decimal.

    A row is a competition; of several methods, each competition has a table, and a row is a method. Scores with
    intervals have a column with that of the mean. Undefined scores are dashes. The tables need the packages booktabs
    and rotating.

    Args:
        reports: by method.
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    heads: dict[tuple[str, ...], tuple[tuple[str, ...], bool]] = {}
    for method, report in reports.items():
        for image_set, evaluation in report.evaluations.items():
            bootstraps = report.findings.get(image_set, Findings()).bootstraps
            for key, scores in evaluation.scores.items():
                names = tuple(scores.primary.per_class)
                row = f"{key} {scores.task.value}"
                title = f"{evaluation.edition} {image_set}" + (f" {row}" if len(reports) > 1 else "")
                cells = _cells(scores.primary, names)
                if bootstraps:
                    found = bootstraps[key].mean if key in bootstraps else None
                    cells.append("--" if found is None else interval_cell(found.low, found.high))
                line = " & ".join([escaped(method if len(reports) > 1 else row), *cells]) + r" \\"
                groups.setdefault((title, *names), []).append(line)
                heads[title, *names] = names, bool(bootstraps)
    return "\n".join(_table(key[0], *heads[key], rows) for key, rows in groups.items())


def _table(title: str, names: tuple[str, ...], with_interval: bool, rows: list[str]) -> str:
    sideways = " & ".join(rf"\begin{{sideways}}{escaped(name)}\end{{sideways}}" for name in names)
    head = rf" & {sideways} & mean" + (r" & 95\,\% interval" if with_interval else "")
    return latex_table(_comment(title), f"l{'r' * (len(names) + 1 + with_interval)}", head, rows)


def _comment(title: str) -> str:
    return rf"{title}, per cent; needs \usepackage{{booktabs}} and \usepackage{{rotating}}"


def latex_table(comment: str, columns: str, head: str, rows: Iterable[str]) -> str:
    """Return a table.

    Args:
        comment: first line, with the packages that are needed.
        columns: their alignment, such as `lrr`.
        head: row of headings, without its end.
        rows: complete rows.
    """
    return "\n".join(
        [
            f"% {comment}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            rf"{head} \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def interval_cell(low: float, high: float) -> str:
    """Return the ends of an interval in per cent, in math mode for the signs.

    >>> print(interval_cell(-0.012, 0.5))
    $[-1.2, 50.0]$
    """
    return "--" if math.isnan(low) or math.isnan(high) else f"$[{100 * low:.1f}, {100 * high:.1f}]$"


def escaped(text: str) -> str:
    """Return a name with LaTeX's special characters escaped.

    >>> print(escaped("R&D_1"))
    R\\&D\\_1
    """
    return "".join(_LATEX.get(character, character) for character in text)


def _cells(measure: Measure, names: tuple[str, ...]) -> list[str]:
    values = [*(measure.per_class[name] for name in names), measure.mean]
    return ["--" if math.isnan(value) else f"{100 * value:.1f}" for value in values]
