"""Writes a page about an evaluation: scores, intervals, counts, curves, confusion matrices, diagnoses and warnings.

It has no scripts, so it can be printed and archived with a paper. Without a diagnosis it is a single file; with one,
the page of `vocboard view` is beside it.
"""

import math
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

import numpy as np

from vocboard.evaluator import extensions
from vocboard.evaluator.editions import BACKGROUND, Edition, Task
from vocboard.evaluator.evaluation import Evaluation
from vocboard.evaluator.plots import Line, plot
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.reports.crops import gallery
from vocboard.evaluator.reports.curves import axes_of, f_measure
from vocboard.evaluator.reports.diagnosis import diagnosis_sections
from vocboard.evaluator.reports.findings import Findings, MethodReport
from vocboard.evaluator.scores import CompetitionScores, Curve
from vocboard.evaluator.statistics.bootstrap import Bootstrap
from vocboard.evaluator.statistics.intervals import Interval
from vocboard.evaluator.tasks.definitions import METRICS, TASKS
from vocboard.evaluator.version import VERSION
from vocboard.evaluator.viewing.page import write_view
from vocboard.evaluator.whole_output import whole_directory

PAGE = "index.html"
VIEW = "view"  # folder of the page of `vocboard view`; of further image sets view2 and so on
_STYLE = Path(__file__).with_name("report.css")


def write_report(report: MethodReport, edition: Edition, output: Path) -> None:
    """Write a directory with the page, `index.html`.

    Args:
        report: what it shows.
        edition: edition of all evaluations.
        output: directory to write, atomically; the output of an earlier call is replaced.

    Raises:
        OutputExistsError: `output` exists and was not written by vocboard.
        OSError: it cannot be written.
    """
    with whole_directory(output, "report") as directory:
        write_pages(report, edition, directory, output)


def write_pages(report: MethodReport, edition: Edition, directory: Path, output: Path, method: str = "") -> None:
    """Write the page of a method's evaluations, and those of `vocboard view` beside it.

    Args:
        report: what it shows.
        edition: edition of all evaluations.
        directory: existing directory to write to.
        output: the directory's path when all is written.
        method: name for the title of the page; empty if there is only one method.
    """
    parts: list[str] = []
    for number, (name, each) in enumerate(report.evaluations.items()):
        own, folder = report.findings.get(name, Findings()), f"{VIEW}{number + 1 if number else ''}"
        shown: dict[str, dict[str, str]] = {}
        if report.sources is not None and own.worst:
            (directory / folder).mkdir()
            sources = report.sources
            view = write_view(
                sources.tree, directory / folder, output / folder, sources.editions[name], results=sources.results
            )
            shown = {
                key: {kind: gallery(errors, key, folder, view) for kind, errors in worst.items()}
                for key, worst in own.worst.items()
            }
        parts += _evaluation(name, each, edition, own, shown)
    title = f"{edition.title}, {', '.join(report.evaluations)}"
    text = page(f"{method}: {title}" if method else title, "\n".join(parts), edition)
    (directory / PAGE).write_text(text, encoding="utf-8")


def page(title: str, body: str, edition: Edition) -> str:
    """Return a whole page.

    Args:
        title: heading of the page, as plain text.
        body: HTML.
        edition: whose rules gave the scores.
    """
    rules = [competition.rules for competition in edition.competitions.values()]
    names = {name for each in rules for name in (each.task, each.metric, *each.secondary)}
    by = ", ".join([f"vocboard, evaluator {VERSION}", *extensions.used_by(names)])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}: evaluation</title><style>{_STYLE.read_text()}</style></head>\n<body><main>\n"
        f"<h1>{escape(title)}</h1><p>Evaluated by {escape(by)}. Scores are in per cent.</p>\n"
        f"{body}\n</main></body></html>\n"
    )


def _evaluation(
    image_set: str,
    evaluation: Evaluation,
    edition: Edition,
    findings: Findings,
    galleries: Mapping[str, Mapping[str, str]],
) -> Iterator[str]:
    for key, scores in evaluation.scores.items():
        task = escape(TASKS[scores.task].title.lower())
        yield f'<section id="{escape(image_set)}-{key}"><h2>{key}: {task}, {escape(image_set)}</h2>'
        bootstrap = findings.bootstraps.get(key)
        yield _summary(scores, bootstrap)
        yield _scores(scores, bootstrap)
        if scores.confusion_matrix is not None:
            yield _confusion(scores, edition)
        if scores.curves:
            yield _plots(scores)
        if key in findings.diagnoses:
            yield from diagnosis_sections(findings.diagnoses[key], galleries.get(key, {}))
        yield "</section>"
    for key in evaluation.unavailable:
        yield f"<section><h2>{key}</h2><p>Not scored: the tree has no ground truth for it.</p></section>"
    yield _problems(evaluation.problems)


def _summary(scores: CompetitionScores, bootstrap: Bootstrap | None) -> str:
    measures = []
    for measure in (scores.primary, *scores.secondary):
        notes = [f"mean of {measure.mean_over}"]
        if bootstrap is not None and measure.metric in bootstrap.measures:
            notes.append(f"95 % interval {interval_text(bootstrap.measures[measure.metric].mean.interval())}")
        measures.append(
            f"<div><dt>{escape(METRICS[measure.metric].title)}</dt>"
            f"<dd>{per_cent(measure.mean)} <small>{', '.join(notes)}</small></dd></div>"
        )
    missing = f"<p>Not entered: {escape(', '.join(scores.not_entered))}.</p>" if scores.not_entered else ""
    return f"<dl>{''.join(measures)}</dl>{missing}"


