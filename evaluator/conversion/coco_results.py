"""Reads detections in COCO's result format, which Detectron2, MMDetection and Ultralytics also write.

A list of `{"image_id": 12, "category_id": 7, "bbox": [x, y, width, height], "score": 0.9}`.
Source: COCO, "Results format", 1. Detection.
"""

from collections.abc import Iterator
from typing import Any

from vocboard.evaluator.conversion.json_input import four, number, shown
from vocboard.evaluator.conversion.problems import ConversionError, ProblemCollector
from vocboard.evaluator.conversion.rows import Convention, Row, Source
from vocboard.evaluator.problems import Problem, Severity

EXPECTED = '{"image_id": 12, "category_id": 7, "bbox": [x, y, width, height], "score": 0.9}'
_REMEDY = f"Expected a list of {EXPECTED}."


def is_coco_results(document: Any) -> bool:
    """Whether a JSON document looks like COCO's results."""
    return isinstance(document, list) and bool(document) and isinstance(document[0], dict) and "bbox" in document[0]


def coco_source(document: Any, file: str, problems: ProblemCollector) -> Source:
    """Return the detections of a parsed JSON document.

    Raises:
        ConversionError: it is not a list.
    """
    if isinstance(document, dict) and "annotations" in document:
        message = f"This has the form of COCO's ground truth, an object with annotations, not of results. {_REMEDY}"
        raise ConversionError([Problem("ground_truth", Severity.ERROR, message, file)])
    if not isinstance(document, list):
        message = f"This is not a list of detections. {_REMEDY}"
        raise ConversionError([Problem("no_detections", Severity.ERROR, message, file)])
    return Source(Convention.CORNER_AND_SIZE, 1, _rows(document, file, problems))


def _rows(document: list[Any], file: str, problems: ProblemCollector) -> Iterator[Row]:
    for place, row in enumerate(document, start=1):
        if not isinstance(row, dict):
            problems.add("bad_record", "a record that is not an object", _REMEDY, file=file, line=place, noun="record")
            continue
        missing = [key for key in ("image_id", "category_id", "bbox", "score") if key not in row]
        if missing:
            for key in missing:
                found = "records without a field"
                problems.add(f"missing_{key}", f"{found} {key!r}", _REMEDY, file=file, line=place, noun="record")
            continue
        box, score = four(row["bbox"]), number(row["score"])
        if box is None or score is None:
            key, expected = ("bbox", "four finite numbers") if box is None else ("score", "a finite number")
            problems.add(
                f"bad_{key}",
                f"records whose {key!r} is not {expected}, such as {shown(row[key])}",
                _REMEDY,
                file=file,
                line=place,
                noun="record",
            )
            continue
        image = row["file_name"] if isinstance(row.get("file_name"), str) else row["image_id"]
        yield Row(image, row["category_id"], score, box, file, place)
