"""Export of leaderboards as CSV and LaTeX."""

import csv
import io

from vocboard.app.evaluations.rounding import written
from vocboard.app.forms.spreadsheets import defused
from vocboard.app.leaderboards.service import Board, Cell

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        # After the `\\` that ends a row, LaTeX would parse these as its optional argument or star.
        "[": "{[}",
        "]": "{]}",
        "*": "{*}",
    }
)


def as_csv(board: Board) -> str:
    """Return the leaderboard as RFC 4180 CSV with a header; undefined scores are `n/a`, missing classes empty."""
    output = io.StringIO()
    writer = csv.writer(output)
    means = ["mean", *(f"mean_{metric}" for metric in board.others)]
    stated = [f"declared_{declaration}" for declaration in board.competition.declarations]
    writer.writerow(
        ["rank", "method", "contributors", "affiliation", "submitted", *means, "mean_over", *board.classes, *stated]
    )
    for row in board.rows:
        writer.writerow(
            [
                "n/a" if row.rank is None else row.rank,
                *map(defused, (row.method, row.contributors, row.affiliation)),
                row.submitted_at.isoformat(timespec="seconds"),
                *(written(mean.value, board.decimals) for mean in (row.mean, *row.others)),
                row.mean_over,
                *(written(cell.value, board.decimals) if cell.is_entered else "" for cell in row.cells),
                *(defused("not declared" if one.text is None else one.text) for one in row.declared),
            ]
        )
    return output.getvalue()


def as_latex(board: Board) -> str:
    """Return the leaderboard as a LaTeX `tabular` for booktabs, with scores in per cent and the best in bold."""
    lines = [
        rf"\begin{{tabular}}{{l{'r' * (1 + len(board.others) + len(board.classes))}}}",
        r"\toprule",
        " & ".join(
            ["Method", "mean", *(escaped(f"mean {metric}") for metric in board.others), *map(escaped, board.classes)]
        )
        + r" \\",
        r"\midrule",
    ]
    lines += [
        " & ".join([escaped(row.method), *(_latex_cell(cell, board) for cell in (row.mean, *row.others, *row.cells))])
        + r" \\"
        for row in board.rows
    ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def escaped(text: str) -> str:
    r"""Escape text for LaTeX.

    >>> escaped("R-CNN_50% {$x$}")
    'R-CNN\\_50\\% \\{\\$x\\$\\}'
    """
    return " ".join(text.split()).translate(_LATEX)


def _latex_cell(cell: Cell, board: Board) -> str:
    if not cell.is_entered:
        return "--"
    if cell.value is None:
        return "n/a"
    score = f"{100 * cell.value:.{max(board.decimals - 2, 0)}f}"
    return rf"\textbf{{{score}}}" if cell.is_best else score
