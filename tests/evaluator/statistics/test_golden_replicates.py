"""Evidence of the golden cases gives the evaluation's scores to the last bit, stored or not."""

import io
from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest

from tests.support.golden import CASES_IN_TIERS, golden, golden_truth
from vocboard.evaluator.editions import load
from vocboard.evaluator.evaluation import read_for_scoring, score_results
from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.evaluator.scores import CompetitionScores
from vocboard.evaluator.statistics.bootstrap import replicate
from vocboard.evaluator.statistics.collect import collect_evidence
from vocboard.evaluator.statistics.evidence_file import Origin, load_evidence, store_evidence

TOLERANCE = 1e-12


@cache
def scored(name: str) -> tuple[Mapping[str, CompetitionScores], Mapping[str, Evidence]]:
    case, truth = golden(name), golden_truth(name)
    edition = load(case.edition)
    read, confusions = read_for_scoring(case.results, edition, truth)
    evaluation = score_results(read, edition, truth, confusions)
    return evaluation.scores, collect_evidence(read.results, edition, truth, confusions)


@pytest.mark.parametrize("name", CASES_IN_TIERS)
def test_scores_from_evidence_are_the_evaluations_to_the_last_bit(name: str) -> None:
    scores, collected = scored(name)
    edition = load(golden(name).edition)
    assert set(collected) == set(scores)
    for key, evidence in collected.items():
        competition = edition.competitions[key]
        origin = Origin(key, golden_truth(name).sha256)
        stored = store_evidence(evidence, origin)
        assert store_evidence(evidence, origin) == stored
        loaded = load_evidence(io.BytesIO(stored), origin)
        once = np.ones((evidence.images, 1), dtype=np.uint8)
        for measure in (scores[key].primary, *scores[key].secondary):
            for each in (evidence, loaded):
                found = replicate(each, measure.metric, edition, competition, once)
                assert list(found.measure.per_class) == list(measure.per_class)
                expected = np.array(list(measure.per_class.values()))
                assert np.array_equal(list(found.measure.per_class.values()), expected, equal_nan=True)
                assert np.array_equal(found.measure.mean, measure.mean, equal_nan=True)
                assert np.allclose(found.per_class[:, 0], expected, rtol=0, atol=TOLERANCE, equal_nan=True)
