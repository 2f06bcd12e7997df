"""Scores and curves of one competition as CSV and SVG. Everything comes from what a viewer may see of a result.

Scores in files are fractions, as everywhere in files of this server; drawings are in per cent.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from html import escape

from vocboard.app.evaluations.curves import AXES
from vocboard.app.evaluations.origin import ImportedScores
from vocboard.app.evaluations.rounding import format_fraction
from vocboard.app.evaluations.visible import VisibleCurve, VisibleResult
from vocboard.evaluator.names import CurveKind
from vocboard.evaluator.plots import BAR_ROW, BARS_WIDTH, TINY, Line, bars, plot, svg_file

_COUNTS = ("positives", "results", "difficult", "final_recall", "final_precision")

# Pixels of drawings.
_LINE, _BARS = 22, 620
_SIDE, _GAP, _COLUMNS = 150, 24, 5


def scores_csv(
    result: VisibleResult, classes: Sequence[str], decimals: int, imported: ImportedScores | None = None
) -> str:
    """Return the scores as RFC 4180 CSV: the mean first, then a row for each class, if the viewer may see classes.

    Undefined scores are `n/a`; those of classes that were not entered are empty, as on leaderboards. The last column of
    imported scores says so.
    """
    output = io.StringIO()
    writer = csv.writer(output)
    counts = _COUNTS if result.counts else ()
    head, origin = _origin(imported)
    writer.writerow(["class", "entered", *(measure.metric for measure in result.measures), *counts, "unit", *head])
    complete = "no" if result.not_entered else "yes"
    means = [format_fraction(measure.mean, decimals) for measure in result.measures]
    writer.writerow(["mean", complete, *means, *("" for _ in counts), "fraction", *origin])
    primary = result.measures[0].per_class
    for name in classes if primary else ():
        is_entered = name in primary
        scores = [
            format_fraction(measure.per_class[name], decimals) if name in measure.per_class else ""
            for measure in result.measures
        ]
        counted = _counted(result, name, decimals) if counts else []
        writer.writerow([name, "yes" if is_entered else "no", *scores, *counted, "fraction", *origin])
    return output.getvalue()


def curves_csv(curves: Mapping[str, VisibleCurve], imported: ImportedScores | None = None) -> str:
    """Return the points of the curves as RFC 4180 CSV, a row for each point; only a header if there is no curve.

    The column `step` is the step to which the points are rounded, empty if they are exact. A class without points has
    one row, with dashes. The last column of imported curves says so.
    """
    output = io.StringIO()
    writer = csv.writer(output)
    kind = next((curve.kind for curve in curves.values()), CurveKind.PRECISION_RECALL)
    head, origin = _origin(imported)
    writer.writerow(["class", *AXES[kind], "step", *head])
    for name, curve in curves.items():
        width = "" if curve.step is None else f"{curve.step:g}"
        writer.writerows([name, f"{x:.12g}", f"{y:.12g}", width, *origin] for x, y in curve.points)
        if not curve.points:
            writer.writerow([name, "-", "-", "", *origin])
    return output.getvalue()


def scores_svg(
    result: VisibleResult,
    classes: Sequence[str],
    decimals: int,
    title: str,
    imported: ImportedScores | None = None,
) -> str:
    """Return a drawing of the scores as bars: of the classes, if the viewer may see them, and of the mean.

    Its foot says so if they were imported.
    """
    measure = result.measures[0]
    scores = {name: measure.per_class[name] for name in classes if name in measure.per_class}
    scores[f"mean over {measure.mean_over}"] = measure.mean
    values = {name: None if score is None else 100 * score for name, score in scores.items()}
    height = round(_BARS * BAR_ROW * len(values) / BARS_WIDTH)
    size = f'y="{_LINE}" width="{_BARS}" height="{height}"'
    parts = [
        f'<text x="8" y="{_LINE - 6}">{escape(title)}</text>',
        bars(values, title, full=100, decimals=max(decimals - 2, 0), attributes=size),
        f'<text class="soft" x="8" y="{height + 2 * _LINE - 6}">0 to 100 %{_note(imported)}</text>',
    ]
    return svg_file(_BARS, height + 2 * _LINE, title, parts)


def curves_svg(curves: Mapping[str, VisibleCurve], title: str, imported: ImportedScores | None = None) -> str:
    """Return a drawing of the curves, each in its own frame with both axes from 0 to 1.

    Its foot says so if they were imported.
    """
    kind = next((curve.kind for curve in curves.values()), CurveKind.PRECISION_RECALL)
    right, up = (name.replace("_", " ") for name in AXES[kind])
    rows = max(-(-len(curves) // _COLUMNS), 1)
    width = _COLUMNS * (_SIDE + _GAP) + _GAP
    height = _LINE + rows * (_SIDE + _LINE + _GAP) + _GAP
    parts = [f'<text x="{_GAP}" y="{_LINE - 6}">{escape(title)}</text>']
    for number, (name, curve) in enumerate(curves.items()):
        row, column = divmod(number, _COLUMNS)
        x, y = _GAP + column * (_SIDE + _GAP), _LINE + row * (_SIDE + _LINE + _GAP) + _LINE
        lines = [Line.through(name, curve.points)] if curve.points else []
        size = f'x="{x}" y="{y}" width="{_SIDE}" height="{_SIDE}"'
        parts += [
            f'<text x="{x}" y="{y - 6}">{escape(name)}</text>',
            f'<text class="soft" x="{x + _SIDE}" y="{y - 6}" text-anchor="end">{_step(curve)}</text>',
            f'<rect class="frame" {size}/>',
            plot(lines, name, (right, up), TINY, attributes=size),
        ]
    foot = f"x: {right}, y: {up}, both from 0 to 1{_note(imported)}"
    parts.append(f'<text class="soft" x="{_GAP}" y="{height - 8}">{foot}</text>')
    return svg_file(width, height, title, parts)


def _origin(imported: ImportedScores | None) -> tuple[list[str], list[str]]:
    """Return the name of the last column, and what is in it; none of scores of this server."""
    return ([], []) if imported is None else (["imported"], [imported.text])


def _note(imported: ImportedScores | None) -> str:
    return "" if imported is None else f" · {escape(imported.short_text)}"


def _step(curve: VisibleCurve) -> str:
    if not curve.points:
        return "–"
    return "" if curve.step is None else f"steps of {100 * curve.step:g} %"


def _counted(result: VisibleResult, name: str, decimals: int) -> list[str]:
    counts = result.counts.get(name)
    if counts is None:
        return [""] * len(_COUNTS)
    return [
        *map(str, (counts.positives, counts.results, counts.difficult)),
        format_fraction(counts.final_recall, decimals),
        format_fraction(counts.final_precision, decimals),
    ]
