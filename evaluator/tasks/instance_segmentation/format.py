"""Reads result files: a confidence and a region for each instance, one file per class.

Source: COCO API for the encoding of regions.
"""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.problems import quoted
from vocboard.evaluator.problems.items import IMAGE_IN_ANOTHER_COLUMN
from vocboard.evaluator.problems.text_files import EMPTY_FILE
from vocboard.evaluator.result_files.fields import check_confidence, column_of_image, find_image, read_number
from vocboard.evaluator.result_files.line_format import CONFIDENCE, IMAGE, RLE, LineFormat, fields_problem
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.result_files.text import line_count, read_lines
from vocboard.evaluator.tasks.detection.problems import TOO_MANY_DETECTIONS
from vocboard.evaluator.tasks.format import FilesByClass
from vocboard.evaluator.tasks.instance_segmentation import rle
from vocboard.evaluator.tasks.instance_segmentation.problems import (
    EMPTY_REGIONS,
    NOT_RLE,
    RLE_TOO_LONG,
    RLE_WRONG_SIZE,
    TOO_MANY_RUNS,
)
from vocboard.evaluator.tasks.instance_segmentation.results import Regions

MAX_CHARACTERS = 100_000  # of one RLE; those of real objects have a few hundred
MAX_RUNS = 5_000_000  # of one file; COCO's largest class, with 100 regions in each image, has about as many

_LINE = LineFormat((IMAGE, CONFIDENCE, RLE))


class InstanceSegmentationFiles(FilesByClass[Regions]):
    """Lines `<image> <confidence> <RLE>`."""

    def read(self, data: bytes, report: FileReport) -> Regions | None:
        """Return the regions of one class; report problems and return None if the file is invalid."""
        blocks = read_lines(data, self.upload.edition.limits, report)
        if blocks is None:
            return None
        found, in_image, limit = _Found(), Counter[int](), self.upload.edition.limits.detections_per_image
        position = self.upload.items.images.position
        for block in blocks:
            for number, text in zip(block.numbers, block.texts, strict=True):
                fields = text.split()
                image = position(fields[0]) if len(fields) == len(_LINE.fields) else None
                if image is not None:
                    in_image[image] += 1
                    if in_image[image] > limit:
                        continue  # refused, and only counted
                self._line(fields, image, number, found, report)
                if found.count > MAX_RUNS:
                    report.add(TOO_MANY_RUNS, number, limit=MAX_RUNS)
                    return None
                if report.has_enough:
                    report.stop(number)
                    return None
        self._refuse_too_many(in_image, report)
        if report.has_errors:
            report.lines = line_count(data)
            return None
        _warn(found, report)
        return found.regions()

    def _line(self, fields: list[str], image: int | None, number: int, found: "_Found", report: FileReport) -> None:
        """Take the region of a line, unless anything is wrong with it or with a line before."""
        is_right = image is not None and self.upload.items.images.is_known and len(fields) == len(_LINE.fields)
        problem = None if is_right else fields_problem([field[:MAX_CHARACTERS] for field in fields], _LINE)
        if problem is not None:
            report.add(problem[0], number, **problem[1])
            return
        upload = self.upload
        column = 1 if is_right else column_of_image(fields, upload.items)
        if column > 1:
            report.add(IMAGE_IN_ANOTHER_COLUMN, number, image=quoted(fields[column - 1]), column=column, format=_LINE)
            return
        if image is None:
            find_image(fields[0], number, upload.items, report)
        confidence = read_number(fields[1], CONFIDENCE, number, upload.edition.limits, report)
        allowed = upload.competition.rules.confidence_range
        if confidence is not None and allowed is not None:
            check_confidence(fields[1], confidence, allowed, number, report)
        runs = self._runs(fields[2], image, number, report)
        if image is not None and confidence is not None and runs is not None and not report.has_errors:
            found.add(image, confidence, runs, number)

    def _runs(self, text: str, image: int | None, number: int, report: FileReport) -> NDArray[np.int64] | None:
        if len(text) > MAX_CHARACTERS:
            report.add(RLE_TOO_LONG, number, length=len(text), limit=MAX_CHARACTERS)
            return None
        try:
            lengths = rle.decode(text)
        except ValueError as error:
            report.add(NOT_RLE, number, found=quoted(text, 30), reason=error)
            return None
        edges = np.cumsum(lengths)
        size = None if image is None else self.upload.items.size_of(image)
        if size is not None and edges[-1] != size[0] * size[1]:
            width, height = size
            report.add(
                RLE_WRONG_SIZE, number, found=int(edges[-1]), expected=width * height, width=width, height=height
            )
            return None
        inside = edges[: len(edges) // 2 * 2].reshape(-1, 2)
        return inside[inside[:, 0] < inside[:, 1]]

    def _refuse_too_many(self, in_image: Counter[int], report: FileReport) -> None:
        limit = self.upload.edition.limits.detections_per_image
        for image, count in sorted(in_image.items()):
            if count > limit:
                name = self.upload.items.images.listed()[image]
                report.add(TOO_MANY_DETECTIONS, image=quoted(name), count=count, limit=limit)


@dataclass(slots=True)
class _Found:
    """The regions of a file so far."""

    image: list[int] = field(default_factory=list)
    confidence: list[float] = field(default_factory=list)
    runs: list[NDArray[np.int64]] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    count: int = 0

    def add(self, image: int, confidence: float, runs: NDArray[np.int64], line: int) -> None:
        """Add a region."""
        self.image.append(image)
        self.confidence.append(confidence)
        self.runs.append(runs)
        self.line.append(line)
        self.count += len(runs)

    def regions(self) -> Regions:
        """Return them as columns."""
        edges = np.concatenate([np.zeros((0, 2), dtype=np.int64), *self.runs])
        ends = np.cumsum([len(each) for each in self.runs], dtype=np.int64)
        self.runs.clear()  # so that they are not in memory three times
        return Regions(
            image=np.array(self.image, dtype=np.int32),
            confidence=np.array(self.confidence, dtype=np.float64),
            run_start=edges[:, 0].copy(),
            run_stop=edges[:, 1].copy(),
            run_end=ends,
        )


def _warn(found: _Found, report: FileReport) -> None:
    if not found.runs:
        report.add(EMPTY_FILE)
    empty = np.array([not len(each) for each in found.runs], dtype=np.bool_)
    report.warn_of(EMPTY_REGIONS, empty, found.line.__getitem__, "region")
    report.count_doubtful(empty)
