"""YOLO's text files: one for each image, with lines `<class> <centre x> <centre y> <width> <height> <confidence>`.

Coordinates are fractions of the image's width and height; classes count from 0.
Source: Ultralytics, `Results.save_txt(save_conf=True)`; Darknet's labels.
"""

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path

from vocboard.evaluator.archives import TREE_LIMITS, ArchiveError, members
from vocboard.evaluator.conversion.boxes import ConvertedDetection, to_centre
from vocboard.evaluator.conversion.decimals import decimal, plain
from vocboard.evaluator.conversion.names import file_stem
from vocboard.evaluator.conversion.other_ids import OtherIds
from vocboard.evaluator.conversion.problems import (
    ConversionError,
    ProblemCollector,
    needs_directory,
    note_repeated_file,
)
from vocboard.evaluator.conversion.rows import Convention, Row, Source
from vocboard.evaluator.problems import quoted
from vocboard.evaluator.problems.archives import NOT_AN_ARCHIVE

FIELDS = "<class> <centre x> <centre y> <width> <height> <confidence>"
_MAX_FRACTION = Decimal("1.5")  # boxes may extend beyond the image, but not by half of it
_DECIMAL_COMMA = re.compile(r"\d,\d")
_IGNORED = frozenset({"classes.txt", "README.txt"})


def yolo_source(path: Path, problems: ProblemCollector) -> Source:
    """Return the detections of a directory or archive of text files.

    Raises:
        ConversionError: the archive cannot be read, or has no text files.
        OSError: a file cannot be read.
    """
    try:
        files = {m.name: m.read() for m in members(path, TREE_LIMITS) if _is_label_file(m.name)}
    except ArchiveError as error:
        if error.problem.code == NOT_AN_ARCHIVE.code:
            raise needs_directory(path, f"a file for each image, <image>.txt, of lines {FIELDS}") from error
        raise ConversionError([error.problem]) from error
    if not files:
        problems.add(
            "no_label_files",
            "there are no text files in it",
            f"Name the directory that has a file for each image, <image>.txt, of lines {FIELDS}.",
            file=path.name,
        )
    images = tuple(map(file_stem, files))
    for image, number in Counter(images).items():
        if number > 1:
            note_repeated_file(image, path.name, problems)
    return Source(Convention.CENTRE, 0, _rows(files, problems), images)


def yolo_files(
    found: Iterable[ConvertedDetection], sizes: Mapping[str, tuple[int, int]], ids: OtherIds
) -> dict[str, str]:
    """Return text files of detections by name, for all images with a known size."""
    lines: dict[str, list[str]] = {image: [] for image in sizes}
    for each in found:
        box = to_centre(each.box, sizes[each.image])
        numbers = " ".join(map(plain, (*box, each.confidence)))
        lines[each.image].append(f"{ids.classes[each.label].id} {numbers}\n")
    return {f"{ids.images[image].id}.txt": "".join(of_image) for image, of_image in lines.items()}


def _is_label_file(name: str) -> bool:
    return name.endswith(".txt") and name.rpartition("/")[2] not in _IGNORED


def _rows(files: Mapping[str, bytes], problems: ProblemCollector) -> Iterator[Row]:
    for name, content in files.items():
        for place, line in enumerate(_text(content).splitlines(), start=1):
            fields = line.split()
            if not fields:
                continue
            if len(fields) == 5:
                problems.add(
                    "no_confidence",
                    "lines without a confidence",
                    f"Write it last: {FIELDS}; Ultralytics does with save_conf=True.",
                    file=name, line=place, noun="line",
                )  # fmt: skip
                continue
            try:
                category, *numbers = fields
                x, y, width, height, confidence = map(decimal, numbers)
            except ValueError:
                _note_bad_line(line, name, place, problems)
                continue
            if max(map(abs, (x, y, width, height))) > _MAX_FRACTION:
                problems.add(
                    "not_normalised",
                    "boxes that are not fractions of the image's size",
                    "Divide x and width by the image's width, y and height by its height.",
                    file=name, line=place, noun="box", nouns="boxes",
                )  # fmt: skip
                continue
            yield Row(file_stem(name), category, confidence, (x, y, width, height), name, place)


def _note_bad_line(line: str, name: str, place: int, problems: ProblemCollector) -> None:
    if _DECIMAL_COMMA.search(line) and "." not in line:
        problems.add(
            "comma_decimal", "lines with decimal commas", "Write decimal points: 0.75, not 0,75.",
            file=name, line=place, noun="line",
        )  # fmt: skip
        return
    problems.add(
        "bad_line", f"lines that are not {FIELDS}, such as {quoted(line)}", "Fix them, or write the files again.",
        file=name, line=place, noun="line",
    )  # fmt: skip


def _text(content: bytes) -> str:
    """Decode a file; programs for Windows write byte order marks, and UTF-16."""
    encoding = "utf-16" if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    return content.decode(encoding, "replace")
