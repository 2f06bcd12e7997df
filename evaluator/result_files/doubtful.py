"""Decides from the files of a competition whether its results look wrong as a whole."""

from collections.abc import Sequence

from vocboard.evaluator.problems import Share
from vocboard.evaluator.problems.boxes import (
    BOXES_AS_FRACTIONS,
    BOXES_FROM_CENTRE,
    BOXES_WITH_SIZES,
    CONFIDENCE_AFTER_BOX,
)
from vocboard.evaluator.result_files.box_convention import BoxConvention, BoxEvidence
from vocboard.evaluator.result_files.report import FileReport

DOUBTFUL = 0.25  # of the results of a competition; if warnings are about more, the server asks
_KINDS = {
    BoxConvention.FRACTIONS: BOXES_AS_FRACTIONS,
    BoxConvention.SIZES: BOXES_WITH_SIZES,
    BoxConvention.CENTRES: BOXES_FROM_CENTRE,
    BoxConvention.SCORE_LAST: CONFIDENCE_AFTER_BOX,
}


def note_convention(competition: str, reports: Sequence[FileReport], archive: FileReport) -> None:
    """Warn if the boxes of a competition seem to have another convention: all of its results are doubtful then.

    Args:
        competition: its key.
        reports: of its files.
        archive: receives the warning.
    """
    boxes = sum((report.boxes for report in reports), start=BoxEvidence())
    convention = boxes.likely()
    if convention is None:
        return
    for report in reports:
        report.doubtful = report.results
    number, stated = (boxes.fitting.get(each, 0) for each in (convention, BoxConvention.CORNERS))
    first = next(report.file for report in reports if report.boxes.fitting.get(convention))
    share = Share(number, boxes.boxes, "box", "boxes")
    archive.add_share(_KINDS[convention], share, file=first, competition=competition, fitting=f"{stated:,}")


def doubtful_share(reports: Sequence[FileReport]) -> Share | None:
    """Return how many results of a competition warnings are about; None if they are at most a quarter.

    Args:
        reports: of its files.
    """
    number, total = sum(report.doubtful for report in reports), sum(report.results for report in reports)
    return Share(number, total, "result", "results") if number > DOUBTFUL * total else None
