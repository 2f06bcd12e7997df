"""HTML tables for notebooks, in plain markup that uses the notebook's colours."""

import math
from collections.abc import Iterable, Sequence
from html import escape

from vocboard.evaluator.evaluation import Evaluation
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.tasks.definitions import METRICS, TASKS

_LISTED = 20  # problems


def summary_table(evaluation: Evaluation) -> str:
    """Return a row for each competition; empty for a single one."""
    if len(evaluation.scores) + len(evaluation.unavailable) < 2:
        return ""
    rows = [
        (key, TASKS[scores.task].title, METRICS[scores.primary.metric].title, _number(scores.primary.mean))
        for key, scores in evaluation.scores.items()
    ]
    rows += [(key, "not scored: the ground truth has nothing on it", "", "") for key in evaluation.unavailable]
    return _table(evaluation.edition, ("competition", "task", "metric", "mean"), rows)


def scores_table(edition: str, scores: CompetitionScores) -> str:
    """Return a row for each class, and the mean."""
    measures = (scores.primary, *scores.secondary)
    heads = ["class", *(METRICS[measure.metric].short_title for measure in measures)]
    with_counts = bool(scores.details)
    if with_counts:
        heads += ["positives", "results"]
    names = dict.fromkeys(name for measure in measures for name in measure.per_class)
    rows = []
    for name in names:
        row = [name, *(_number(measure.per_class[name]) if name in measure.per_class else "" for measure in measures)]
        if with_counts:
            counts = scores.details.get(name)
            row += ["", ""] if counts is None else [f"{counts.positives:,}", f"{counts.results:,}"]
        rows.append(row)
    means = ["mean", *(_number(measure.mean) for measure in measures), *(["", ""] if with_counts else [])]
    title = f"{edition} {scores.competition}: {TASKS[scores.task].title.lower()}"
    table = _table(title, heads, rows, last=means)
    if scores.not_entered:
        table += f"<p>Not entered: {escape(', '.join(scores.not_entered))}.</p>"
    return table


def problems_table(problems: Sequence[Problem]) -> str:
    """Return a row for each problem; empty if there are none."""
    if not problems:
        return ""
    rows = [
        (each.severity.value, each.file or "", "" if each.line is None else str(each.line), each.message)
        for each in problems[:_LISTED]
    ]
    more = len(problems) - _LISTED
    return _table("", ("", "where", "line", "problem"), rows) + (f"<p>And {more:,} more.</p>" if more > 0 else "")


def validation_table(edition: str, competitions: Iterable[str], is_valid: bool, problems: Sequence[Problem]) -> str:
    """Return whether results are valid, and their problems."""
    verdict = f"{edition} {', '.join(competitions)}: {'valid' if is_valid else 'not valid'}"
    return f"<p><strong>{escape(verdict)}</strong></p>{problems_table(problems)}"


def _number(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:.4f}"


def _table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], last: Sequence[str] | None = None) -> str:
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    body = "".join(_row(row) for row in rows)
    foot = f"<tfoot>{_row(last)}</tfoot>" if last else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table>"


def _row(cells: Sequence[str]) -> str:
    first, *others = cells
    return f'<tr><th scope="row">{escape(first)}</th>{"".join(f"<td>{escape(each)}</td>" for each in others)}</tr>'
