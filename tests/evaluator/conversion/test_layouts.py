"""Person layouts as JSON and as XML."""

import json
from pathlib import Path

import numpy as np
import pytest

from vocboard.evaluator.conversion import ConversionError, layouts_from_results, layouts_to_results
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.image_sets import ImageSet, ImageSets

BOX = [1.25, 2, 30.123456789, 40]
PARTS = [{"class": "head", "box": [2, 3, 9.5, 8]}, {"class": "foot", "box": [1, 1, 2, 2]}]


def image_sets(edition: str) -> ImageSets:
    persons = np.array([[0, 1], [1, 2]], dtype=np.int32)
    return ImageSets(
        edition, {(Task.LAYOUT, "test"): ImageSet(("a", "b"), None, None if edition == "VOC2007" else persons)}
    )


@pytest.mark.parametrize(("name", "who"), [("VOC2007", {"box": BOX}), ("VOC2010", {"object": 2})])
def test_there_and_back(name: str, who: dict[str, object], tmp_path: Path) -> None:
    other = {"object": 1} if "object" in who else who
    rows = [
        {"image": "b", **who, "confidence": -20.053, "parts": PARTS},
        {"image": "a", **other, "confidence": 1e-9, "parts": []},
    ]
    (tmp_path / "in.json").write_text(json.dumps(rows))
    edition, sets = load(name), image_sets(name)
    layouts_to_results(tmp_path / "in.json", tmp_path / "r.tar.gz", edition, "comp7", sets)
    assert layouts_from_results(tmp_path / "r.tar.gz", tmp_path / "out.json", edition, "comp7", sets) == 2
    assert json.loads((tmp_path / "out.json").read_text()) == rows


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_file_is_read_as_it_is_checked(mark: str, tmp_path: Path) -> None:
    head = mark + '<?xml version="1.0" encoding="utf-16"?>'  # as .NET writes into files of UTF-8
    who = "<image>a<!-- first --></image><object>1</object><confidence>0<?sure?>.5</confidence>"
    file = tmp_path / "results" / "VOC2010" / "Layout" / "comp7_layout_test.xml"
    file.parent.mkdir(parents=True)
    file.write_text(f"{head}<results><layout>{who}</layout></results>", encoding="utf-8")
    layouts_from_results(tmp_path / "results", tmp_path / "out.json", load("VOC2010"), "comp7", image_sets("VOC2010"))
    row = {"image": "a", "object": 1, "confidence": 0.5, "parts": []}
    assert json.loads((tmp_path / "out.json").read_text()) == [row]


def test_what_is_wrong_is_reported_at_once(tmp_path: Path) -> None:
    part = {"class": "tail", "box": [1, 2, 3]}
    rows = [{"image": "a"}, 3, {"image": 7, "object": 1, "confidence": "x", "parts": [part]}]
    (tmp_path / "in.json").write_text(json.dumps(rows))
    with pytest.raises(ConversionError) as caught:
        layouts_to_results(tmp_path / "in.json", tmp_path / "r.tar.gz", load("VOC2010"), "comp7", image_sets("VOC2010"))
    found = {problem.code: problem.message for problem in caught.value.problems}
    expected = {"bad_layout", "bad_image", "bad_confidence", "bad_object", "bad_parts", "unknown_part", "bad_part_box"}
    assert set(found) == expected
    assert "2 layouts, the first in record 1" in found["bad_confidence"]
    assert "in record 3" in found["bad_part_box"]
    assert not (tmp_path / "r.tar.gz").exists()
