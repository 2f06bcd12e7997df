"""A test set, and results, of the size of VOC2007's: 4,952 images with a confidence each for 20 classes, and boxes.

The development kit's own example results have 52,404 detections; so have these.
"""

import tarfile
from pathlib import Path

import numpy as np

from benchmarks.datasets.detections import detection_lines, make_detections
from benchmarks.datasets.world import HEIGHT, SEED, WIDTH, World, make_world
from vocboard.evaluator.editions import Task
from vocboard.evaluator.ground_truth import DetectionTruth, GroundTruth, Labels, LabelTruth
from vocboard.evaluator.image_sets import ImageSet, ImageSets

EDITION = "VOC2007"
COMPETITIONS = ("comp2", "comp4")
IMAGES = 4_952
OBJECTS = 14_976
DETECTIONS = 52_404


def make_voc2007(directory: Path, scale: float) -> None:
    """Write `truth.npz` and `results.tar.gz`."""
    world = make_world(max(40, int(IMAGES * scale)), max(100, int(OBJECTS * scale)), edition_name=EDITION)
    _truth(world).save(directory / "truth.npz")
    folder = directory / "results" / EDITION / "Main"
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(SEED)
    for name, made in make_detections(world, int(DETECTIONS * scale)):
        (folder / f"comp4_det_test_{name}.txt").write_text(detection_lines(world, made))
        confidences = zip(world.images, random.random(len(world.images)).tolist(), strict=True)
        lines = (f"{image} {confidence:.8f}\n" for image, confidence in confidences)
        (folder / f"comp2_cls_test_{name}.txt").write_text("".join(lines))
    with tarfile.open(directory / "results.tar.gz", "w:gz", compresslevel=6) as archive:
        archive.add(directory / "results", "results")


def _truth(world: World) -> GroundTruth:
    """Return the truth of classification, which follows from that of detection, and of detection."""
    items = np.arange(len(world.images), dtype=np.int32)
    labels = {}
    for index, name in enumerate(world.edition.classes):
        label = np.full(len(items), -1, dtype=np.int8)
        label[world.image[(world.class_index == index) & world.difficult]] = 0
        label[world.image[(world.class_index == index) & ~world.difficult]] = 1
        labels[name] = Labels(items, label)
    boxes = DetectionTruth(
        image=world.image.astype(np.int32),
        class_index=world.class_index.astype(np.int32),
        box=world.box.astype(np.float64),
        difficult=world.difficult,
    )
    images = ImageSet(world.images, np.tile(np.array([WIDTH, HEIGHT], dtype=np.int32), (len(world.images), 1)))
    classification, detection = (Task.CLASSIFICATION, "test"), (Task.DETECTION, "test")
    sets = ImageSets(EDITION, {classification: images, detection: images})
    return GroundTruth.of(sets, {classification: LabelTruth(labels), detection: boxes}, {})
