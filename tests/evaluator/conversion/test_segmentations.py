"""Label maps: painted from detections as the kit does it, and in other formats."""

import struct
import zlib
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.support.golden import golden, golden_truth
from vocboard.evaluator.conversion import (
    LABEL_MAP_FORMATS,
    ConversionError,
    label_colour_map,
    maps_from_results,
    maps_to_results,
    segmentations_from_detections,
    write_colour_map,
)
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.image_sets import ImageSet, ImageSets

SIZE = (7, 5)
IMAGES = ("a", "b")


def image_sets() -> ImageSets:
    sizes = np.array([SIZE] * len(IMAGES), dtype=np.int32)
    return ImageSets("VOC2007", {(Task.SEGMENTATION, "test"): ImageSet(IMAGES, sizes)})


def test_painting_gives_the_kits_scores(tmp_path: Path) -> None:
    case, edition = golden("voc2007-real"), load("VOC2007")
    truth = golden_truth(case.name)
    segmentations_from_detections(
        case.results,
        tmp_path / "r.tar.gz",
        edition=edition,
        detection="comp4",
        segmentation="comp6",
        image_sets=truth.image_sets,
        above=Decimal("0.4"),  # as the golden maps were painted
    )
    found = evaluate(tmp_path / "r.tar.gz", edition, truth).as_json()["competitions"]["comp6"]
    expected = case.expected()["comp6"]["accuracy_percent"]
    assert {name: 100 * score for name, score in found["per_class"].items()} == pytest.approx(
        {name: float(text) for name, text in expected.items()}, abs=1e-9
    )


@pytest.mark.parametrize("name", LABEL_MAP_FORMATS)
def test_label_maps_there_and_back(name: str, tmp_path: Path) -> None:
    random, edition = np.random.default_rng(1), load("VOC2007")
    maps = {image: random.integers(0, 21, SIZE[::-1]).astype(np.int64) for image in IMAGES}
    (tmp_path / "maps").mkdir()
    for image, labels in maps.items():
        np.save(tmp_path / "maps" / f"{image}.npy", labels)
    options = {"edition": edition, "competition": "comp6", "image_sets": image_sets()}
    maps_to_results("numpy", tmp_path / "maps", tmp_path / "first.tar.gz", **options)
    assert maps_from_results(name, tmp_path / "first.tar.gz", tmp_path / "other", **options) == 2
    maps_to_results(name, tmp_path / "other", tmp_path / "second.tar.gz", **options)
    assert (tmp_path / "second.tar.gz").read_bytes() == (tmp_path / "first.tar.gz").read_bytes()
    maps_from_results("numpy", tmp_path / "second.tar.gz", tmp_path / "last", **options)
    for image, labels in maps.items():
        assert (np.load(tmp_path / "last" / f"{image}.npy") == labels).all()


def test_everything_wrong_with_label_maps_at_once(tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    maps.mkdir()
    Image.new("L", (3, 3)).save(maps / "a.png")
    Image.new("L", SIZE, 90).save(maps / "b.png")
    Image.new("L", SIZE).save(maps / "zebra.png")
    (maps / "old").mkdir()
    Image.new("L", SIZE).save(maps / "old" / "a.png")
    found = errors_of(maps, tmp_path)
    # b is there, although it is invalid
    assert set(found) == {"wrong_size", "unknown_label", "unknown_image", "repeated_file"}
    (maps / "old" / "a.png").unlink()
    assert "3 x 3, expected 7 x 5" in found["wrong_size"]
    (maps / "b.png").unlink()
    found = errors_of(maps, tmp_path)
    assert set(found) == {"wrong_size", "unknown_image", "missing_map"}
    assert found["missing_map"].startswith("Images without a label map: b.")
    assert "in this format, <image>.png" in found["missing_map"]
    (maps / "b.png").symlink_to(maps / "a.png")
    assert set(errors_of(maps, tmp_path)) == {"not_a_regular_file"}
    assert not (tmp_path / "r.tar.gz").exists()


def errors_of(maps: Path, directory: Path, form: str = "greyscale") -> dict[str, str]:
    target, edition = directory / "r.tar.gz", load("VOC2007")
    with pytest.raises(ConversionError) as caught:
        maps_to_results(form, maps, target, edition=edition, competition="comp6", image_sets=image_sets())
    return {problem.code: problem.message for problem in caught.value.problems}


def test_colours_that_are_no_labels(tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    maps.mkdir()
    for image in IMAGES:
        Image.new("RGB", SIZE, (128, 1, 0)).save(maps / f"{image}.png")
    first, *_ = errors_of(maps, tmp_path, "colour").values()
    assert "(128, 1, 0)" in first


def test_archives_of_arrays_are_no_label_maps(tmp_path: Path) -> None:
    (tmp_path / "maps").mkdir()
    for image in IMAGES:
        with (tmp_path / "maps" / f"{image}.npy").open("wb") as file:
            np.savez(file, np.zeros(SIZE[::-1], dtype=np.uint8))
    assert set(errors_of(tmp_path / "maps", tmp_path, "numpy")) == {"not_numpy"}


@pytest.mark.parametrize(("form", "mode"), [("greyscale", "L"), ("greyscale", "I;16"), ("colour", "RGB")])
def test_rows_that_are_missing_do_not_become_background(form: str, mode: str, tmp_path: Path) -> None:
    (tmp_path / "maps").mkdir()
    for image, height in zip(IMAGES, (SIZE[1], SIZE[1] - 1), strict=True):
        file = tmp_path / "maps" / f"{image}.png"
        Image.new(mode, (SIZE[0], height)).save(file)
        header = struct.pack(">4sII", b"IHDR", *SIZE) + file.read_bytes()[24:29]
        checked = header + struct.pack(">I", zlib.crc32(header))
        file.write_bytes(file.read_bytes()[:12] + checked + file.read_bytes()[33:])
    found = errors_of(tmp_path / "maps", tmp_path, form)
    assert found == {"damaged_png": "A PNG that is damaged: its data end before the last row. Write it again."}


def test_colour_map_files(tmp_path: Path) -> None:
    write_colour_map(tmp_path / "map.txt")
    assert np.loadtxt(tmp_path / "map.txt", dtype=int).tolist() == label_colour_map().tolist()
    assert label_colour_map()[255].tolist() == [224, 224, 192]  # void
    with pytest.raises(ValueError, match="does not end in"):
        write_colour_map(tmp_path / "map.exe")
