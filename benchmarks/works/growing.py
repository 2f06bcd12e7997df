"""Detection with any number of boxes; measured by `make growth`."""

from pathlib import Path

from benchmarks.contest import Contestant, Kind, Work
from benchmarks.made.world import IMAGES, make_world
from benchmarks.works.boxes import score_detections, write_detections


def make_growth(directory: Path, number: float) -> None:
    """Write a test set of one image for every hundred detections, at most as large as VOC2012's."""
    images = max(10, min(IMAGES, int(number / 100)))
    write_detections(directory, make_world(images, images * 2), int(number))


GROWING = Work(
    "growing", "detection", make_growth, {"vocboard": Contestant(Kind.OURS, score_detections("results"))}, ()
)
