"""Action classification: is a given person performing an action?

Judged as classification is, the test items being people instead of images.
Source: VOC development kits, VOCevalaction.m; VOC2010 document section 7.4.
"""

from collections.abc import Mapping

from evaluator.editions import Competition
from evaluator.ground_truth import LabelTruth
from evaluator.results import Confidences
from evaluator.scores import CompetitionScores
from evaluator.tasks.classification.scoring import rank
from evaluator.tasks.ranked_classes import score as score_classes


def score(
    competition: Competition,
    classes: tuple[str, ...],
    content: Mapping[str, Confidences],
    truth: LabelTruth,
) -> CompetitionScores:
    """Score the actions entered."""
    return score_classes(competition, {name: rank(content[name], truth.labels[name]) for name in classes})
