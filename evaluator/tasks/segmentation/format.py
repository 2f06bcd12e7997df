"""Reads label maps: one 8-bit PNG per image of a segmentation test set.

Source: VOC2010 document section 5.2.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.archives import Member
from vocboard.evaluator.problems import Kind, counted
from vocboard.evaluator.result_files.fields import image_problem
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.names import FileName
from vocboard.evaluator.result_files.ordered_threads import OrderedThreadPool
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.results import Entry, SegmentationSink, Segmented
from vocboard.evaluator.rules import Competition
from vocboard.evaluator.tasks.format import ResultFiles
from vocboard.evaluator.tasks.segmentation.png import PngError, has_voc_colours, read_indexed, voc_brightness
from vocboard.evaluator.tasks.segmentation.problems import (
    INDEX_OUT_OF_RANGE,
    MISSING_MAPS,
    PNG_CONVERTED,
    PNG_GREYSCALE,
    UNUSUAL_COLOUR_MAP,
    VOID_LABEL,
)

VOID = 255
_NAMED = 3  # how many missing images a message names
_CERTAIN = 3  # so many different values besides 0, all the brightness of colours, are not a coincidence


@dataclass(frozen=True, slots=True)
class _Seen:
    """The findings about one map: its problem, if any, or unusual colours, and the values of one in greyscale.

    Attributes:
        take: returned by the sink.
    """

    file: str
    problem: tuple[Kind, Mapping[str, Any]] | None = None
    unusual: Kind | None = None
    grey_values: frozenset[int] = frozenset()
    take: Callable[[], object] | None = None


class LabelMaps:
    """The label maps of one competition, with a common limit of reported problems.

    They are decoded in several threads, from which `sink` is called.
    """

    def __init__(self, competition: Competition, items: Items, report: FileReport, sink: SegmentationSink | None):
        self._competition, self._items, self._report, self._sink = competition, items, report, sink
        self._given: list[int] = []
        self._unusual: dict[Kind, list[str]] = {}
        self._grey: list[_Seen] = []
        self._decoding = OrderedThreadPool(self._note)

    def take(self, image: str, member: Member) -> None:
        """Read the map of one image; its problems are reported by the end of `wait`."""
        position = self._items.images.position(image)
        if position is None:
            seen = _Seen(member.name, image_problem(image, self._items))
            self._decoding.add(lambda: seen)
            return
        self._given.append(position)
        self._decoding.add(partial(self._look_at, member.name, member.read(), position), member.size)

    def wait(self) -> None:
        """Wait until all maps have been read, and report their problems. To be called once."""
        self._decoding.finish()
        self._report_grey()

    def finish(self) -> None:
        """Report problems of all maps together."""
        self.wait()
        for kind, files in sorted(self._unusual.items(), key=lambda item: item[0].code):
            has = "has" if len(files) == 1 else "have"
            self._report.add(kind, file=files[0], count=counted(len(files), "label map"), has=has)
        images = self._items.images
        missing = sorted(set(range(len(images))) - set(self._given)) if images.is_known else []
        if missing:
            names = images.listed()
            named = ", ".join(names[position] for position in missing[:_NAMED])
            self._report.add(
                MISSING_MAPS,
                is_listed=True,
                competition=self._competition.key,
                count=counted(len(missing), "image"),
                all=len(images),
                first=named + (f" and {len(missing) - _NAMED:,} more" if len(missing) > _NAMED else ""),
            )

    def seen(self) -> Segmented:
        """Which images had a map."""
        return Segmented(np.array(sorted(self._given), dtype=np.int32))

    def _look_at(self, file: str, data: bytes, position: int) -> _Seen:
        try:
            indexed = read_indexed(data, self._items.size_of(position))
        except PngError as error:
            return _Seen(file, (error.kind, error.found))
        problem = self._problem_of_labels(indexed.labels)
        take = self._sink(self._competition, position, indexed.labels) if problem is None and self._sink else None
        grey_values = frozenset(np.unique(indexed.labels).tolist()) if indexed.palette is None else frozenset()
        return _Seen(file, problem, self._unusual_colours(indexed.palette), grey_values, take)

    def _unusual_colours(self, palette: bytes | None) -> Kind | None:
        if palette is None:
            return PNG_GREYSCALE
        return None if has_voc_colours(palette, len(self._competition.classes)) else UNUSUAL_COLOUR_MAP

    def _problem_of_labels(self, labels: NDArray[np.uint8]) -> tuple[Kind, Mapping[str, Any]] | None:
        classes = self._competition.classes
        largest = int(labels.max(initial=0))
        if largest <= len(classes):
            return None
        pixels = int(np.count_nonzero(labels == largest))
        return VOID_LABEL if largest == VOID else INDEX_OUT_OF_RANGE, {
            "count": counted(pixels, "pixel"),
            "has": "has" if pixels == 1 else "have",
            "found": largest,
            "largest": len(classes),
            "largest_class": classes[-1],
        }

    def _report_grey(self) -> None:
        """Report the maps in greyscale: one cause for all of them if their values are those of colours."""
        values = frozenset[int]().union(*(seen.grey_values for seen in self._grey))
        classes = len(self._competition.classes)
        is_of_colours = any(values <= colours for colours in voc_brightness(classes))
        if max(values, default=0) > classes and len(values - {0}) >= _CERTAIN and is_of_colours:
            count = counted(len(self._grey), "label map")
            found = ", ".join(map(str, sorted(value for value in values if value > classes)[:_NAMED]))
            self._report.add(PNG_CONVERTED, file=self._grey[0].file, count=count, found=found)
            return
        for seen in self._grey:
            self._add(seen)

    def _note(self, seen: _Seen) -> None:
        if seen.take is not None:
            seen.take()
        if seen.grey_values:
            self._grey.append(replace(seen, take=None))  # it holds the map
        else:
            self._add(seen)

    def _add(self, seen: _Seen) -> None:
        if seen.problem is not None:
            kind, found = seen.problem
            self._report.add(kind, file=seen.file, **found)
        elif seen.unusual is not None:
            self._unusual.setdefault(seen.unusual, []).append(seen.file)


class SegmentationFiles(ResultFiles):
    """One label map per image, in the competition's own folder, whose problems are reported together."""

    _maps: LabelMaps | None = None

    def take(self, name: FileName, member: Member) -> None:
        """Start decoding a map."""
        if self._maps is None:
            upload, (folder, _, _) = self.upload, member.name.rpartition("/")
            report = upload.new_report(folder)
            self._maps = LabelMaps(upload.competition, upload.items, report, upload.segmentation_sink)
        self._maps.take(str(name.image), member)

    def wait(self) -> None:
        """Wait until all maps have been decoded."""
        if self._maps is not None:
            self._maps.wait()

    def finish(self) -> None:
        """Report unusual palettes and missing maps."""
        if self._maps is not None:
            self._maps.finish()

    def entry(self) -> Entry | None:
        """Return which images had a map; the maps themselves went to the sink."""
        if self._maps is None:
            return None
        return Entry(self.upload.competition, self.upload.declared_classes, self._maps.seen())

    @staticmethod
    def extent(content: Segmented) -> str:
        """Count the label maps."""
        return counted(len(content.images), "label map")
