"""What stands out in a result: at most three findings, only from what its page shows to the same viewer."""

from dataclasses import dataclass

from vocboard.app.pages.diagnosis import RESULTS, DiagnosisView
from vocboard.app.pages.formats import percent
from vocboard.app.pages.result_comparison import Comparison
from vocboard.app.pages.results import ResultView

MAX_FINDINGS = 3
GAIN_DECIMALS = 3  # of fractions, as in the table of gains


@dataclass(frozen=True, slots=True)
class Finding:
    """One line.

    Attributes:
        target: id of the element that shows more.
    """

    text: str
    target: str


def findings(view: ResultView, comparison: Comparison | None) -> list[Finding]:
    """Return the findings in one competition; empty if only its mean is visible.

    Args:
        comparison: None if the viewer sees none, as with an anonymous link.
    """
    errors = _errors(view.diagnosis) if view.diagnosis else []
    found = [*errors[:1], _class(view, comparison), _confusion(view), *errors[1:]]
    return [finding for finding in found if finding is not None][:MAX_FINDINGS]


def _errors(diagnosis: DiagnosisView) -> list[Finding]:
    """The kinds of errors that cost most first; where costs are not shown, the most frequent ones."""
    gains = diagnosis.gains.of_mean if diagnosis.gains else ()
    found = [
        (gain.value, Finding(f"{gain.name}: {percent(gain.value, GAIN_DECIMALS)} points to gain", "gains-title"))
        for gain in gains
        if gain.number is not None and round(gain.value, GAIN_DECIMALS) > 0
    ]
    found += [
        (segment.width, Finding(f"{divided.title}: {segment.text}", divided.identifier))
        for divided in diagnosis.shares
        for segment in divided.bars[0].segments
        if segment.series != RESULTS["right"][1]
    ]
    if mistaken := diagnosis.mistaken:
        found += [
            (
                share,
                Finding(f"{shown} among the first {mistaken.noun} of {name}: {100 * share:.0f} %", "mistaken-title"),
            )
            for name, _, cells in mistaken.rows
            for shown, (share, _) in zip(mistaken.columns, cells, strict=True)
            if share and shown != name
        ]
    return [finding for _, finding in sorted(found, key=lambda one: -one[0])]


def _class(view: ResultView, comparison: Comparison | None) -> Finding | None:
    """The class that is furthest behind the best; if none is, the worst one."""
    better = 1 if view.higher_is_better else -1
    classes = comparison.classes if comparison else {}
    gaps = [(better * one.gap, name) for name, one in classes.items() if one.gap is not None]
    if gaps and min(gaps)[0] < 0:
        gap, name = min(gaps)
        return Finding(f"{name}: {percent(-gap, view.decimals)} points behind the best", "scores-title")
    scores = [(better * row.scores[0], row) for row in view.rows if row.entered and row.scores[0] is not None]
    if len(scores) < 2:
        return None
    _, worst = min(scores, key=lambda one: one[0])
    return Finding(f"{worst.name}: {percent(worst.scores[0], view.decimals)} %, the worst class", "scores-title")


def _confusion(view: ResultView) -> Finding | None:
    if view.confusion is None or not view.confusion.largest:
        return None
    row, cell = view.confusion.largest[0]
    step = f", in steps of {percent(row.step, 2)} %" if row.step else ""
    return Finding(f"{row.label} labelled {cell.label}: {100 * (cell.share or 0.0):.0f} %{step}", "confusion-title")
