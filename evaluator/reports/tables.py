"""Exports scores as CSV, one line per score, and as LaTeX, one row per competition."""

import csv
import io
import math
from collections.abc import Mapping

from vocboard.evaluator.evaluation import Evaluation
from vocboard.evaluator.scores import CompetitionScores, Measure

COLUMNS = ("edition", "image_set", "competition", "task", "metric", "class", "score", "positives", "results")
MEAN = "mean"
_LATEX = {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
          "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}  # fmt: skip


def as_csv(evaluations: Mapping[str, Evaluation]) -> str:
    """Return CSV with one line for each score of each metric, at full precision; undefined scores are empty.

    Args:
        evaluations: evaluations by image set.
    """
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(COLUMNS)
    for image_set, evaluation in evaluations.items():
        for key, scores in evaluation.scores.items():
            for measure in (scores.primary, *scores.secondary):
                for name, score in (*measure.per_class.items(), (MEAN, measure.mean)):
                    details = scores.details.get(name)
                    counts = ("", "") if details is None else (details.positives, details.results)
                    text = "" if math.isnan(score) else repr(float(score))
                    row = (evaluation.edition, image_set, key, scores.task.value, measure.metric.value, name, text)
                    writer.writerow((*row, *counts))
    return content.getvalue()


def as_latex(evaluations: Mapping[str, Evaluation]) -> str:
    """Return LaTeX with a table for each image set and list of classes, in per cent with one decimal.

    Undefined scores are dashes.

    The tables need the packages booktabs and rotating.

    Args:
        evaluations: by image set.
    """
    tables = []
    for image_set, evaluation in evaluations.items():
        groups: dict[tuple[str, ...], list[CompetitionScores]] = {}
        for scores in evaluation.scores.values():
            groups.setdefault(tuple(scores.primary.per_class), []).append(scores)
        tables += [_table(evaluation.edition, image_set, names, group) for names, group in groups.items()]
    return "\n".join(tables)


def _table(edition: str, image_set: str, names: tuple[str, ...], group: list[CompetitionScores]) -> str:
    heads = " & ".join(rf"\begin{{sideways}}{escaped(name)}\end{{sideways}}" for name in names)
    rows = [
        " & ".join([f"{escaped(each.competition)} {each.task.value}", *_cells(each.primary, names)]) + r" \\"
        for each in group
    ]
    return "\n".join(
        [
            rf"% {edition} {image_set}, per cent; needs \usepackage{{booktabs}} and \usepackage{{rotating}}",
            rf"\begin{{tabular}}{{l{'r' * (len(names) + 1)}}}",
            r"\toprule",
            rf" & {heads} & mean \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def escaped(text: str) -> str:
    """Return a name with LaTeX's special characters escaped.

    >>> print(escaped("R&D_1"))
    R\\&D\\_1
    """
    return "".join(_LATEX.get(character, character) for character in text)


def _cells(measure: Measure, names: tuple[str, ...]) -> list[str]:
    values = [*(measure.per_class[name] for name in names), measure.mean]
    return ["--" if math.isnan(value) else f"{100 * value:.1f}" for value in values]
