"""Converting there and back gives every number to the last bit."""

import json
import struct
from collections import defaultdict
from pathlib import Path

import pytest

from tests.evaluator.conversion import kit
from tests.evaluator.trees import an_object, annotation, write
from tests.support.golden import golden, golden_truth
from vocboard.evaluator.conversion import (
    FORMATS,
    ConversionError,
    ConvertedDetection,
    from_results,
    to_results,
    tree_to_coco,
)
from vocboard.evaluator.conversion.decimals import decimal
from vocboard.evaluator.conversion.detection_output import write_detections
from vocboard.evaluator.conversion.detections import result_files
from vocboard.evaluator.conversion.result_archive import image_set_of, write_results
from vocboard.evaluator.conversion.reverse import convert_from_results
from vocboard.evaluator.editions import Edition, Task, load
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.public_tree import read_image_sets


def bits(found: list[ConvertedDetection]) -> dict[tuple[str, str], list[bytes]]:
    """Every number as the bits of its double, by class and image, in order."""
    by_image: dict[tuple[str, str], list[bytes]] = defaultdict(list)
    for each in found:
        by_image[each.label, each.image].append(struct.pack("<5d", float(each.confidence), *map(float, each.box)))
    return dict(by_image)


def there_and_back(
    name: str, found: list[ConvertedDetection], edition: Edition, sets: ImageSets, directory: Path
) -> list[ConvertedDetection]:
    image_set = image_set_of(edition.competitions["comp4"], sets)
    there, back = directory / "there", directory / "back.tar.gz"
    sizes = image_set.sizes_by_image()
    write_detections(name, found, there, classes=edition.classes, images=image_set.images, sizes=sizes)
    to_results(name, there, back, edition=edition, competition="comp4", image_sets=sets)
    return from_results(back, edition, "comp4", sets)[0]


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_of_every_length(name: str, tmp_path: Path) -> None:
    sets, edition, found = kit.image_sets(kit.tree(tmp_path)), kit.edition(), kit.random_detections()
    files = result_files(found, edition.competitions["comp4"], ["car", "dog", "person"])
    write_results(tmp_path / "results.tar.gz", edition, files, sets, ["comp4"])
    read, entered = from_results(tmp_path / "results.tar.gz", edition, "comp4", sets)
    assert entered == ("car", "dog", "person")
    assert bits(read) == bits(found)
    assert bits(there_and_back(name, read, edition, sets, tmp_path)) == bits(found)


@pytest.mark.parametrize("name", ["coco", pytest.param("yolo", marks=pytest.mark.long)])
def test_real_detections(name: str, tmp_path: Path) -> None:
    case, edition = golden("voc2007-real"), kit.edition()
    sets = golden_truth(case.name).image_sets
    found, _ = from_results(case.results, edition, "comp4", sets)
    assert len(found) == 52_404
    assert bits(there_and_back(name, found, edition, sets, tmp_path)) == bits(found)


def test_other_tools_files_come_back_as_they_were(tmp_path: Path) -> None:
    """From COCO to VOC and to COCO again: the numbers are the same texts."""
    sets, edition = kit.image_sets(kit.tree(tmp_path)), kit.edition()
    rows = [
        f'{{"image_id":{image},"category_id":7,"bbox":[{x},10.1,{width},33.333333333333336],"score":{score}}}'
        for image, x, width, score in ((1, 0.1, 0.30000000000000004, 0.1), (13, 258.15, 41.29, 5e-324))
    ]
    text = "[" + ",\n".join(rows) + "]\n"
    (tmp_path / "in.json").write_text(text)
    to_results("coco", tmp_path / "in.json", tmp_path / "r.zip", edition=edition, competition="comp4", image_sets=sets)
    found, _ = from_results(tmp_path / "r.zip", edition, "comp4", sets)
    write_detections("coco", found, tmp_path / "out.json", classes=edition.classes, images=kit.IMAGES, sizes=None)
    assert (tmp_path / "out.json").read_text().lower() == text.lower()


def test_one_file_for_all_classes(tmp_path: Path) -> None:
    edition = load("ParallelEye")
    sets = ImageSets(edition.name, {(Task.DETECTION, "test"): ImageSet(("1", "2"))})
    found = {"1": [{"score": 0.25, "label": "Bus", "box": {"xmin": 0, "ymin": 0.1, "xmax": 10.5, "ymax": 20}}], "2": []}
    (tmp_path / "in.json").write_text(json.dumps(found))
    options = {"edition": edition, "competition": "detection", "image_sets": sets}
    to_results("huggingface", tmp_path / "in.json", tmp_path / "r.tar.gz", **options)
    read, _ = from_results(tmp_path / "r.tar.gz", edition, "detection", sets)
    write_detections("huggingface", read, tmp_path / "out.json", classes=edition.classes, images=("1", "2"), sizes=None)
    assert json.loads((tmp_path / "out.json").read_text()) == found


