"""Detections as rows."""

from collections.abc import Iterator

from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Detections, Entry
from vocboard.evaluator.rules import Edition
from vocboard.evaluator.tasks.task_rows import ClassRows, Images, TaskRows, ranked


class DetectionRows(TaskRows):
    """Boxes."""

    def rows(self, entry: Entry, edition: Edition, image_set: ImageSet, images: Images = None) -> Iterator[ClassRows]:
        """Yield the detections by confidence."""
        for index, name in enumerate(edition.classes):
            found: Detections | None = entry.content.get(name)
            if found is not None:
                order = ranked(found.image, found.confidence, images)
                yield ClassRows(index, order, found.image[order], found.confidence[order], box=found.box[order])
