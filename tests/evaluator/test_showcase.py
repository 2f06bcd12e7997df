"""What results of each task are drawn as, from stored results alone."""

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vocboard.evaluator.editions import Edition, Task, load, read
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.results import Confidences, Detections, Entry, Layouts, Segmented
from vocboard.evaluator.showcase import ROWS_PER_IMAGE, colour, draw, outline
from vocboard.evaluator.stored_results.stored_results import ResultsWriter, StoredResults
from vocboard.evaluator.tasks.instance_segmentation import rle
from vocboard.evaluator.tasks.instance_segmentation.results import Regions

EDITION = load("VOC2012")
INSTANCES = read(Path(__file__).parents[2] / "docs" / "editions" / "examples" / "instances.toml")
NAMES = ("a", "b", "c")
SIZE = (40, 30)
Row = dict[str, object]


def image_sets(edition: Edition) -> ImageSets:
    sizes = np.tile(np.array([SIZE], dtype=np.int32), (len(NAMES), 1))
    persons = np.array([[0, 1], [0, 2], [2, 1]], dtype=np.int32)
    return ImageSets(
        edition.name,
        {
            (each.task, each.image_set): ImageSet(NAMES, sizes, persons if each.task is Task.ACTION else None)
            for each in edition.competitions.values()
        },
    )


def drawn(
    entry: Entry, names: set[str], maps: dict[int, np.ndarray] | None = None, edition: Edition = EDITION
) -> dict[str, dict[str, object]]:
    """Store the results of a competition, and draw what is read back."""
    file, competition, sets = io.BytesIO(), entry.competition, image_sets(edition)
    writer = ResultsWriter(file.write, edition, sets, limit=1_000_000)
    for place, label_map in (maps or {}).items():
        writer.add_label_map(competition, place, label_map)()
    assert writer.finish({competition.key: entry})
    stored = StoredResults(file, edition, sets, classes=entry.classes)
    found = draw(stored.results, edition, sets, names, stored.label_map)
    return {name: dict(image) for name, image in found[competition.key].items()}


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def test_detections_are_boxes_with_the_most_confident_first() -> None:
    boxes = np.array([[1, 1, 10, 10], [2, 2, 5.55, 5], [3, 3, 4, 4]], dtype=np.float64)
    car = Detections(ints(0, 1, 0), np.array([0.25, 0.5, 0.123456]), boxes)
    dog = Detections(ints(0), np.array([0.75]), boxes[:1])
    found = drawn(Entry(EDITION.competitions["comp3"], ("car", "dog"), {"car": car, "dog": dog}), {"a", "c", "unknown"})
    assert found == {
        "a": {
            "size": list(SIZE),
            "rows": [
                {"class": "dog", "confidence": 0.75, "box": [1.0, 1.0, 10.0, 10.0]},
                {"class": "car", "confidence": 0.25, "box": [1.0, 1.0, 10.0, 10.0]},
                {"class": "car", "confidence": 0.1235, "box": [3.0, 3.0, 4.0, 4.0]},
            ],
        },
        "c": {"size": list(SIZE), "rows": []},
    }


def test_of_many_detections_the_most_confident_ones_of_all_images_are_kept() -> None:
    number = 100
    image = np.arange(number, dtype=np.int32) % 2
    car = Detections(image, np.linspace(0, 1, number), np.tile([[1.0, 1, 5, 5]], (number, 1)))
    found = drawn(Entry(EDITION.competitions["comp3"], ("car",), {"car": car}), {"a", "b"})
    rows = [row for each in found.values() for row in each["rows"]]  # type: ignore[attr-defined]
    assert len(rows) == 2 * ROWS_PER_IMAGE
    assert min(row["confidence"] for row in rows) == pytest.approx(1 - 19 / 99, abs=1e-4)


def test_classifications_are_the_classes_of_each_image() -> None:
    content = {
        "car": Confidences(ints(0, 1, 2), np.array([0.1, 5.0, 7.0])),
        "dog": Confidences(ints(0, 1, 2), np.array([0.2, 0.3, 0.4])),
    }
    found = drawn(Entry(EDITION.competitions["comp1"], ("car", "dog"), content), {"a"})
    assert found["a"]["rows"] == [{"class": "dog", "confidence": 0.2}, {"class": "car", "confidence": 0.1}]


