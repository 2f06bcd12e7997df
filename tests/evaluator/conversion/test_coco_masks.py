"""Segmentations of ground truth: VOC's label maps to COCO's JSON and back, to the pixel; and what is lost is said."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from pycocotools import mask as coco_mask

from tests.evaluator.trees import an_object, annotation, write
from tests.support.seeds import seeds
from vocboard.evaluator.conversion import ConversionError, coco_to_tree, tree_to_coco
from vocboard.evaluator.conversion.painting import indexed_png
from vocboard.evaluator.editions import load

WIDTH, HEIGHT = 23, 17
CAR, DOG = 7, 12  # labels of classes
VOID = 255
SIZE = f"<size><width>{WIDTH}</width><height>{HEIGHT}</height><depth>3</depth></size>"

LabelMap = NDArray[np.uint8]

pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools


def random_maps(random: np.random.Generator, kinds: list[int]) -> tuple[LabelMap, LabelMap]:
    """Objects of these classes, the later hiding the earlier, and void pixels."""
    objects, classes = np.zeros((HEIGHT, WIDTH), dtype=np.uint8), np.zeros((HEIGHT, WIDTH), dtype=np.uint8)
    for number, kind in enumerate(kinds, start=1):
        top, left = (int(side) for side in random.integers(0, (HEIGHT - 2, WIDTH - 2)))
        place = np.s_[top : top + int(random.integers(2, 9)), left : left + int(random.integers(2, 9))]
        objects[place], classes[place] = number, kind
    void = random.random((HEIGHT, WIDTH)) < 0.1
    objects[void] = classes[void] = VOID
    return objects, classes


def write_tree(directory: Path, maps: dict[str, tuple[LabelMap, LabelMap]], kinds: list[int]) -> Path:
    names = load("VOC2007").classes
    objects = [
        an_object(names[kind - 1], (1 + place, 1, 8 + place, 9), "<difficult>0</difficult>")
        for place, kind in enumerate(kinds)
    ]
    files: dict[str, str | bytes] = {f"Annotations/{image}.xml": annotation(*objects, size=SIZE) for image in maps}
    files["Annotations/000009.xml"] = annotation(*objects, size=SIZE)  # which is not segmented
    files["ImageSets/Main/test.txt"] = "".join(f"{image}\n" for image in (*maps, "000009"))
    files["ImageSets/Segmentation/test.txt"] = "".join(f"{image}\n" for image in maps)
    for image, (of_object, of_class) in maps.items():
        files[f"SegmentationObject/{image}.png"] = indexed_png(of_object)
        files[f"SegmentationClass/{image}.png"] = indexed_png(of_class)
    return write(directory / "VOC2007", files).parent


def pixels(path: Path) -> LabelMap:
    with Image.open(io.BytesIO(path.read_bytes())) as image:
        return np.array(image)


@pytest.mark.parametrize("seed", seeds(10))
def test_label_maps_come_back_to_the_pixel(seed: int, tmp_path: Path) -> None:
    random, edition = np.random.default_rng(seed), load("VOC2007")
    kinds = [CAR, DOG, CAR, DOG][: 1 + seed % 4]
    maps = {f"{number:06}": random_maps(random, kinds) for number in range(1, 5)}
    maps["000005"] = (np.zeros((HEIGHT, WIDTH), dtype=np.uint8),) * 2  # segmented, and nothing there
    tree = write_tree(tmp_path / "before", maps, kinds)
    there = tree_to_coco(tree, tmp_path / "truth.json", edition)
    back = coco_to_tree(tmp_path / "truth.json", tmp_path / "after", edition)
    assert (there.objects, there.segmentations) == (back.objects, back.segmentations)
    assert there.segmentations == sum(
        len(np.unique(objects[(objects > 0) & (objects < VOID)])) for objects, _ in maps.values()
    )
    assert [*there.problems, *back.problems] == []
    for image, (of_object, of_class) in maps.items():
        assert (pixels(tmp_path / f"after/VOC2007/SegmentationObject/{image}.png") == of_object).all()
        assert (pixels(tmp_path / f"after/VOC2007/SegmentationClass/{image}.png") == of_class).all()
    listed = (tmp_path / "after/VOC2007/ImageSets/Segmentation/test.txt").read_text()
    assert listed.split() == list(maps)
    again = tree_to_coco(tmp_path / "after", tmp_path / "again.json", edition)
    assert again.segmentations == there.segmentations
    assert (tmp_path / "again.json").read_text() == (tmp_path / "truth.json").read_text()


def test_masks_are_what_pycocotools_reads_and_writes(tmp_path: Path) -> None:
    maps = {"000001": random_maps(np.random.default_rng(1), [CAR, DOG])}
    # The dog has no box, so its box is that of its pixels.
    tree_to_coco(write_tree(tmp_path, maps, [CAR]), tmp_path / "truth.json", load("VOC2007"))
    rows = json.loads((tmp_path / "truth.json").read_text())["annotations"]
    for label, row in enumerate((row for row in rows if "segmentation" in row), start=1):
        own = maps["000001"][0] == label
        assert (coco_mask.decode(row["segmentation"]) == own).all()
        assert (
            row["segmentation"]["counts"]
            == coco_mask.encode(np.asfortranarray(own.astype(np.uint8)))["counts"].decode()
        )
        assert row["area"] == own.sum()
    assert row["bbox"] == coco_mask.toBbox(row["segmentation"]).tolist()


def document(*segmentations: Any, **image: Any) -> dict[str, Any]:
    boxes = [{"image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9], "segmentation": each} for each in segmentations]
    return {
        "images": [{"id": 1, "file_name": "000001.jpg", "width": WIDTH, "height": HEIGHT, **image}],
        "categories": [{"id": 1, "name": "car"}],
        "annotations": boxes,
    }


def codes_of(content: dict[str, Any], directory: Path) -> dict[str, str]:
    (directory / "in.json").write_text(json.dumps(content))
    done = coco_to_tree(directory / "in.json", directory / "out", load("VOC2007"))
    return {problem.code: problem.message for problem in done.problems}


def test_polygons_and_plain_runs_are_painted(tmp_path: Path) -> None:
    runs = {"size": [HEIGHT, WIDTH], "counts": [15 * HEIGHT, 2 * HEIGHT, 6 * HEIGHT]}
    found = codes_of(document([[2, 3, 8, 3, 8, 9, 2, 9]], runs), tmp_path)
    assert set(found) == {"polygons", "changed_category_ids"}
    objects = pixels(tmp_path / "out/VOC2007/SegmentationObject/000001.png")
    assert (objects[3:9, 2:8] == 1).all()
    assert (objects[:, 15:17] == 2).all()
    theirs = coco_mask.decode(coco_mask.frPyObjects([[2, 3, 8, 3, 8, 9, 2, 9]], HEIGHT, WIDTH))[:, :, 0]
    assert np.count_nonzero((objects == 1) != theirs.astype(bool)) <= 2 * (6 + 6)  # edges at most


def test_what_a_label_map_cannot_hold_is_said(tmp_path: Path) -> None:
    both = {"size": [HEIGHT, WIDTH], "counts": [0, 3 * HEIGHT, (WIDTH - 3) * HEIGHT]}
    content = document(both, both)
    content["annotations"][0]["keypoints"] = [1, 2, 3]
    found = codes_of(content, tmp_path)
    assert set(found) == {"hidden_pixels", "left_out_field", "changed_category_ids"}
    assert "keypoints" in found["left_out_field"]
    assert np.unique(pixels(tmp_path / "out/VOC2007/SegmentationObject/000001.png")).tolist() == [0, 2]


@pytest.mark.parametrize(
    "segmentation",
    [
        {"size": [WIDTH, HEIGHT], "counts": "0"},
        {"size": [HEIGHT, WIDTH], "counts": "~~"},
        {"size": [HEIGHT, WIDTH], "counts": [3, 4]},
        {"size": [HEIGHT, WIDTH], "counts": [-1, WIDTH * HEIGHT + 1]},
        {"size": [HEIGHT, WIDTH], "counts": [0.5]},
        {"size": [HEIGHT, WIDTH]},
        [[1, 2, 3, 4]],
        [[1, 2, 3, 4, 5, 6, 7]],
        [["a", 2, 3, 4, 5, 6]],
        "0",
    ],
)
def test_segmentations_that_are_none_are_refused(segmentation: Any, tmp_path: Path) -> None:
    with pytest.raises(ConversionError) as caught:
        codes_of(document(segmentation), tmp_path)
    assert [problem.code for problem in caught.value.problems] == ["bad_segmentation"]
    assert [path.name for path in tmp_path.iterdir()] == ["in.json"]


def test_label_maps_that_coco_cannot_hold_are_said(tmp_path: Path) -> None:
    of_object, of_class = random_maps(np.random.default_rng(2), [CAR])
    tree = write_tree(tmp_path, {"000001": (of_object, of_class), "000002": (of_object, of_class)}, [CAR])
    (tree / "VOC2007/SegmentationObject/000002.png").unlink()
    (tree / "VOC2007/SegmentationObject/000001.png").write_bytes(indexed_png(np.where(of_object == 1, 0, of_object)))
    (tree / "VOC2007/SegmentationClass/000010.png").write_bytes(indexed_png(of_class))
    (tree / "VOC2007/ImageSets/Segmentation/test.txt").write_text("000001\n000010\n")
    done = tree_to_coco(tree, tmp_path / "truth.json", load("VOC2007"))
    found = {problem.code: problem.message for problem in done.problems}
    assert set(found) == {"unclear_pixels", "no_object_map", "left_out_image"}
    assert "000001" in found["unclear_pixels"]
    assert "000002" in found["no_object_map"]
    assert "000010" in found["left_out_image"]
