"""What importing ground truth warns of, and that one broken file hides nothing."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.support.trees import write_tree
from vocboard.evaluator.editions import load
from vocboard.evaluator.ground_truth import GroundTruthError
from vocboard.evaluator.ground_truth.reader import import_ground_truth, read_ground_truth
from vocboard.evaluator.problems import Problem

EDITION = load("VOC2012")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path, images=("one", "two", "three"))


def edit(tree: Path, image: str, old: str, new: str) -> None:
    file = tree / "Annotations" / f"{image}.xml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def write_label_maps(tree: Path, classes: Mapping[str, Sequence[str]]) -> None:
    """Write label maps with some pixels of these classes, by image."""
    (tree / "ImageSets" / "Segmentation").mkdir(parents=True, exist_ok=True)
    (tree / "ImageSets" / "Segmentation" / "test.txt").write_text("".join(f"{image}\n" for image in classes))
    (tree / "SegmentationClass").mkdir(exist_ok=True)
    for image, names in classes.items():
        labels = np.zeros((375, 500), dtype=np.uint8)
        for number, name in enumerate(names):
            labels[10 * number : 10 * number + 5] = 1 + EDITION.classes.index(name)
        Image.fromarray(labels).save(tree / "SegmentationClass" / f"{image}.png")


def warnings(tree: Path, code: str) -> list[Problem]:
    return [one for one in import_ground_truth(tree, EDITION).warnings if one.code == code]


def test_a_misspelt_class_is_told_with_counts_and_what_was_meant(tree: Path) -> None:
    edit(tree, "one", "<name>car</name>", "<name>Car</name>")
    edit(tree, "two", "<name>car</name>", "<name>Car</name>")
    edit(tree, "three", "<name>person</name>", "<name>pedestrian</name>")
    first, second = warnings(tree, "unknown_class")
    assert "'Car' is not a class of the edition: 2 objects in 2 images" in first.message
    assert "(one, two)" in first.message
    assert "Did you mean 'car'?" in first.message
    assert "Expected: aeroplane, bicycle" in first.message
    assert "'pedestrian'" in second.message
    assert "1 object in 1 image" in second.message


def test_classes_without_positives_are_told_by_task(tree: Path) -> None:
    detection, classification = warnings(tree, "class_without_positives")
    assert detection.message.startswith("detection on test: 18 classes of 20 without positives: aeroplane, bicycle")
    assert classification.message.startswith("classification on test: 18 classes of 20")
    assert "car" not in detection.message.partition(": ")[2].replace("cat", "").split("There")[0].split(", ")


def test_images_without_annotation_are_a_warning_where_they_are_imported(tree: Path) -> None:
    (tree / "Annotations" / "two.xml").unlink()
    [warning] = warnings(tree, "missing_annotation")
    assert warning.file == "ImageSets/Main/test.txt"
    assert "1 image of 3 without annotation: two. It counts as an image without objects." in warning.message
    with pytest.raises(GroundTruthError, match=r"two\.xml"):
        read_ground_truth(tree, EDITION)


@pytest.mark.parametrize(
    ("old", "new", "is_outside"),
    [
        ("<xmax>50</xmax>", "<xmax>501</xmax>", True),
        ("<ymax>50</ymax>", "<ymax>376</ymax>", True),
        ("<xmin>1</xmin>", "<xmin>0</xmin>", True),  # counted from 0
        ("<xmax>50</xmax>", "<xmax>500</xmax>", False),
        ("<xmax>50</xmax>", "<xmax>500.3</xmax>", False),  # real kits have fractions
    ],
)
def test_boxes_outside_the_image_are_counted(tree: Path, old: str, new: str, is_outside: bool) -> None:
    edit(tree, "one", old, new)
    found = warnings(tree, "box_outside")
    assert bool(found) == is_outside
    if is_outside:
        assert "1 box in 1 image reaches beyond the image" in found[0].message
        assert "in 500 x 375" in found[0].message


def test_boxes_and_label_maps_of_other_classes_are_told_with_their_images(tree: Path) -> None:
    write_label_maps(tree, {"one": ("car", "person"), "two": ("bus", "person")})
    [warning] = warnings(tree, "boxes_and_masks_differ")
    assert "'bus' is in label maps, but not among the boxes of 1 image (two)" in warning.message
    assert "'car' is among the boxes, but not in label maps of 1 image (two)" in warning.message
    assert "one" not in warning.message
    edit(tree, "two", "<name>car</name>", "<name>bus</name>")
    assert warnings(tree, "boxes_and_masks_differ") == []


def test_one_malformed_file_does_not_hide_other_problems(tree: Path) -> None:
    (tree / "Annotations" / "one.xml").write_text("<annotation><object></annotation>")
    edit(tree, "two", "<name>car</name>", "<name>Car</name>")
    edit(tree, "three", "<xmax>50</xmax>", "<xmax>9999</xmax>")
    (tree / "ImageSets" / "Main" / "car_test.txt").write_text("one 1\ntwo 5\nthree -1\nfour 1\n")
    with pytest.raises(GroundTruthError) as refused:
        import_ground_truth(tree, EDITION)
    codes = [problem.code for problem in refused.value.problems]
    assert set(codes) >= {"bad_annotation", "bad_label", "unknown_image", "unknown_class", "box_outside"}
    assert "missing_annotation" not in codes  # it is there, and broken


def test_a_tree_without_image_sets_says_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "VOC2010" / "Annotations").mkdir(parents=True)
    with pytest.raises(GroundTruthError, match=r"ImageSets/Main/test\.txt.*found: VOC2010, VOC2010/Annotations"):
        import_ground_truth(tmp_path, EDITION)


def test_cut_off_objects_are_counted(tree: Path) -> None:
    edit(tree, "one", "<difficult>0</difficult>", "<truncated>1</truncated><difficult>0</difficult>")
    edit(tree, "two", "<difficult>0</difficult>", "<truncated>1</truncated><difficult>1</difficult>")
    assert import_ground_truth(tree, EDITION).truncated["test"]["car"] == 1  # difficult objects do not count
