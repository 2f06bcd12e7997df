"""Converting there and back gives every number to the last bit."""

import json
import struct
from collections import defaultdict
from pathlib import Path

import pytest

from tests.evaluator.conversion import kit
from tests.support.golden import golden, golden_truth
from vocboard.evaluator.conversion import FORMATS, ConvertedDetection, from_results, to_results
from vocboard.evaluator.conversion.detection_output import write_detections
from vocboard.evaluator.conversion.detections import image_set_of, result_files, sizes_by_image
from vocboard.evaluator.conversion.result_archive import write_results
from vocboard.evaluator.editions import Edition, Task, load
from vocboard.evaluator.image_sets import ImageSet, ImageSets


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
    sizes = sizes_by_image(image_set)
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


@pytest.mark.parametrize("name", ["coco", "yolo"])
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
