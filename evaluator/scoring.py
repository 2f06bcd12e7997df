"""Scores columns against ground truth."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Competition, Edition
from vocboard.evaluator.ground_truth import GroundTruth, SegmentationTruth
from vocboard.evaluator.metrics.confusion_matrix import Confusion, ImageConfusions
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.results import Results
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.tasks.scoring import SCORERS


@dataclass(frozen=True, eq=False, slots=True)
class Evaluation:
    """The scores of one upload.

    Attributes:
        edition: name of the edition.
        scores: by competition key, in the edition's order; empty if there are errors.
        unavailable: competitions that cannot be scored because the ground truth lacks their task.
        problems: errors and warnings about the upload.
    """

    edition: str
    scores: Mapping[str, CompetitionScores]
    unavailable: tuple[str, ...]
    problems: tuple[Problem, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of `vocboard evaluate --json`: full precision, null for undefined values."""
        return {
            "edition": self.edition,
            "competitions": {key: scores.as_json() for key, scores in self.scores.items()},
            "unavailable": list(self.unavailable),
            "problems": [problem.as_json() for problem in self.problems],
        }


class Confusions:
    """Confusion matrices of the competitions with label maps. Thread-safe."""

    def __init__(self, truth: GroundTruth) -> None:
        """Create empty matrices for this ground truth."""
        self._truth = truth
        self._confusions: dict[str, Confusion] = {}

    def add(self, competition: Competition, image: int, label_map: NDArray[np.uint8]) -> None:
        """Count one label map.

        Args:
            image: index into `ImageSet.images`.
            label_map: (height, width) class indices, 0 for background.

        Raises:
            ValueError: its size or labels do not match the ground truth.
        """
        truth = self._truth.truths.get((competition.task, competition.image_set))
        if isinstance(truth, SegmentationTruth):
            self._of(competition).add(image, truth.runs(image), label_map)

    def matrix(self, competition: Competition) -> NDArray[np.int64] | None:
        """Return the (n + 1, n + 1) pixel counts; see `Confusion.matrix`. None for tasks without label maps."""
        truth = self._truth.truths.get((competition.task, competition.image_set))
        return self._of(competition).matrix if isinstance(truth, SegmentationTruth) else None

    def images(self, competition: Competition) -> NDArray[np.int64]:
        """Return the number of images with each label."""
        return self._of(competition).images

    def by_image(self, competition: Competition) -> ImageConfusions | None:
        """Return the pixel counts of each image. None for tasks without label maps."""
        truth = self._truth.truths.get((competition.task, competition.image_set))
        return self._of(competition).by_image() if isinstance(truth, SegmentationTruth) else None

    def _of(self, competition: Competition) -> Confusion:
        return self._confusions.setdefault(competition.key, Confusion(len(competition.classes)))


def score(
    results: Results,
    edition: Edition,
    truth: GroundTruth,
    *,
    confusions: Confusions | None = None,
    problems: tuple[Problem, ...] = (),
    progress: Callable[[int], None] | None = None,
) -> Evaluation:
    """Score the content of valid result files.

    Args:
        results: by competition; indices refer to the image sets of `truth`.
        edition: the edition, whose rules apply.
        truth: ground truth of the same edition.
        confusions: confusion matrices of the label maps; None if there are none.
        problems: warnings about the upload, to include in the evaluation.
        progress: called with 0 before each competition.

    Raises:
        ValueError: the ground truth belongs to another edition.
    """
    check_edition(truth, edition)
    matrices = confusions or Confusions(truth)
    scores, unavailable = {}, []
    for key, entry in results.items():
        if progress is not None:
            progress(0)
        competition = entry.competition
        secret = truth.truths.get((competition.task, competition.image_set))
        if secret is None:
            unavailable.append(key)
        else:
            matrix = matrices.matrix(competition)
            scored = SCORERS[competition.task].score(entry, secret, edition, matrix)
            scores[key] = scored if matrix is None else replace(scored, images_by_label=matrices.images(competition))
    return Evaluation(edition.name, scores, tuple(unavailable), problems)


def check_edition(truth: GroundTruth, edition: Edition) -> None:
    """Check that ground truth belongs to an edition.

    Raises:
        ValueError: it is another edition's.
    """
    if truth.edition != edition.name:
        raise ValueError(f"ground truth of {truth.edition}, results of {edition.name}")
