"""Detection with any number of boxes; measured by `make growth`."""

from pathlib import Path

from benchmarks.benchmark import Case, Implementation, Kind
from benchmarks.cases.boxes import score_detections, write_detections
from benchmarks.datasets.world import IMAGES, make_world


def make_growth(directory: Path, number: float) -> None:
    """Write a test set of one image for every hundred detections, at most as large as VOC2012's."""
    images = max(10, min(IMAGES, int(number / 100)))
    write_detections(directory, make_world(images, images * 2), int(number))


GROWING = Case(
    "growing", "detection", make_growth, {"vocboard": Implementation(Kind.OURS, score_detections("results"))}, ()
)
