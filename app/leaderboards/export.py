"""Export of leaderboards as CSV and LaTeX.

Programs read CSV, so its scores are fractions; people read LaTeX, so there they are in per cent, as on the page. Both
say so. `n/a` is undefined, and `*` marks the mean of a method that did not enter all classes. A class that was not
entered is a dash, as on the page, or an empty field of CSV.
"""

import csv
import io

from vocboard.app.evaluations.rounding import format_fraction
from vocboard.app.forms import escape_formula
from vocboard.app.leaderboards.board import Board, BoardRow, Cell
from vocboard.app.leaderboards.models import ReportedResult
from vocboard.app.leaderboards.reported import exact, exact_percent
from vocboard.app.leaderboards.shown_statistics import ShownStatistics
from vocboard.app.leaderboards.statistics import UNKNOWN
from vocboard.app.submissions.forms import Statement, format_number
from vocboard.evaluator.tasks.definitions import METRICS

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

_INTERVAL_COMMENT = "% 95 % interval: bootstrap over test images, each method on its own; not for comparing methods."
_REPORTED_COMMENT = "% Dagger: not ranked; baselines and scores as reported elsewhere. --: not reported."


def as_csv(board: Board) -> str:
    """Return the leaderboard as RFC 4180 CSV with a header; undefined scores are `n/a`, missing classes empty.

    Scores by class of other metrics follow those of the first, in columns like `equal_error_rate_car`. Intervals and
    rank ranges follow in columns of their own once they are known; while they are computed again, they are empty. The
    last column of imported scores says so.
    If organisers have removed results since it was frozen, each row ends with the time of the latest removal.
    If there are baselines or results from papers, they follow in rows without a rank, and each row ends with its kind
    (`scored`, `baseline`, `paper` or `imported`), the source, and the place in it. Their scores are as reported.
    """
    known = _known(board)
    output = io.StringIO()
    writer = csv.writer(output)
    means = ["mean", *(f"mean_{metric}" for metric in board.others)]
    others = [place for place, metric in enumerate(board.others) if metric in board.class_metrics]
    classes = [*board.classes, *(f"{board.others[place]}_{name}" for place in others for name in board.classes)]
    origin = ["imported"] if board.imported else []
    certainty = ["mean_low", "mean_high", "rank_best", "rank_worst", "first_group"] if known else []
    corrected = [board.removals[0].removed_at.isoformat(timespec="seconds")] if board.removals else []
    stated = [declaration.column for declaration in board.competition.declarations]
    kinds = ["kind", "reference", "note"] if board.reported else []
    writer.writerow(
        [
            *("rank", "method", "contributors", "affiliation", "submitted", *means),
            *("mean_over", "complete", "unit", *classes, *stated, *certainty, *origin),
            *("corrected_at" for _ in corrected),
            *kinds,
        ]
    )
    for row in board.rows:
        writer.writerow(
            [
                "n/a" if row.rank is None else row.rank,
                *map(escape_formula, (row.method, row.contributors, row.affiliation)),
                row.submitted_at.isoformat(timespec="seconds"),
                *(format_fraction(mean.value, board.decimals) for mean in (row.mean, *row.others)),
                row.mean_over,
                "yes" if row.is_complete else "no",
                "fraction",
                *(
                    format_fraction(cell.value, board.decimals) if cell.is_entered else ""
                    for cells in (row.cells, *(row.other_cells[place] for place in others))
                    for cell in cells
                ),
                *map(_declared, row.declared),
                *(_certainty(row, known) if known else ()),
                *([board.imported.text] if board.imported else []),
                *corrected,
                *(["scored", "", ""] if kinds else []),
            ]
        )
    for one in board.reported:
        scores = [exact(one.per_class[name]) if name in one.per_class else "" for name in board.classes]
        mean = "" if one.mean is None else exact(one.mean)
        before = ["n/a", escape_formula(one.method), "", "", "", mean, *("" for _ in board.others)]
        between = [""] * (len(classes) - len(scores) + len(stated) + len(certainty) + len(origin) + len(corrected))
        source = [one.kind.value, *map(escape_formula, (one.reference, one.note))]
        writer.writerow([*before, "", "", "fraction", *scores, *between, *source])
    return output.getvalue()


