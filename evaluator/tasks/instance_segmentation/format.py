"""Result files: a confidence and a region for each instance, one file a class.

Source: COCO API for the encoding of regions.
"""

import numpy as np
from numpy.typing import NDArray

from vocboard.evaluator.problems import counted, quoted
from vocboard.evaluator.problems.text_files import EMPTY_FILE, TOO_MANY_DETECTIONS
from vocboard.evaluator.result_files.fields import check_confidence, find_image, read_number
from vocboard.evaluator.result_files.line_format import CONFIDENCE, IMAGE, LineFormat, field_count_problem
from vocboard.evaluator.result_files.report import FileReport
from vocboard.evaluator.result_files.text import read_lines
from vocboard.evaluator.tasks.format import FilesByClass
from vocboard.evaluator.tasks.instance_segmentation import rle
from vocboard.evaluator.tasks.instance_segmentation.problems import EMPTY_REGIONS, NOT_RLE, RLE_TOO_LONG, RLE_WRONG_SIZE
from vocboard.evaluator.tasks.instance_segmentation.results import Regions

MOST_CHARACTERS = 100_000  # of one RLE; those of real objects have some hundred

_LINE = LineFormat((IMAGE, CONFIDENCE, "RLE"), once=False)


class InstanceSegmentationFiles(FilesByClass[Regions]):
    """Lines `<image> <confidence> <RLE>`."""

    def read(self, data: bytes, report: FileReport) -> Regions | None:
        """Return the regions of one class; None, and problems reported, if the file is not valid."""
        blocks = read_lines(data, self.upload.edition.limits, report)
        if blocks is None:
            return None
        images, confidences, runs, lines = [], [], [], []
        for block in blocks:
            for number, text in zip(block.numbers, block.texts, strict=True):
                found = self._line(text, number, report)
                if found is not None and not report.has_errors:
                    images.append(found[0])
                    confidences.append(found[1])
                    runs.append(found[2])
                    lines.append(number)
                if report.has_enough:
                    report.stop(number)
                    return None
        if report.has_errors or self._too_many_in_an_image(images, report):
            return None
        self._warn(runs, lines, report)
        lengths = [len(each) for each in runs]
        edges = np.concatenate([np.zeros((0, 2), dtype=np.int64), *runs])
        return Regions(
            image=np.array(images, dtype=np.int32),
            confidence=np.array(confidences, dtype=np.float64),
            run_start=edges[:, 0].copy(),
            run_stop=edges[:, 1].copy(),
            run_end=np.cumsum(lengths, dtype=np.int64),
        )

    def _line(self, text: str, number: int, report: FileReport) -> tuple[int, float, NDArray[np.int64]] | None:
        """Image, confidence and (k, 2) runs of a line, each from its first pixel up to the one after its last."""
        fields = text.split()
        if len(fields) != len(_LINE.fields):
            kind, found = field_count_problem([field[:MOST_CHARACTERS] for field in fields], _LINE)
            report.add(kind, number, **found)
            return None
        upload = self.upload
        image = find_image(fields[0], number, upload.items, report)
        confidence = read_number(fields[1], CONFIDENCE, number, upload.edition.limits, report)
        allowed = upload.competition.rules.confidence_range
        if confidence is not None and allowed is not None:
            check_confidence(fields[1], confidence, allowed, number, report)
        runs = self._runs(fields[2], image, number, report)
        return None if image is None or confidence is None or runs is None else (image, confidence, runs)

    def _runs(self, text: str, image: int | None, number: int, report: FileReport) -> NDArray[np.int64] | None:
        if len(text) > MOST_CHARACTERS:
            report.add(RLE_TOO_LONG, number, length=len(text), limit=MOST_CHARACTERS)
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

    def _too_many_in_an_image(self, images: list[int], report: FileReport) -> bool:
        limit = self.upload.edition.limits.detections_per_image
        counts = np.bincount(np.array(images, dtype=np.intp), minlength=1)
        too_many = np.flatnonzero(counts > limit).tolist()
        for image in too_many:
            name = self.upload.items.images.listed()[image]
            report.add(TOO_MANY_DETECTIONS, image=quoted(name), count=int(counts[image]), limit=limit)
        return bool(too_many)

    def _warn(self, runs: list[NDArray[np.int64]], lines: list[int], report: FileReport) -> None:
        if not runs:
            report.add(EMPTY_FILE)
        empty = [line for line, each in zip(lines, runs, strict=True) if not len(each)]
        if empty:
            report.add(EMPTY_REGIONS, empty[0], count=counted(len(empty), "region"))
