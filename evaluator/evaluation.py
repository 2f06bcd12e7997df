"""Evaluates result files against ground truth."""

from collections.abc import Callable, Sequence
from pathlib import Path

from vocboard.evaluator.editions import Edition
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.problems import has_errors
from vocboard.evaluator.reading.results import ReadResults, read_results
from vocboard.evaluator.scoring import Confusions, Evaluation, check_edition, score

__all__ = ["Confusions", "Evaluation", "check_edition", "evaluate", "read_for_scoring", "score_results"]


def evaluate(
    path: Path,
    edition: Edition,
    truth: GroundTruth,
    *,
    segmentation_classes: Sequence[str] | None = None,
    other_editions: Sequence[Edition] = (),
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Read and score an upload. If it has errors, nothing is scored.

    Args:
        path: archive or directory of result files.
        edition: the edition, whose rules apply.
        truth: ground truth of the same edition.
        segmentation_classes: classes that the participant declared for segmentation; None for all.
        other_editions: the same edition for other image sets, whose result files are ignored.
        progress: called with the number of files read, and with 0 before each competition is scored.

    Raises:
        ValueError: the ground truth belongs to another edition.
        OSError: the upload cannot be read.
    """
    read, confusions = read_for_scoring(
        path,
        edition,
        truth,
        segmentation_classes=segmentation_classes,
        other_editions=other_editions,
        progress=progress,
    )
    return score_results(read, edition, truth, confusions, progress=progress)


def read_for_scoring(
    path: Path,
    edition: Edition,
    truth: GroundTruth,
    *,
    segmentation_classes: Sequence[str] | None = None,
    other_editions: Sequence[Edition] = (),
    progress: Callable[[int], None] | None = None,
    with_boundaries: bool = False,
) -> tuple[ReadResults, Confusions]:
    """Read an upload, and count the pixels of its label maps; other arguments and exceptions are those of `evaluate`.

    Args:
        with_boundaries: see `Confusions`.
    """
    check_edition(truth, edition)
    confusions = Confusions(truth, with_boundaries=with_boundaries)
    read = read_results(
        path,
        edition,
        truth.image_sets,
        segmentation_classes=segmentation_classes,
        segmentation_sink=confusions.add,
        other_editions=other_editions,
        progress=progress,
    )
    return read, confusions


def score_results(
    read: ReadResults,
    edition: Edition,
    truth: GroundTruth,
    confusions: Confusions,
    *,
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Score results that were read. If they have errors, nothing is scored.

    Args:
        read: the results.
        edition: the edition, whose rules apply.
        truth: ground truth of the same edition.
        confusions: received the label maps while they were read.
        progress: called with 0 before each competition is scored.
    """
    if has_errors(read.problems):
        return Evaluation(edition.name, {}, (), read.problems)
    return score(read.results, edition, truth, confusions=confusions, problems=read.problems, progress=progress)
