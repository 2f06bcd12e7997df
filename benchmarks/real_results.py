"""Test sets drawn from the results of a real detector on VOC2007, the golden case."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tests.support.golden import golden
from vocboard.evaluator.editions import Interpolation, load
from vocboard.evaluator.evaluation import read_for_scoring
from vocboard.evaluator.evidence.average_precision import ResampledAveragePrecision
from vocboard.evaluator.evidence.evidence import EvidenceByClass, Judged
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.metrics.precision_recall import Judgement, by_confidence
from vocboard.evaluator.statistics.collect import collect_evidence

CASE, COMPETITION = "voc2007-real", "comp4"
JITTER = 0.1  # of confidences, in their standard deviations: with copies of images, ties would raise every score
COPIES = 100  # of all images, whose score is the true one


class RealResults:
    """The images of VOC2007's test set, in unlimited number, each with a real detector's results.

    Each time that an image is drawn, the logits of its confidences are a little different.
    """

    def __init__(self, interpolation: Interpolation) -> None:
        """Read the golden case."""
        case = golden(CASE)
        edition = load(case.edition)
        truth = read_ground_truth(case.ground_truth, edition)
        read, confusions = read_for_scoring(case.results, edition, truth)
        evidence = collect_evidence(read.results, edition, truth, confusions)[COMPETITION]
        assert isinstance(evidence, EvidenceByClass)
        rules = edition.competitions[COMPETITION].rules
        self._interpolation = interpolation
        self.images = evidence.images
        self._judged: dict[str, Judged] = {}
        self._logit: dict[str, NDArray[np.float64]] = {}
        for name, each in evidence.classes.items():
            confidence = np.clip(each.confidence, 1e-6, 1 - 1e-6)
            self._logit[name] = np.log(confidence / (1 - confidence))
            self._judged[name] = each.judged(edition.overlap, rules)

    @property
    def classes(self) -> list[str]:
        """Their names."""
        return list(self._judged)

    def true_score(self, name: str) -> float:
        """Return the score of a class on all images."""
        return self._resampled(name, np.full(self.images, COPIES), np.random.default_rng(1)).score()

    def draw(self, random: np.random.Generator) -> Mapping[str, ResampledAveragePrecision]:
        """Draw a test set of as many images; return its classes."""
        counts = random.multinomial(self.images, np.full(self.images, 1 / self.images))
        return {name: self._resampled(name, counts, random) for name in self._judged}

    def _resampled(
        self, name: str, counts: NDArray[np.int64], random: np.random.Generator
    ) -> ResampledAveragePrecision:
        judged, logit = self._judged[name], self._logit[name]
        first = np.cumsum(counts) - counts  # index of an image's first copy

        def copies(image: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
            """Return which entries are drawn, and the index of the image of each."""
            repeats = counts[image]
            number = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
            place = np.repeat(np.arange(len(image)), repeats)
            return place, (first[image[place]] + number).astype(np.int32)

        place, image = copies(judged.image)
        rank = by_confidence(logit[place] + random.normal(0.0, JITTER * logit.std(), len(place)))
        place, image = place[rank], image[rank]
        _, positive_image = copies(judged.positive_image)
        true, false = judged.judgement.true[place], judged.judgement.false[place]
        judgement = Judgement(true, false, len(positive_image))
        return ResampledAveragePrecision(judgement, image, positive_image, self._interpolation)
