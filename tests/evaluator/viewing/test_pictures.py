"""Pictures come from the edition's own folder, also in an archive with the folders of others."""

import ntpath
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.evaluator.uploads import directory, tar
from vocboard.evaluator.editions import Edition, Task, load
from vocboard.evaluator.examples.material import Material
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.ground_truth.available_sets import available_image_sets
from vocboard.evaluator.image_sets import ImageSets
from vocboard.evaluator.viewing.pictures import find_pictures
from vocboard.evaluator.viewing.scenes import Scenes

IMAGE = "000001"
FILES = {
    "VOC2007/ImageSets/Main/test.txt": f"{IMAGE}\n",
    f"VOC2007/JPEGImages/{IMAGE}.jpg": "2007",
    f"VOC2007/SegmentationClass/{IMAGE}.png": "2007",
    "OWN/ImageSets/Main/others.txt": f"{IMAGE}\n",
    f"OWN/JPEGImages/{IMAGE}.jpg": "own",
    f"OWN/SegmentationClass/{IMAGE}.png": "own",
    "VOC2006/ImageSets/val.txt": f"{IMAGE}\n",
    f"VOC2006/PNGImages/{IMAGE}.png": "2006",
}
OWN = replace(load("VOC2007"), name="OWN")


@pytest.mark.parametrize("place", ["", "VOCdevkit/"])
@pytest.mark.parametrize(
    ("edition", "picture", "label_map", "sets"),
    [
        (load("VOC2007"), "JPEGImages/000001.jpg", "2007", {"Main": ("test",)}),
        (OWN, "JPEGImages/000001.jpg", "own", {"Main": ("others",)}),
        (load("VOC2006"), "PNGImages/000001.png", None, {"": ("val",)}),
    ],
    ids=["VOC2007", "OWN", "VOC2006"],
)
def test_editions_in_one_archive_are_kept_apart(
    tmp_path: Path, place: str, edition: Edition, picture: str, label_map: str | None, sets: dict[str, tuple[str, ...]]
) -> None:
    files = {place + path: content for path, content in FILES.items()}
    archive, unpacked = tar(tmp_path / "trees.tar", files, "w"), directory(tmp_path / "trees", files)
    expected = edition.name.removeprefix("VOC").lower().encode()
    page = tmp_path / "page"
    page.mkdir()
    found = find_pictures(archive, edition, Scenes((IMAGE,), {}, {}, {}), page, page)
    assert found.picture(IMAGE) == picture
    assert (page / picture).read_bytes() == expected
    assert {name for name, images in found.maps.items() if images} == ({"SegmentationClass"} if label_map else set())
    assert label_map is None or (page / f"SegmentationClass/{IMAGE}.png").read_text() == label_map
    for tree in (archive, unpacked):
        nothing = ImageSets(edition.name, {})
        material = Material(tree, Task.DETECTION, GroundTruth.of(nothing, {}, {}), nothing, edition, edition)
        assert list(material.pictures([IMAGE])) == [(0, expected)]
        assert available_image_sets(tree, edition) == sets


def test_pictures_on_another_drive_of_windows_have_their_whole_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = directory(tmp_path / "a tree", FILES)
    monkeypatch.setattr(os.path, "relpath", lambda *_: ntpath.relpath("d:/a tree", "c:/page"))
    found = find_pictures(tree, load("VOC2007"), Scenes((IMAGE,), {}, {}, {}), tmp_path, tmp_path / "page")
    assert found.picture(IMAGE) == f"file://{tmp_path}/a%20tree/VOC2007/JPEGImages/{IMAGE}.jpg"
