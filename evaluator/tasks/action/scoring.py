"""Action classification: is a given person performing an action?

Judged as classification is, the test items being people instead of images.
Source: VOC development kits, VOCevalaction.m; VOC2010 document section 7.4.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.editions import Competition
from vocboard.evaluator.ground_truth.image_set_files import Listed
from vocboard.evaluator.ground_truth.material import Material
from vocboard.evaluator.ground_truth.model import Key
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Confidences, Entry
from vocboard.evaluator.rules import Edition, TaskRules
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.tasks.action.ground_truth import read_labels
from vocboard.evaluator.tasks.classification.scoring import rank
from vocboard.evaluator.tasks.classification.truth import LabelTruth
from vocboard.evaluator.tasks.ranked_classes import score as score_classes
from vocboard.evaluator.tasks.scorer import Scorer


def score(
    competition: Competition,
    classes: tuple[str, ...],
    content: Mapping[str, Confidences],
    truth: LabelTruth,
) -> CompetitionScores:
    """Score the actions entered."""
    return score_classes(competition, {name: rank(content[name], truth.labels[name]) for name in classes})


class ActionScorer(Scorer[LabelTruth]):
    """Reads the ground truth of action and scores it."""

    def read(self, key: Key, listed: Listed, rules: TaskRules, material: Material) -> tuple[ImageSet, LabelTruth | str]:
        """Return the public half and the truth; see `Scorer.read`."""
        return read_labels(key, listed, material)

    def score(
        self, entry: Entry, truth: LabelTruth, edition: Edition, confusion_matrix: NDArray[np.int64] | None
    ) -> CompetitionScores:
        """Score what was entered."""
        return score(entry.competition, entry.classes, entry.content, truth)
