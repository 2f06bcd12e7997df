"""Scoring what a participant entered: result files and ground truth in, scores out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Competition, Edition
from vocboard.evaluator.ground_truth import GroundTruth, SegmentationTruth
from vocboard.evaluator.metrics.confusion_matrix import Confusion
from vocboard.evaluator.problems import Problem, has_errors
from vocboard.evaluator.reading import ReadResults, read_results
from vocboard.evaluator.results import Entry
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.tasks.scoring import SCORERS


@dataclass(frozen=True, eq=False, slots=True)
class Evaluation:
    """What came of scoring one upload.

    Attributes:
        edition: its name.
        scores: by competition key, in the edition's order; empty if the problems contain an error.
        unavailable: competitions entered that cannot be scored, because the ground truth has nothing on their task.
        problems: errors and warnings about the upload.
    """

    edition: str
    scores: Mapping[str, CompetitionScores]
    unavailable: tuple[str, ...]
    problems: tuple[Problem, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the object that `vocboard evaluate --json` prints: full precision, undefined values null."""
        return {
            "edition": self.edition,
            "competitions": {key: scores.as_json() for key, scores in self.scores.items()},
            "unavailable": list(self.unavailable),
            "problems": [problem.as_json() for problem in self.problems],
        }


def evaluate(
    path: Path,
    edition: Edition,
    truth: GroundTruth,
    *,
    segmentation_classes: Sequence[str] | None = None,
    other_editions: Sequence[Edition] = (),
) -> Evaluation:
    """Read and score an upload; if anything in it is an error, nothing is scored.

    Args:
        path: archive or directory of result files.
        edition: whose rules apply.
        truth: of the same edition.
        segmentation_classes: classes that the participant declares to have entered for segmentation; None for all.
        other_editions: the same edition for other image sets, whose result files are passed over.

    Raises:
        ValueError: the ground truth is another edition's.
        OSError: the upload cannot be read.
    """
    check_edition(truth, edition)
    confusions = Confusions(truth)
    read = read_results(
        path,
        edition,
        truth.image_sets,
        segmentation_classes=segmentation_classes,
        segmentation_sink=confusions.add,
        other_editions=other_editions,
    )
    return score_results(read, edition, truth, confusions)


def check_edition(truth: GroundTruth, edition: Edition) -> None:
    """Raise `ValueError` if the ground truth is of another edition."""
    if truth.edition != edition.name:
        raise ValueError(f"ground truth of {truth.edition}, results of {edition.name}")


def score_results(read: ReadResults, edition: Edition, truth: GroundTruth, confusions: "Confusions") -> Evaluation:
    """Score what was read; if anything in it is an error, nothing is scored.

    Args:
        read: results.
        edition: whose rules apply.
        truth: of the same edition.
        confusions: that the label maps went to while they were read.
    """
    if has_errors(read.problems):
        return Evaluation(edition.name, {}, (), read.problems)
    scores, unavailable = {}, []
    for key, entry in read.results.items():
        if (entry.competition.task, entry.competition.image_set) in truth.truths:
            scores[key] = _score(entry, edition, truth, confusions)
        else:
            unavailable.append(key)
    return Evaluation(edition.name, scores, tuple(unavailable), read.problems)


class Confusions:
    """Confusion matrices of the competitions, filled while the label maps stream by."""

    def __init__(self, truth: GroundTruth) -> None:
        """Start with no label map, for this truth."""
        self._truth = truth
        self._confusions: dict[str, Confusion] = {}

    def add(self, competition: Competition, image: int, label_map: NDArray[np.uint8]) -> None:
        """Count the pixels of one label map; a `SegmentationSink`."""
        truth = self._truth.truths.get((competition.task, competition.image_set))
        if isinstance(truth, SegmentationTruth):
            self._of(competition).add(truth.runs(image), label_map)

    def matrix(self, competition: Competition) -> NDArray[np.int64]:
        """Return the counts of a competition."""
        return self._of(competition).matrix

    def images(self, competition: Competition) -> NDArray[np.int64]:
        """Return how many images show each label."""
        return self._of(competition).images

    def _of(self, competition: Competition) -> Confusion:
        return self._confusions.setdefault(competition.key, Confusion(len(competition.classes)))


def _score(entry: Entry, edition: Edition, truth: GroundTruth, confusions: Confusions) -> CompetitionScores:
    competition = entry.competition
    secret = truth.truths[competition.task, competition.image_set]
    is_segmentation = isinstance(secret, SegmentationTruth)
    matrix = confusions.matrix(competition) if is_segmentation else None
    scores = SCORERS[competition.task].score(entry, secret, edition, matrix)
    return replace(scores, images_by_label=confusions.images(competition)) if is_segmentation else scores
