"""Segmentation: which class does each pixel belong to?

Source: VOC development kits, VOCevalseg.m; VOC2010 document section 5.4.
"""

from collections.abc import Mapping

from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.evaluator.evidence.pixels import SegmentationEvidence
from vocboard.evaluator.evidence.resampled import Resampled
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.names import Metric
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Competition, Edition
from vocboard.evaluator.scores import CompetitionScores, Measure
from vocboard.evaluator.tasks.scorer import LabelMapCounts, Scorer
from vocboard.evaluator.tasks.segmentation.metrics import BY_PIXELS, Pixels
from vocboard.evaluator.tasks.segmentation.truth import SegmentationTruth


class SegmentationScorer(Scorer[SegmentationTruth]):
    """Scores segmentation."""

    @property
    def metrics(self) -> frozenset[Metric]:
        """The metrics that can be computed."""
        return frozenset(BY_PIXELS)

    def score(
        self,
        entry: Entry,
        truth: SegmentationTruth,
        edition: Edition,
        public: ImageSet,
        label_maps: LabelMapCounts | None,
    ) -> CompetitionScores:
        """Score the classes entered and background."""
        evidence = self.evidence(entry, truth, edition, public, label_maps)
        competition, labels = entry.competition, len(entry.competition.classes) + 1

        def measure(metric: Metric) -> Measure:
            values = self.values(metric, evidence, edition, competition)
            return Measure(metric, {name: value.score() for name, value in values.items()})

        return CompetitionScores(
            competition=competition.key,
            task=competition.task,
            primary=measure(competition.rules.metric),
            secondary=tuple(measure(metric) for metric in competition.rules.secondary),
            confusion_matrix=evidence.confusions.matrix(labels),
            images_by_label=evidence.confusions.images_by_label(labels),
            not_entered=tuple(name for name in competition.classes if name not in entry.classes),
        )

    def evidence(
        self,
        entry: Entry,
        truth: SegmentationTruth,
        edition: Edition,
        public: ImageSet,
        label_maps: LabelMapCounts | None,
    ) -> SegmentationEvidence:
        """Return the confusion matrix of each image."""
        if label_maps is None:
            raise ValueError("the evidence of segmentation is the confusion matrix of each image")
        return SegmentationEvidence(len(public.images), entry.classes, label_maps.by_image, label_maps.boundaries)

    def values(
        self, metric: Metric, evidence: Evidence, edition: Edition, competition: Competition
    ) -> Mapping[str, Resampled]:
        """Compute a metric from evidence, by label."""
        if not isinstance(evidence, SegmentationEvidence):
            raise TypeError(f"{type(evidence).__name__} has no pixels")
        pixels = Pixels(competition, evidence.entered, evidence.images, evidence.confusions, evidence.boundaries)
        return BY_PIXELS[metric](pixels)
