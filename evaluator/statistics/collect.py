"""Collects the evidence of results, from files or from stored columns."""

from collections.abc import Mapping

from vocboard.evaluator.editions import Edition
from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.results import Results
from vocboard.evaluator.scoring import Confusions, check_edition
from vocboard.evaluator.tasks.scorers import SCORERS


def collect_evidence(
    results: Results, edition: Edition, truth: GroundTruth, confusions: Confusions | None = None
) -> Mapping[str, Evidence]:
    """Return the evidence of each competition that can be scored.

    Args:
        results: by competition; indices refer to the image sets of `truth`.
        edition: the edition, whose rules apply.
        truth: ground truth of the same edition.
        confusions: received the label maps; None if there are none.

    Raises:
        ValueError: the ground truth belongs to another edition.
    """
    check_edition(truth, edition)
    matrices = confusions or Confusions(truth)
    evidence = {}
    for key, entry in results.items():
        competition = entry.competition
        part = competition.task, competition.image_set
        secret = truth.truths.get(part)
        if secret is not None:
            public = truth.image_sets.sets[part]
            scorer = SCORERS[competition.task]
            evidence[key] = scorer.evidence(entry, secret, edition, public, matrices.counts(competition))
    return evidence
