"""Small uploads for tests."""

import io
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from tests.evaluator import trees
from vocboard.evaluator.editions import Edition, Task, load
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.tasks.segmentation.png import voc_colours

IMAGES = ("000001", "000002", "000003")
SIZE = (8, 6)  # width and height of each

Content = Mapping[str, bytes | str]

directory = trees.write  # with these files unpacked


def image_sets(edition: str = "VOC2012", images: tuple[str, ...] = IMAGES) -> ImageSets:
    """Three images for every task of an edition; person 1 in each, and person 2 in the last."""
    sizes = np.array([SIZE] * len(images), dtype=np.int32)
    persons = np.array([*((image, 1) for image in range(len(images))), (len(images) - 1, 2)], dtype=np.int32)
    sets = {}
    for competition in load(edition).competitions.values():
        names_people = competition.task in {Task.LAYOUT, Task.ACTION} and edition != "VOC2007"
        sets[competition.task, "test"] = ImageSet(images, sizes, persons if names_people else None)
    return ImageSets(edition, sets)


def tar(path: Path, content: Content, mode: str = "w:gz") -> Path:
    """Write a tar archive with these files."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in content.items():
            add(archive, name, data)
    return path


def add(archive: tarfile.TarFile, name: str, data: bytes | str) -> None:
    """Add one file to a tar archive."""
    encoded = data.encode() if isinstance(data, str) else data
    header = tarfile.TarInfo(name)
    header.size = len(encoded)
    archive.addfile(header, io.BytesIO(encoded))


def zipped(path: Path, content: Content) -> Path:
    """Write a zip archive with these files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return path


def label_map(size: tuple[int, int] = SIZE, label: int = 0, mode: str = "P") -> bytes:
    """A PNG all of one label, with the VOC colour map."""
    image = Image.new(mode, size, label)
    if mode == "P":
        image.putpalette(voc_colours(256))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def codes(problems: Iterable[Problem]) -> list[tuple[str, str | None, int | None]]:
    """Code, file and line of each problem."""
    return [(problem.code, problem.file, problem.line) for problem in problems]


def errors(problems: Iterable[Problem]) -> list[Problem]:
    """The problems that refuse an upload."""
    return [problem for problem in problems if problem.severity.value == "error"]


def any_edition() -> Edition:
    """An edition with all five tasks."""
    return load("VOC2012")