def _scores(scores: CompetitionScores, bootstrap: Bootstrap | None) -> str:
    names = scores.primary.per_class.keys()
    measures = (scores.primary, *(each for each in scores.secondary if names & each.per_class.keys()))
    heads = [escape(METRICS[measure.metric].short_title) for measure in measures]
    intervals = {} if bootstrap is None else bootstrap.per_class
    heads[1:1] = ["95 % interval"] if intervals else []
    heads += ["positives", "results", "ignored", "final recall", "final precision"] if scores.details else []
    rows = []
    for name, score in scores.primary.per_class.items():
        interval = [f"<td>{interval_text(intervals[name])}</td>"] if intervals else []
        cells = [_bar(score), *interval, *(_cell(measure.per_class.get(name, math.nan)) for measure in measures[1:])]
        details = scores.details.get(name)
        if scores.details and details is not None:
            counts = (details.positives, details.results, details.difficult)
            cells += [f"<td>{count:,}</td>" for count in counts]
            cells += [_cell(details.final_recall), _cell(details.final_precision)]
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>')
    head = "".join(f'<th scope="col">{text}</th>' for text in ("class", *heads))
    return wide("Scores of each class", f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>")


def _plots(scores: CompetitionScores) -> str:
    figures = []
    for name, curve in scores.curves.items():
        (x_name, x), (y_name, y) = axes_of(curve)
        drawn = plot([Line(name, x, y)], name, (_words(x_name), _words(y_name)))
        caption = f"{escape(name)} <b>{per_cent(scores.primary.per_class[name])}</b>"
        figures.append(f"<figure>{drawn}<figcaption>{caption}</figcaption></figure>")
    axes = axes_of(next(iter(scores.curves.values())))
    what = f"{_words(axes[1][0])} over {_words(axes[0][0])}".capitalize()
    text = f'<h3>{what}</h3><div class="plots">{"".join(figures)}</div>'
    if scores.task is Task.LAYOUT:
        f_plots = [
            f"<figure>{plot([Line(name, curve.recall, f_measure(curve))], name, ('recall', 'F-measure'))}"
            f"<figcaption>{escape(name)} <b>{_best(f_measure(curve))}</b></figcaption></figure>"
            for name, curve in scores.curves.items()
            if isinstance(curve, Curve)
        ]
        text += f'<h3>F-measure over recall, and its largest value</h3><div class="plots">{"".join(f_plots)}</div>'
    return text


def _confusion(scores: CompetitionScores, edition: Edition) -> str:
    matrix = np.asarray(scores.confusion_matrix, dtype=np.float64)
    totals = matrix.sum(axis=1, keepdims=True)
    shares = np.divide(matrix, totals, out=np.full_like(matrix, np.nan), where=totals > 0)
    labels = [BACKGROUND, *edition.classes]
    head = "".join(f'<th scope="col"><span>{escape(name)}</span></th>' for name in labels)
    rows = []
    for name, row, pixels in zip(labels, shares.tolist(), totals[:, 0].tolist(), strict=True):
        cells = "".join(
            "<td>–</td>" if math.isnan(share) else f'<td style="--share:{share:.3f}">{100 * share:.0f}</td>'
            for share in row
        )
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}<td>{pixels:,.0f}</td></tr>')
    title = "Confusion matrix: share of each true class's pixels (row) by their label in the result (column)"
    heads = f'<thead><tr><td></td>{head}<th scope="col">pixels</th></tr></thead>'
    table = f'<table class="confusion">{heads}<tbody>{"".join(rows)}</tbody></table>'
    return f"<h3>{title}</h3>{wide('Confusion matrix', table)}"


def wide(name: str, table: str) -> str:
    """Return a table that scrolls, also by keyboard, if it is wider than the page.

    Args:
        name: of the table, for screen readers, as plain text.
        table: HTML.
    """
    return f'<div class="wide" role="group" aria-label="{escape(name)}" tabindex="0">{table}</div>'


def _problems(problems: tuple[Problem, ...]) -> str:
    if not problems:
        return "<section><h2>Warnings</h2><p>None.</p></section>"
    items = []
    for problem in problems:
        place = "" if problem.file is None else f"<code>{escape(problem.file)}</code>"
        place += "" if problem.line is None else f" line {problem.line}"
        message = f"{place} {escape(problem.message)} <small>{problem.code}</small>"
        items.append(f"<li>{problem.severity.value}: {message}</li>")
    return f"<section><h2>Warnings and errors</h2><ul>{''.join(items)}</ul></section>"


def _bar(score: float) -> str:
    return _cell(score) if math.isnan(score) else f'<td class="bar" style="--share:{score:.4f}">{per_cent(score)}</td>'


def _cell(score: float) -> str:
    return f"<td>{per_cent(score)}</td>"


def per_cent(score: float) -> str:
    """Return a score in per cent, without the sign."""
    return "n/a" if math.isnan(score) else f"{100 * score:.2f}"


def interval_text(interval: Interval) -> str:
    """Return the ends of an interval in per cent."""
    low, high = interval.low, interval.high
    return "n/a" if math.isnan(low) or math.isnan(high) else f"{100 * low:.1f} to {100 * high:.1f}"


def _best(values: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> str:
    return "n/a" if np.isnan(values).all() else per_cent(float(np.nanmax(values)))


def _words(name: str) -> str:
    return name.replace("_", " ")
