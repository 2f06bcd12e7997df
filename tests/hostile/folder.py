"""The folder: each upload with the edition it is for and the exact problems it has."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.evaluator.uploads import SIZE
from vocboard.evaluator.editions import Edition, Task, load, read
from vocboard.evaluator.image_sets import ImageSet, ImageSets

ROOT = Path(__file__).parent
INSTANCES = "Instances"  # a custom edition with instance segmentation
_EXAMPLES = ROOT.parents[1] / "docs" / "editions" / "examples"
# With their files; None for those that the evaluator has.
EDITIONS: Mapping[str, Path | None] = {"VOC2012": None, "VOC2007": None, INSTANCES: _EXAMPLES / "instances.toml"}
EXPECTED = ".problems.json"

_MAIN = ("000001", "000002", "000003", "000004")
_OTHERS = _MAIN[:3]


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of the folder.

    Attributes:
        problems: as JSON has them, in their order.
    """

    path: Path
    edition: str
    is_accepted: bool
    problems: list[dict[str, Any]]

    def __str__(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"


def uploads() -> Iterator[Upload]:
    """All of them, by name."""
    for path in sorted(ROOT.glob(f"*/*{EXPECTED}")):
        expected = json.loads(path.read_text(encoding="utf-8"))
        archive = path.with_name(path.name.removesuffix(EXPECTED))
        yield Upload(archive, expected["edition"], path.parent.name == "accept", expected["problems"])


@cache
def edition_of(name: str) -> Edition:
    """Return the edition of an upload."""
    file = EDITIONS[name]
    return load(name) if file is None else read(file)


@cache
def public(edition: str) -> ImageSets:
    """Image sets: four images for classification and detection, three of them for the other tasks; 8 x 6 pixels.

    There is one person in each, and a second in the last of the three.
    """
    sets = {}
    for competition in edition_of(edition).competitions.values():
        main = competition.task in {Task.CLASSIFICATION, Task.DETECTION}
        images = _MAIN if main else _OTHERS
        persons = np.array([*((image, 1) for image in range(len(_OTHERS))), (len(_OTHERS) - 1, 2)], dtype=np.int32)
        names_people = competition.task in {Task.LAYOUT, Task.ACTION} and edition != "VOC2007"
        sizes = np.array([SIZE] * len(images), dtype=np.int32)
        sets[competition.task, competition.image_set] = ImageSet(images, sizes, persons if names_people else None)
    return ImageSets(edition, sets)
