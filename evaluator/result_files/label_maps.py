"""Label maps: one 8-bit PNG with a palette for each image of a segmentation test set.

Source: VOC2010 document section 5.2.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.archives import Member
from evaluator.catalogue.label_maps import INDEX_OUT_OF_RANGE, MISSING_MAPS, UNUSUAL_COLOUR_MAP, VOID_LABEL
from evaluator.editions import Competition
from evaluator.problems import Kind, counted
from evaluator.result_files.fields import image_problem
from evaluator.result_files.items import Items
from evaluator.result_files.png import PngError, has_voc_colours, read_indexed
from evaluator.result_files.report import FileReport
from evaluator.results import Segmented

SegmentationSink = Callable[[Competition, int, NDArray[np.uint8]], None]

VOID = 255
_NAMED = 3  # how many missing images a message names


class LabelMaps:
    """The label maps of one competition, taken one by one; their problems are capped together."""

    def __init__(self, competition: Competition, items: Items, report: FileReport, sink: SegmentationSink | None):
        self._competition, self._items, self._report, self._sink = competition, items, report, sink
        self._given: list[int] = []
        self._unusual: list[str] = []

    def take(self, image: str, member: Member) -> None:
        """Read the map of one image, and note what is wrong with it."""
        position = self._items.images.position(image)
        if position is None:
            kind, found = image_problem(image, self._items)
            self._refuse(member, kind, **found)
            return
        self._given.append(position)
        try:
            indexed = read_indexed(member.read(), self._items.size_of(position))
        except PngError as error:
            self._refuse(member, error.kind, **error.found)
            return
        if self._check_labels(indexed.labels, member):
            if not has_voc_colours(indexed.palette, len(self._competition.classes)):
                self._unusual.append(member.name)
            if self._sink is not None:
                self._sink(self._competition, position, indexed.labels)

    def finish(self) -> None:
        """Note what only all the maps together can show."""
        if self._unusual:
            count, has = counted(len(self._unusual), "label map"), "has" if len(self._unusual) == 1 else "have"
            self._report.add(UNUSUAL_COLOUR_MAP, file=self._unusual[0], count=count, has=has)
        images = self._items.images
        missing = sorted(set(range(len(images))) - set(self._given)) if images.is_known else []
        if missing:
            names = images.listed()
            named = ", ".join(names[position] for position in missing[:_NAMED])
            self._report.add(
                MISSING_MAPS,
                competition=self._competition.key,
                count=counted(len(missing), "image"),
                all=len(images),
                first=named + (", …" if len(missing) > _NAMED else ""),
            )

    def seen(self) -> Segmented:
        """Which images had a map."""
        return Segmented(np.array(sorted(self._given), dtype=np.int32))

    def _check_labels(self, labels: NDArray[np.uint8], member: Member) -> bool:
        classes = self._competition.classes
        largest = int(labels.max(initial=0))
        if largest <= len(classes):
            return True
        pixels = int(np.count_nonzero(labels == largest))
        self._refuse(
            member,
            VOID_LABEL if largest == VOID else INDEX_OUT_OF_RANGE,
            count=counted(pixels, "pixel"),
            has="has" if pixels == 1 else "have",
            found=largest,
            largest=len(classes),
            largest_class=classes[-1],
        )
        return False

    def _refuse(self, member: Member, kind: Kind, **found: Any) -> None:
        self._report.add(kind, file=member.name, **found)
