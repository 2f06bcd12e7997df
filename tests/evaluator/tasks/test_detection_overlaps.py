"""Average precision at other overlaps than one half, as secondary metrics, and its replicates."""

import numpy as np
import pytest

from tests.evaluator.diagnosis.cases import CLASSES, IMAGES, random_case
from tests.evaluator.diagnosis.test_measures import marks_at
from tests.evaluator.reference import average_precision
from tests.evaluator.reference.replicates import tuples
from tests.evaluator.tasks.test_detection import detections_of, truth_of
from tests.evaluator.tasks.test_more_metrics import with_secondary
from tests.support.seeds import seeds
from vocboard.evaluator.editions import Metric
from vocboard.evaluator.evidence.weights import draw_weights
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry
from vocboard.evaluator.statistics.bootstrap import replicate
from vocboard.evaluator.tasks.detection.scoring import DetectionScorer

OVERLAPS = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95]


@pytest.mark.parametrize("name", ["VOC2007", "VOC2012"])
@pytest.mark.parametrize("seed", seeds(15))
def test_scores_and_replicates_are_those_of_the_reference(name: str, seed: int) -> None:
    found, objects = random_case(seed)
    edition = with_secondary(name, "comp3", (Metric.AVERAGE_PRECISION_75, Metric.AVERAGE_PRECISION_50_95))
    competition = edition.competitions["comp3"]
    entry = Entry(competition, CLASSES, {of: detections_of(rows) for of, rows in found.items()})
    truth = truth_of(objects, name)
    scores = DetectionScorer().score(entry, truth, edition, ImageSet(tuple(IMAGES)), None)
    evidence = DetectionScorer().evidence(entry, truth, edition, ImageSet(tuple(IMAGES)), None)
    weights = draw_weights(len(IMAGES), 6)

    def expected(of: str, overlap: float, times: dict[str, int]) -> float:
        rows, true = tuples(found[of], times), tuples(objects[of], times)
        positives = sum(not difficult for _, _, difficult in true)
        value = average_precision.average_precision(marks_at(rows, true, overlap), positives, competition.rules)
        return np.nan if value is None else value

    once = dict.fromkeys(IMAGES, 1)
    replicates = [dict(zip(IMAGES, column.tolist(), strict=True)) for column in weights.T]
    for measure, overlaps in zip(scores.secondary, ([0.75], OVERLAPS), strict=True):
        drawn = replicate(evidence, measure.metric, edition, competition, weights)
        assert drawn.measure.per_class == pytest.approx(measure.per_class, rel=0, abs=0, nan_ok=True)
        for row, of in enumerate(CLASSES):
            score = np.mean([expected(of, overlap, once) for overlap in overlaps])
            assert measure.per_class[of] == pytest.approx(score, abs=1e-12, nan_ok=True)
            wanted = [np.mean([expected(of, overlap, times) for overlap in overlaps]) for times in replicates]
            assert drawn.per_class[row].tolist() == pytest.approx(wanted, abs=1e-12, nan_ok=True)