def test_actions_are_those_of_each_person() -> None:
    content = {"reading": Confidences(ints(0, 1, 2), np.array([0.1, 0.9, 0.5]))}
    found = drawn(Entry(EDITION.competitions["comp9"], ("reading",), content), {"a", "b"})
    assert found["a"]["rows"] == [
        {"class": "reading", "confidence": 0.9, "person": 2},
        {"class": "reading", "confidence": 0.1, "person": 1},
    ]
    assert found["b"]["rows"] == []


def test_layouts_are_their_parts() -> None:
    layouts = Layouts(
        image=ints(1, 0),
        object=ints(1, 1),
        person_box=None,
        confidence=np.array([0.5, 0.75]),
        part_layout=ints(0, 1, 1),
        part_type=np.array([0, 0, 1], dtype=np.int8),
        part_box=np.array([[1, 1, 2, 2], [3, 3, 4, 4], [5, 5, 6, 6]], dtype=np.float64),
    )
    head, hand = EDITION.parts[:2]
    found = drawn(Entry(EDITION.competitions["comp7"], EDITION.competitions["comp7"].classes, layouts), {"a"})
    assert found["a"]["rows"] == [
        {"class": head, "confidence": 0.75, "box": [3.0, 3.0, 4.0, 4.0]},
        {"class": hand, "confidence": 0.75, "box": [5.0, 5.0, 6.0, 6.0]},
    ]


def test_label_maps_are_pictures_with_transparent_background() -> None:
    competition = EDITION.competitions["comp5"]
    label_map = np.zeros(SIZE[::-1], dtype=np.uint8)
    label_map[:15] = 7
    label_map[15, 0] = 12
    entry = Entry(competition, competition.classes, Segmented(ints(0, 1)))
    found = drawn(entry, {"a", "c"}, {0: label_map, 1: label_map})
    assert found["a"]["rows"] == [
        {"class": competition.classes[6], "share": 0.5},
        {"class": competition.classes[11], "share": 0.0008333},
    ]
    picture = Image.open(io.BytesIO(base64.b64decode(str(found["a"]["map"])))).convert("RGBA")
    assert picture.size == SIZE
    assert picture.getpixel((0, 29)) == (0, 0, 0, 0)
    *rgb, alpha = picture.getpixel((0, 0))  # type: ignore[misc]
    assert bytes(rgb).hex() == colour(6)[1:]
    assert 0 < alpha < 255
    assert found["c"] == {"size": list(SIZE), "rows": []}, "it has no map in the results"


def test_regions_are_outlines() -> None:
    [competition] = [each for each in INSTANCES.competitions.values() if "car" in each.classes][:1]
    mask = np.zeros(SIZE[::-1], dtype=np.bool_)
    mask[5:10, 20:30] = True
    lengths = rle.lengths_of(mask)
    ends = np.cumsum(lengths)
    start, stop = ends[0::2][: len(ends) // 2], ends[1::2]
    car = Regions(ints(0), np.array([0.5]), start, stop, np.array([len(start)]))
    found = drawn(Entry(competition, ("car",), {"car": car}), {"a"}, edition=INSTANCES)
    [row] = found["a"]["rows"]  # type: ignore[misc]
    assert row == {"class": "car", "confidence": 0.5, "box": [21.0, 6.0, 30.0, 10.0], "outline": "M20 5H30V10H20Z"}


def test_outlines_have_holes_and_several_parts() -> None:
    mask = np.array([[1, 1, 1, 0], [1, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]], dtype=np.bool_)
    path = outline(mask, 10)
    assert path.count("M") == path.count("Z") >= 2
    assert outline(np.zeros((3, 3), dtype=np.bool_), 10) == ""


def test_classes_have_colours_of_their_own() -> None:
    assert len({colour(index) for index in range(60)}) == 60
