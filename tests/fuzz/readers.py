"""One harness a reader: bytes in, and what must hold of the outcome whatever the bytes are.

A harness returns in silence or raises: an `AssertionError` for a promise that is broken, anything else for an exception
that the reader let through. The first byte chooses among settings, the others are what is read.
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from tests.evaluator.uploads import SIZE, image_sets
from tests.fuzz.repair import with_png_checksums, with_tar_checksums
from vocboard.evaluator.archives import ArchiveLimits
from vocboard.evaluator.editions import Edition, Limits, Task, load
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.problems import Problem, Severity
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.result_files.items import Items
from vocboard.evaluator.result_files.report import LISTED, FileReport
from vocboard.evaluator.results import Confidences, Detections
from vocboard.evaluator.tasks.action.format import read_people
from vocboard.evaluator.tasks.classification.format import read_images
from vocboard.evaluator.tasks.detection.format import read_detections
from vocboard.evaluator.tasks.layout.reader import read_layouts
from vocboard.evaluator.tasks.segmentation.png import PngError, read_indexed

MAX_MESSAGE_LENGTH = 1_500  # characters
KIB = 1024

# So small that a fuzzer meets every one of them.
LIMITS = Limits(detections_per_image=20, lines_per_file=200, characters_per_line=200, parts_per_layout=6)
ARCHIVE_LIMITS = ArchiveLimits(
    members=20, member_bytes=64 * KIB, total_bytes=512 * KIB, ratio=200, ratio_from_bytes=128 * KIB, name_characters=200
)

_TEXT_TASKS = (Task.CLASSIFICATION, Task.DETECTION, Task.ACTION)
_LAYOUT_EDITIONS = ("VOC2012", "VOC2007")


def fuzz_archive(data: bytes) -> None:
    """An upload: tar, zip, or anything."""
    setting, content = data[:1], data[1:]
    if setting and setting[0] & 1:
        content = with_tar_checksums(content)
    upload = _scratch() / "upload"
    upload.write_bytes(content)
    read = read_results(upload, _edition("VOC2012"), _public("VOC2012"), limits=ARCHIVE_LIMITS)
    check_problems(read.problems)
    assert [path.name for path in _scratch().iterdir()] == ["upload"], "something was written beside the upload"


def fuzz_text(data: bytes) -> None:
    """A classification, detection or action file."""
    setting, content = (data[:1] or b"\0")[0], data[1:]
    task = _TEXT_TASKS[(setting & 127) % 3]
    items = Items(task, _public("VOC2012").sets[task, "test"] if setting & 128 else None)
    report = FileReport("file.txt")
    read: Detections | Confidences | None
    if task is Task.DETECTION:
        read = read_detections(content, items, LIMITS, report)
    else:
        read = (read_people if task is Task.ACTION else read_images)(content, items, LIMITS, report)
    assert (read is None) == report.has_errors
    check_problems(report.problems())
    if read is not None:
        assert np.isfinite(read.confidence).all()
        assert np.abs(read.confidence).max(initial=0) <= LIMITS.absolute_number
    if isinstance(read, Detections):
        assert read.box.shape == (len(read.image), 4)
        assert np.isfinite(read.box).all()


def fuzz_xml(data: bytes) -> None:
    """A layout file."""
    setting, content = (data[:1] or b"\0")[0], data[1:]
    edition = _edition(_LAYOUT_EDITIONS[setting & 1])
    items = Items(Task.LAYOUT, _public(edition.name).sets[Task.LAYOUT, "test"] if setting & 128 else None)
    protocol = edition.competitions["comp7"].rules.layout_protocol
    report = FileReport("file.xml")
    read = read_layouts(content, protocol, edition.parts, items=items, limits=LIMITS, report=report)
    assert (read is None) == report.has_errors
    check_problems(report.problems())
    if read is not None:
        layouts = len(read.image)
        named = read.person_box if read.object is None else read.object
        assert named is not None
        assert len(named) == len(read.confidence) == layouts
        assert read.part_box.shape == (len(read.part_type), 4)
        assert not len(read.part_layout) or 0 <= read.part_layout.min() <= read.part_layout.max() < layouts
        assert np.isfinite(read.confidence).all()
        assert np.isfinite(read.part_box).all()


def fuzz_png(data: bytes) -> None:
    """A label map."""
    setting, content = (data[:1] or b"\0")[0], data[1:]
    if setting & 3:
        content = with_png_checksums(content, deflate=setting & 3 == 2)
    size = SIZE if setting & 128 else None
    try:
        image = read_indexed(content, size)
    except PngError as error:
        check_problems([error.kind.at("map.png", **error.found)])
        return
    assert image.labels.dtype == np.uint8
    assert image.labels.ndim == 2
    assert size is None or image.labels.shape == size[::-1]


READERS: Mapping[str, Callable[[bytes], None]] = MappingProxyType(
    {"archive": fuzz_archive, "text": fuzz_text, "xml": fuzz_xml, "png": fuzz_png}
)


def check_problems(problems: Iterable[Problem]) -> None:
    """Assert what holds of every list of problems."""
    problems = list(problems)
    per_file: dict[str | None, int] = {}
    for problem in problems:
        assert problem.message.isprintable(), problem
        assert len(problem.message) <= MAX_MESSAGE_LENGTH, problem
        assert problem.file is None or problem.file.isprintable(), problem
        assert problem.line is None or problem.line >= 1, problem
        assert isinstance(problem.severity, Severity)
        per_file[problem.file] = per_file.get(problem.file, 0) + 1
    # All listed ones, one that counts the rest of the errors and one of the warnings; the archive's own may name files.
    assert max(per_file.values(), default=0) <= 2 * (LISTED + 2)


@cache
def _edition(name: str) -> Edition:
    return load(name)


@cache
def _public(edition: str) -> ImageSets:
    return image_sets(edition)


@cache
def _directory() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="vocboard-fuzz-")


def _scratch() -> Path:
    return Path(_directory().name)