def _known(board: Board) -> ShownStatistics | None:
    """Return the statistics of a leaderboard, if it has any."""
    return board.statistics if board.statistics and board.statistics.methods else None


def _declared(one: Statement) -> str:
    """Return a declaration for people, but a number without its unit, for programs."""
    if isinstance(one.value, int | float):
        return format_number(one.value, grouped=False)
    return escape_formula("not declared" if one.text is None else one.text)


def _certainty(row: BoardRow, statistics: ShownStatistics) -> list[str]:
    known = row.statistics or UNKNOWN
    ends = ["", ""] if known.mean is None else [format_fraction(end, statistics.decimals) for end in known.mean]
    if known.ranks is None:
        return [*ends, "", "", ""]
    return [*ends, *map(str, known.ranks), "yes" if known.is_in_first_group else "no"]


def as_latex(board: Board) -> str:
    """Return the leaderboard as a LaTeX `tabular` for booktabs, with scores in per cent and the best in bold."""
    interval = ["95 \\% interval"] if _known(board) else []
    lines = [
        f"% {board.challenge} {board.competition.key}: {METRICS[board.metric].title.lower()}, in per cent.",
        f"% Bold: best of the column. n/a: {_not_available(board)}. --: class not entered. *: not all classes entered.",
        *([_INTERVAL_COMMENT] if interval else []),
        *([f"% Scores: {' '.join(board.imported.text.split())}."] if board.imported else []),
        *(
            f"% Corrected after it was frozen: 1 result {one.cause} on {one.removed_at:%Y-%m-%d}."
            for one in board.removals
        ),
        *([_REPORTED_COMMENT] if board.reported else []),
        *(f"% {_source(one)}" for one in board.reported),
        rf"\begin{{tabular}}{{l{'r' * (1 + len(interval) + len(board.others) + len(board.classes))}}}",
        r"\toprule",
        " & ".join(
            [
                *("Method", "mean", *interval),
                *(escaped(f"mean {metric}") for metric in board.others),
                *map(escaped, board.classes),
            ]
        )
        + r" \\",
        r"\midrule",
    ]
    lines += [
        " & ".join([escaped(row.method), *_latex_means(row, board), *(_latex_cell(cell, board) for cell in row.cells)])
        + r" \\"
        for row in board.rows
    ]
    lines += [r"\midrule"] if board.reported and board.rows else []
    for one in board.reported:
        scores = [_latex_reported(one.mean), *("--" for _ in (*interval, *board.others))]
        scores += [_latex_reported(one.per_class.get(name)) for name in board.classes]
        lines.append(" & ".join([rf"{escaped(one.method)}$^\dagger$", *scores]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def escaped(text: str) -> str:
    r"""Escape text for LaTeX.

    >>> escaped("R-CNN_50% {$x$}")
    'R-CNN\\_50\\% \\{\\$x\\$\\}'
    """
    return " ".join(text.split()).translate(_LATEX)


def _not_available(board: Board) -> str:
    if board.ladder_step is None:
        return "undefined"
    return f"no new best of its entrant; preliminary, in steps of {100 * board.ladder_step:g} until the phase closes"


def _latex_means(row: BoardRow, board: Board) -> list[str]:
    star = "" if row.is_complete else r"\rlap{*}"  # takes no room, so that the columns stay aligned
    mean, *others = [f"{_latex_cell(mean, board)}{star}" for mean in (row.mean, *row.others)]
    known = _known(board)
    return [mean, *(_latex_interval(row, known) if known else ()), *others]


def _latex_interval(row: BoardRow, statistics: ShownStatistics) -> list[str]:
    known = row.statistics or UNKNOWN
    if known.mean is None:
        return [""]
    return ["--".join(f"{100 * end:.{max(statistics.decimals - 2, 0)}f}" for end in known.mean)]


def _latex_cell(cell: Cell, board: Board) -> str:
    if not cell.is_entered:
        return "--"
    if cell.value is None:
        return "n/a"
    score = f"{100 * cell.value:.{max(board.decimals - 2, 0)}f}"
    return rf"\textbf{{{score}}}" if cell.is_best else score


def _latex_reported(score: float | None) -> str:
    return "--" if score is None else exact_percent(score)


def _source(one: ReportedResult) -> str:
    """Return where a reported result is from, for a comment: on one line."""
    return " ".join(f"{one.method}: {one.kind}. {one.reference} {one.note}".split())
