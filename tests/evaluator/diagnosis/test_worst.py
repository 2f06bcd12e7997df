"""The worst errors: which are listed, in which order, and what is said of them."""

import numpy as np

from vocboard.evaluator.diagnosis.errors import Error
from vocboard.evaluator.diagnosis.what_if import MISSED
from vocboard.evaluator.diagnosis.worst import NEGATIVE, SHOWN, WRONG_PIXELS, WorstError, worst_errors
from vocboard.evaluator.editions import load
from vocboard.evaluator.ground_truth import DetectionTruth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.metrics.confusion_matrix import ImageConfusions
from vocboard.evaluator.results import Confidences, Detections, Entry, Segmented
from vocboard.evaluator.tasks.classification.truth import Labels, LabelTruth
from vocboard.evaluator.tasks.segmentation.truth import SegmentationTruth

EDITION = load("VOC2012")
IMAGES = tuple("abcdefghijkl")
PUBLIC = ImageSet(IMAGES, np.full((len(IMAGES), 2), 100, dtype=np.int32))


def test_label_maps_by_their_share_of_wrong_pixels() -> None:
    pixels = ImageConfusions(
        image=np.array([0, 0, 1, 2, 2, 2], dtype=np.int32),
        true=np.array([0, 0, 1, 0, 1, 1], dtype=np.uint8),
        found=np.array([0, 1, 1, 1, 0, 1], dtype=np.uint8),
        pixels=np.array([3, 1, 9, 2, 1, 1], dtype=np.int64),
    )
    entry = Entry(EDITION.competitions["comp5"], ("aeroplane",), Segmented(np.arange(3, dtype=np.int32)))
    assert worst_errors(entry, SegmentationTruth.of([]), EDITION, PUBLIC, pixels) == {
        WRONG_PIXELS: [
            WorstError("c", "", "75 % of the pixels are wrong"),
            WorstError("a", "", "25 % of the pixels are wrong"),
        ]
    }


def test_negatives_by_rank_relative_to_the_number_of_positives() -> None:
    """Only those among as many first images as the class has positives."""
    items = np.arange(len(IMAGES), dtype=np.int32)
    shows = {"aeroplane": {4, 5, 6, 7}, "bird": {0, 3}}  # which images
    truth = LabelTruth(
        {
            name: Labels(items, np.where(np.isin(items, list(images)), 1, -1).astype(np.int8))
            for name, images in shows.items()
        }
    )
    first = {"aeroplane": [4, 0, 1, 5], "bird": [0, 4, 3]}  # a negative at ranks 2 and 3, and at rank 2
    content = {
        name: Confidences(np.array(images, dtype=np.int32), np.linspace(1, 0.5, len(images)))
        for name, images in first.items()
    }
    entry = Entry(EDITION.competitions["comp1"], tuple(content), content)
    assert worst_errors(entry, truth, EDITION, PUBLIC, None) == {
        NEGATIVE: [
            WorstError("a", "aeroplane", "rank 2, shows bird"),
            WorstError("b", "aeroplane", "rank 3, shows no class"),
            WorstError("e", "bird", "rank 2, shows aeroplane"),
        ]
    }


def test_false_positives_by_rank_and_missed_objects_by_size() -> None:
    boxes = [(1, 1, 10, 10), (1, 1, 20, 20), (1, 1, 30, 30)]
    truth = DetectionTruth(
        image=np.array([0, 1, 2], dtype=np.int32),
        class_index=np.zeros(3, dtype=np.int16),
        box=np.array(boxes, dtype=np.float64),
        difficult=np.zeros(3, dtype=np.bool_),
    )
    elsewhere = (60.0, 60.0, 90.0, 90.0)
    shifted = (1.0, 1.0, 10.0, 4.0)  # 0.4 of the first object
    found = Detections(
        image=np.array([3, 0, 4], dtype=np.int32),
        confidence=np.array([0.5, 0.9, 0.7]),
        box=np.array([elsewhere, shifted, elsewhere]),
    )
    entry = Entry(EDITION.competitions["comp3"], ("aeroplane",), {"aeroplane": found})
    assert worst_errors(entry, truth, EDITION, PUBLIC, None) == {
        Error.LOCATION: [WorstError("a", "aeroplane", "rank 1", shifted, boxes[0], result=0)],
        Error.BACKGROUND: [
            WorstError("e", "aeroplane", "rank 2", elsewhere, result=1),
            WorstError("d", "aeroplane", "rank 3", elsewhere, result=2),
        ],
        MISSED: [
            WorstError("c", "aeroplane", "", true=boxes[2]),
            WorstError("b", "aeroplane", "", true=boxes[1]),
        ],
    }


def test_of_each_kind_the_first_few() -> None:
    count = SHOWN + 3
    truth = DetectionTruth(np.zeros(0, np.int32), np.zeros(0, np.int16), np.zeros((0, 4)), np.zeros(0, dtype=np.bool_))
    found = Detections(
        np.arange(count, dtype=np.int32), np.linspace(1, 0.1, count), np.tile([1.0, 1.0, 9.0, 9.0], (count, 1))
    )
    entry = Entry(EDITION.competitions["comp3"], ("aeroplane",), {"aeroplane": found})
    [(kind, errors)] = worst_errors(entry, truth, EDITION, PUBLIC, None).items()
    assert kind == Error.BACKGROUND
    assert [error.image for error in errors] == list(IMAGES[:SHOWN])
