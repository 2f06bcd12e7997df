"""Ten archives as newcomers pack them by mistake, each with its correction, and a challenge that they are meant for.

The test set has twenty images of 2008 to 2011; the method enters detection (comp4), segmentation (comp6), or both.
"""

import io
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL import Image
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.support.factories import make_challenge
from tests.support.small_world import packed
from vocboard.app.challenges.ground_truth import pack_image_sets
from vocboard.app.challenges.models import Challenge, GroundTruthVersion
from vocboard.evaluator.editions import load
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.tasks.segmentation.png import voc_colours

EDITION = load("VOC2012")
IMAGES = tuple(f"{2008 + number % 4}_{1000 + number:06d}" for number in range(20))
SIZE = (40, 30)  # width and height of each
COMPETITIONS = ["comp4", "comp6"]
TRAINING_DATA = "VOC2012 trainval and COCO"

Files = Mapping[str, bytes]


def detections(images: tuple[str, ...] = IMAGES, *, image_set: str = "test", comma: bool = False) -> dict[str, bytes]:
    """Return result files of comp4, one line for each image and class, below `Main/`."""
    files = {}
    for name in EDITION.classes:
        lines = (f"{image} {0.9 - number / 100:.6f} 3.5 4.5 20 25\n" for number, image in enumerate(images))
        content = "".join(lines)
        if comma:
            content = content.replace(".", ",")
        files[f"Main/comp4_det_{image_set}_{name}.txt"] = content.encode()
    return files


def label_maps(mode: str = "P") -> dict[str, bytes]:
    """Return the label maps of all images, by file name."""
    labels = np.zeros(SIZE[::-1], dtype=np.uint8)
    labels[5:20, 5:20] = 7
    image = Image.fromarray(labels, mode="P")
    image.putpalette(voc_colours(256))
    output = io.BytesIO()
    image.convert(mode).save(output, "PNG")
    return {f"{name}.png": output.getvalue() for name in IMAGES}


def under(folder: str, files: Files) -> dict[str, bytes]:
    """Return the files in a folder."""
    return {f"{folder}/{name}": content for name, content in files.items()}


def tar(files: Files) -> bytes:
    """Return a .tar.gz of the files."""
    return packed(files.items())


def zipped(files: Files) -> bytes:
    """Return a .zip of the files, their names as they are given."""
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return output.getvalue()


@dataclass(frozen=True)
class WrongArchive:
    """An archive with one mistake.

    Attributes:
        to_do: what the report says first.
        counted: how many errors it counts, in how many files.
        corrected: the archive without the mistake.
    """

    name: str
    to_do: str
    counted: str
    wrong: Callable[[], bytes]
    corrected: Callable[[], bytes] = field(default=lambda: tar(under("results/VOC2012", detections())))
    file_name: str = "results.tar.gz"

    def __str__(self) -> str:
        return self.name


_MAPS = "Segmentation/comp6_test_cls"
_OF_2007 = tuple(f"{number:06d}" for number in range(1, 21))


def _experiment() -> dict[str, bytes]:
    others = {"config.yaml": b"lr: 0.01\n", "train.log": b"epoch 1\n" * 99, "events.out.tfevents.1": b"\0" * 99}
    checkpoints = {f"checkpoints/epoch_{number}.pth": bytes(1000) for number in range(3)}
    shown = under("visualised", label_maps("RGB"))
    return under("runs/exp7", others | checkpoints | shown | under("test/VOC2012", detections()))


def _correct_maps() -> bytes:
    return tar(under(f"results/VOC2012/{_MAPS}", label_maps()))


CASES = (
    WrongArchive(
        "another-year",
        "All 400 lines name images of another test set; they look like VOC2007. Run the method on the test images of "
        f"VOC2012, such as '{IMAGES[0]}'.",
        "400 errors in 20 files",
        lambda: tar(under("results/VOC2007", detections(_OF_2007))),
    ),
    WrongArchive(
        "flat-folder",
        "20 label maps are not in a folder; put them into Segmentation/comp6_test_cls/.",
        "1 error",
        lambda: tar(label_maps()),
        _correct_maps,
    ),
    WrongArchive(
        "decimal-commas",
        "1,200 numbers in 20 files have a decimal comma. Write a decimal point: 0.75, not 0,75.",
        "1,200 errors in 20 files",
        lambda: tar(under("results/VOC2012", detections(comma=True))),
    ),
    WrongArchive(
        "rgb",
        "20 label maps hold colours instead of class indices. Save the class indices, with the VOC palette, as PNG of "
        "8 bits per pixel.",
        "20 errors in 20 files",
        lambda: tar(under(f"results/VOC2012/{_MAPS}", label_maps("RGB"))),
        _correct_maps,
    ),
    WrongArchive(
        "val",
        "20 files are named for another image set than 'test', such as 'comp4_det_val_aeroplane.txt'. Run the method "
        "on the test images; if you did, write test in the names.",
        "20 errors in 20 files",
        lambda: tar(under("results/VOC2012", detections(image_set="val"))),
    ),
    WrongArchive(
        "mixed-years",
        "200 of 400 lines in 20 files name images of another test set; they look like VOC2007. Remove them, and enter "
        f"only the test images of VOC2012, such as '{IMAGES[0]}'.",
        "200 errors in 20 files",
        lambda: tar(under("results", detections(IMAGES[:10] + _OF_2007[:10]))),
    ),
    WrongArchive(
        "nested-archive",
        "The archive contains another archive, 'upload/results.zip'. Unpack it, and pack the result files themselves.",
        "1 error in 1 file",
        lambda: tar({"upload/results.zip": zipped(under("results/VOC2012", detections()))}),
    ),
    WrongArchive(
        "windows-paths",
        "20 file names cannot be used, such as 'C:\\Users\\Ada\\results\\Main\\comp4_det_test_aeroplane.txt'. "
        "Pack the folder from within, so that names begin with 'results/', not with a drive, '/' or '..'.",
        "20 errors in 20 files",
        lambda: zipped(
            {f"C:\\Users\\Ada\\results\\{name.replace('/', chr(92))}": text for name, text in detections().items()}
        ),
        lambda: zipped({f"results\\{name.replace('/', chr(92))}": text for name, text in detections().items()}),
        "results.zip",
    ),
    WrongArchive(
        "whole-experiment",
        "26 of the 46 files in the archive are not result files. Pack only the folder 'runs/exp7/test/VOC2012/'.",
        "26 errors in 26 files",
        lambda: tar(_experiment()),
    ),
)


def challenge(session: Session, **given: Any) -> Challenge:
    """Make the challenge in detection and segmentation."""
    made = make_challenge(session, edition="VOC2012", competitions=COMPETITIONS, quota_count=5, **given)
    version = session.scalars(select(GroundTruthVersion).where(GroundTruthVersion.challenge_id == made.id)).one()
    sizes = np.tile(np.array([SIZE], dtype=np.int32), (len(IMAGES), 1))
    sets = {
        (EDITION.competitions[key].task, EDITION.competitions[key].image_set): ImageSet(IMAGES, sizes)
        for key in COMPETITIONS
    }
    version.image_sets = pack_image_sets(ImageSets("VOC2012", sets))
    return made
