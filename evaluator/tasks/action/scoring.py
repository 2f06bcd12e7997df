"""Action classification: is a given person performing an action?

Judged as classification is, the test items being people instead of images.
Source: VOC development kits, VOCevalaction.m; VOC2010 document section 7.4.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from evaluator.editions import Competition
from evaluator.ground_truth.image_set_files import Listed
from evaluator.ground_truth.material import Material
from evaluator.ground_truth.model import Key
from evaluator.image_sets import ImageSet
from evaluator.results import Confidences, Entry
from evaluator.rules import Edition, TaskRules
from evaluator.scores import CompetitionScores
from evaluator.tasks.action.ground_truth import read_labels
from evaluator.tasks.classification.scoring import rank
from evaluator.tasks.classification.truth import LabelTruth
from evaluator.tasks.ranked_classes import score as score_classes
from evaluator.tasks.scorer import Scorer


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