NUMBERED = ("coco", "detectron2", "ultralytics")
CATEGORIES = {18: "dog", 3: "Car", 99: "zebra", 1: "person"}


def listed(name: str) -> tuple[dict[int, str], dict[int, str]]:
    """Ids of another tool: images in folders, categories in another order with other names."""
    images = {7000 - place: f"val/{image}.png" for place, image in enumerate(kit.IMAGES)}
    return images, dict(enumerate(["dog", "Car", "zebra", "person"])) if name == "yolo" else CATEGORIES


@pytest.mark.parametrize("name", FORMATS)
def test_ids_and_names_of_another_tool_come_back(name: str, tmp_path: Path) -> None:
    sets, edition, found = kit.image_sets(kit.tree(tmp_path)), kit.edition(), kit.random_detections(30)
    files = result_files(found, edition.competitions["comp4"], ["car", "dog", "person"])
    write_results(tmp_path / "in.zip", edition, files, sets, ["comp4"])
    images, categories = listed(name)
    options = {"edition": edition, "competition": "comp4", "image_sets": sets, "images": images}
    with_ids = {**options, "categories": categories}
    for there, back in (("in.zip", "there"), ("back.zip", "again")):
        _, warnings = convert_from_results(name, tmp_path / there, tmp_path / back, **with_ids)
        assert not warnings
        to_results(name, tmp_path / back, tmp_path / "back.zip", **with_ids)
    again, _ = from_results(tmp_path / "back.zip", edition, "comp4", sets)
    assert bits(again) == bits(found)
    texts = [
        "".join(path.read_text() for path in sorted(each.iterdir())) if each.is_dir() else each.read_text()
        for each in (tmp_path / "there", tmp_path / "again")
    ]
    assert texts[0] == texts[1]
    if name in NUMBERED:
        rows = json.loads(texts[0])
        assert {row["image_id"] for row in rows} <= images.keys()
        assert {row["category_id"] for row in rows} == {1, 3, 18}
    if name == "huggingface":
        assert '"label":"Car"' in texts[0]


def test_ids_that_cannot_be_written_are_an_error(tmp_path: Path) -> None:
    sets, edition, found = kit.image_sets(kit.tree(tmp_path)), kit.edition(), kit.random_detections(30)
    options = {"classes": edition.classes, "images": kit.IMAGES, "sizes": None}
    lists = {"listed_images": {1: "000001"}, "listed_categories": {1: "car", 2: "dog", 3: "cat"}}
    with pytest.raises(ConversionError) as caught:
        write_detections("coco", found, tmp_path / "out", **options, **lists)
    codes = {problem.code for problem in caught.value.problems}
    assert codes == {"no_id_of_image", "no_id_of_class"}
    assert not (tmp_path / "out").exists()
    for name in ("coco", "mmdetection", "yolo"):
        sizes = image_set_of(edition.competitions["comp4"], sets).sizes_by_image()
        problems = write_detections(name, found, tmp_path / name, **{**options, "sizes": sizes})
        assert any("from 1 on" in each.message or "from 0 on" in each.message for each in problems)


def test_images_without_numbers_get_the_ids_of_their_ground_truth(tmp_path: Path) -> None:
    """Positions, since a1 and b1 have the same digits; file names tell which is meant when they come back."""
    edition, images = kit.edition(), ("c3", "b1", "a1")
    size = "<size><width>200</width><height>200</height><depth>3</depth></size>"
    write(tmp_path / "VOC2007", {
        **{f"Annotations/{i}.xml": annotation(an_object("car", (1, 1, 9, 9)), size=size) for i in images},
        "ImageSets/Main/test.txt": "".join(f"{i}\n" for i in images),
    })  # fmt: skip
    tree_to_coco(tmp_path, tmp_path / "truth.json", edition)
    truth = json.loads((tmp_path / "truth.json").read_text())
    sets = read_image_sets(tmp_path, edition)
    files = result_files(
        [ConvertedDetection(i, "car", decimal("0.5"), (decimal("1"),) * 4) for i in images],
        edition.competitions["comp4"], ["car"],
    )  # fmt: skip
    write_results(tmp_path / "in.zip", edition, files, sets, ["comp4"])
    options = {"edition": edition, "competition": "comp4", "image_sets": sets}
    _, warnings = convert_from_results("coco", tmp_path / "in.zip", tmp_path / "out.json", **options)
    assert any("positions" in each.message for each in warnings)
    rows = json.loads((tmp_path / "out.json").read_text())
    assert [row["image_id"] for row in rows] == [image["id"] for image in truth["images"]] == [1, 2, 3]
    to_results("coco", tmp_path / "out.json", tmp_path / "back.zip", **options)
    assert [each.image for each in from_results(tmp_path / "back.zip", edition, "comp4", sets)[0]] == list(images)
