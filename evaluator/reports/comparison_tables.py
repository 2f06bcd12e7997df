"""Exports a comparison of methods as CSV and LaTeX, one row per method."""

import csv
import io
from collections.abc import Callable, Mapping

from vocboard.evaluator.reports.tables import escaped, exact, interval_cell, latex_table
from vocboard.evaluator.statistics.comparison import Comparison
from vocboard.evaluator.statistics.intervals import ReplicatedScore

COLUMNS = (
    "method", "score", "low", "high", "best_rank", "worst_rank",
    "first_minus_this", "difference_low", "difference_high", "is_significant",
    "p_value_all_classes",
)  # fmt: skip


def comparison_csv(scores: Mapping[str, ReplicatedScore], found: Comparison) -> str:
    """Return CSV with one line for each method: its score, interval and ranks, and the first method's lead over it.

    Args:
        scores: by method.
        found: their comparison.
    """
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name in found.methods:
        interval = scores[name].interval()
        row: list[object] = [name, *map(exact, (scores[name].score, interval.low, interval.high))]
        row += found.rank_ranges[name]
        lead = found.differences.get((found.methods[0], name))
        if lead is None:
            row += [""] * 5
        else:
            row += [*map(exact, (lead.difference, lead.low, lead.high)), str(bool(lead.is_significant)).lower()]
            row.append("" if lead.p_value_all_classes is None else exact(lead.p_value_all_classes))
        writer.writerow(row)
    return content.getvalue()


def comparison_latex(scores: Mapping[str, ReplicatedScore], found: Comparison) -> str:
    """Return a LaTeX table with one row for each method, in per cent with one decimal; see `comparison_csv`."""
    rows = []
    for name in found.methods:
        interval, (best, worst) = scores[name].interval(), found.rank_ranges[name]
        lead = found.differences.get((found.methods[0], name))
        cells = [
            escaped(name),
            f"{100 * scores[name].score:.1f}",
            interval_cell(interval.low, interval.high),
            f"{best}" if best == worst else f"{best}--{worst}",
            "" if lead is None else f"{100 * lead.difference:.1f}",
            "" if lead is None else interval_cell(lead.low, lead.high),
        ]
        rows.append(" & ".join(cells) + r" \\")
    head = r" & score & 95\,\% interval & rank & difference & 95\,\% interval"
    comment = r"per cent; differences: the first method minus the others, simultaneous; needs \usepackage{booktabs}"
    return latex_table(comment, "lrrrrr", head, rows)


EXPORTS: Mapping[str, Callable[[Mapping[str, ReplicatedScore], Comparison], str]] = {
    "csv": comparison_csv,
    "latex": comparison_latex,
}
