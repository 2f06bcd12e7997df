"""Scores columns against ground truth."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator import extensions
from vocboard.evaluator.editions import Competition, Edition
from vocboard.evaluator.ground_truth import GroundTruth, SegmentationTruth
from vocboard.evaluator.metrics.boundaries import Boundaries
from vocboard.evaluator.metrics.confusion_matrix import Confusion
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.results import Results
from vocboard.evaluator.scores import CompetitionScores, names_scored
from vocboard.evaluator.tasks.scorer import LabelMapCounts
from vocboard.evaluator.tasks.scorers import SCORERS
from vocboard.evaluator.tasks.segmentation.metrics import NEAR_BOUNDARIES


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
            "extensions": list(extensions.used_by(names_scored(self.scores.values()))),
            "competitions": {key: scores.as_json() for key, scores in self.scores.items()},
            "unavailable": list(self.unavailable),
            "problems": [problem.as_json() for problem in self.problems],
        }


class Confusions:
    """Pixel counts of the competitions with label maps. Thread-safe."""

    def __init__(self, truth: GroundTruth, *, with_boundaries: bool = False) -> None:
        """Start without label maps.

        Args:
            truth: what they are compared with.
            with_boundaries: whether to count pixels near boundaries, too, even if no metric needs them. This takes some
                10 ms for an image, fifty times as long as the confusion matrix.
        """
        self._truth, self._with_boundaries = truth, with_boundaries
        self._counting: dict[str, tuple[Confusion, Boundaries | None]] = {}  # by competition

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
            runs = truth.runs(image)
            confusion, boundaries = self._of(competition)
            confusion.add(image, runs, label_map)
            if boundaries is not None:
                boundaries.add(image, runs, label_map)

    def counts(self, competition: Competition) -> LabelMapCounts | None:
        """Return the pixels of all images. None for tasks without label maps."""
        truth = self._truth.truths.get((competition.task, competition.image_set))
        if not isinstance(truth, SegmentationTruth):
            return None
        confusion, boundaries = self._of(competition)
        return LabelMapCounts(confusion.by_image(), None if boundaries is None else boundaries.counts())

    def _of(self, competition: Competition) -> tuple[Confusion, Boundaries | None]:
        known = self._counting.get(competition.key)
        return known or self._counting.setdefault(competition.key, self._begun(competition))

    def _begun(self, competition: Competition) -> tuple[Confusion, Boundaries | None]:
        classes = len(competition.classes)
        metrics = {competition.rules.metric, *competition.rules.secondary}
        needs_boundaries = self._with_boundaries or NEAR_BOUNDARIES.keys() & metrics
        return Confusion(classes), Boundaries(classes) if needs_boundaries else None


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
            public = truth.image_sets.sets[competition.task, competition.image_set]
            counts = matrices.counts(competition)
            scores[key] = SCORERS[competition.task].score(entry, secret, edition, public, counts)
    return Evaluation(edition.name, scores, tuple(unavailable), problems)


def check_edition(truth: GroundTruth, edition: Edition) -> None:
    """Check that ground truth belongs to an edition.

    Raises:
        ValueError: it is another edition's.
    """
    if truth.edition != edition.name:
        raise ValueError(f"ground truth of {truth.edition}, results of {edition.name}")
