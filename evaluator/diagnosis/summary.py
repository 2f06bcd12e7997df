"""The part of a diagnosis that a server keeps: kinds of errors, and what they cost.

Measures of single classes at other overlaps, of objects by size and so on are left out; `report` has them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vocboard.evaluator.diagnosis.by_image import ByImage, labels_by_image, objects_by_image
from vocboard.evaluator.diagnosis.classification import diagnose_labels
from vocboard.evaluator.diagnosis.errors import diagnose
from vocboard.evaluator.diagnosis.objects import diagnose_objects
from vocboard.evaluator.diagnosis.segmentation import diagnose_segmentation
from vocboard.evaluator.diagnosis.what_if import WhatIf
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.classification.truth import LabelTruth
from vocboard.evaluator.tasks.scorer import LabelMapCounts
from vocboard.evaluator.tasks.truth import Truth


@dataclass(frozen=True, slots=True)
class Summary:
    """The diagnosis of one competition's entry.

    Attributes:
        exact: for JSON; empty for layouts of whole people, which have no diagnosis.
        by_image: sums over images; empty for segmentation, too.
    """

    exact: Mapping[str, Any] = field(default_factory=dict)
    by_image: ByImage = field(default_factory=dict)


def summarise(
    entry: Entry, truth: Truth, edition: Edition, public: ImageSet, label_maps: LabelMapCounts | None
) -> Summary:
    """Diagnose an entry.

    Args:
        entry: of a competition.
        truth: ground truth of its task and image set.
        edition: the edition, whose rules apply.
        public: the image set.
        label_maps: the pixels of label maps; None for other tasks.
    """
    if label_maps is not None:
        matrix = label_maps.by_image.matrix(len(entry.competition.classes) + 1)
        return Summary(diagnose_segmentation(matrix, entry.competition, label_maps.boundaries))
    if isinstance(truth, LabelTruth):
        return Summary(diagnose_labels(entry, truth), labels_by_image(entry, truth, edition, public))
    diagnosed = diagnose(entry, truth, edition)
    if diagnosed is None:
        return Summary()
    what_if = WhatIf(diagnosed, entry.competition.rules)
    return Summary(diagnose_objects(diagnosed, what_if), objects_by_image(diagnosed, what_if))
