"""A test set of four images that one can score by hand, and results for it.

Two cars and two dogs. The results find the first car, then a car that is none, then the second car: precision 1, 1/2,
2/3 at recall 1/2, 1/2, 1. At 11 points that is six times 1 and five times 2/3. Of the dogs they find one: six times 1
and five times 0.
"""

import io
import tarfile
from collections.abc import Iterable, Mapping
from typing import Literal

from vocboard.evaluator.editions import load

EDITION = "VOC2007"
COMPETITIONS = ["comp1", "comp3"]
CAR_AP = (6 + 5 * 2 / 3) / 11
DOG_AP = 6 / 11
MEAN_AP = (CAR_AP + DOG_AP) / 2

_SIDE = 100  # pixels of every image
Objects = list[tuple[str, tuple[int, int, int, int]]]  # class and box of each
_OBJECTS: dict[str, Objects] = {
    "000001": [("car", (10, 10, 50, 50))],
    "000002": [("car", (20, 20, 60, 60)), ("dog", (1, 1, 30, 30))],
    "000003": [("dog", (5, 5, 40, 40))],
    "000004": [("bird", (5, 5, 40, 40))],
}
_RESULTS = {
    "Main/comp1_cls_test_car.txt": ["000001 0.9", "000002 0.7", "000003 0.8", "000004 0.1"],
    "Main/comp3_det_test_car.txt": [
        "000001 0.9 10 10 50 50",
        "000003 0.8 10 10 50 50",
        "000002 0.7 20 20 60 60",
    ],
    "Main/comp3_det_test_dog.txt": ["000003 0.5 5 5 40 40"],
}


def ground_truth_archive(objects_of: Mapping[str, Objects] | None = None) -> bytes:
    """Return the development kit tree, packed.

    Args:
        objects_of: images whose objects are corrected, with these.
    """
    by_image = {**_OBJECTS, **(objects_of or {})}
    files = {f"Annotations/{image}.xml": _annotation(objects) for image, objects in by_image.items()}
    files["ImageSets/Main/test.txt"] = "".join(f"{image}\n" for image in by_image)
    for name in load(EDITION).classes:
        files[f"ImageSets/Main/{name}_test.txt"] = "".join(
            f"{image} {1 if name in {found for found, _ in objects} else -1:2d}\n"
            for image, objects in by_image.items()
        )
    return packed({f"{EDITION}/{name}": content.encode() for name, content in files.items()}.items())


def results_archive(**changed: list[str] | None) -> bytes:
    """Return results for classification and detection, packed.

    Args:
        changed: lines of a file in place of its own, or None to leave it out; files are named without directory and
            ending.
    """
    files = dict(_RESULTS)
    for name, lines in changed.items():
        files[f"Main/{name}.txt"] = lines or []
        if lines is None:
            del files[f"Main/{name}.txt"]
    return results_of(files)


def results_of(files: Mapping[str, list[str]]) -> bytes:
    """Return result files, packed as participants do."""
    return packed(
        (f"results/{EDITION}/{name}", "".join(f"{line}\n" for line in lines).encode()) for name, lines in files.items()
    )


def packed(files: Iterable[tuple[str, bytes]], mode: Literal["w", "w:gz"] = "w:gz") -> bytes:
    """Return files as a .tar.gz, or as another archive by its mode."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode=mode) as archive:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return output.getvalue()


def _annotation(annotated: Objects) -> str:
    objects = "".join(
        f"<object><name>{name}</name><difficult>0</difficult><bndbox><xmin>{left}</xmin><ymin>{top}</ymin>"
        f"<xmax>{right}</xmax><ymax>{bottom}</ymax></bndbox></object>"
        for name, (left, top, right, bottom) in annotated
    )
    size = f"<size><width>{_SIDE}</width><height>{_SIDE}</height><depth>3</depth></size>"
    return f"<annotation>{size}{objects}</annotation>"
