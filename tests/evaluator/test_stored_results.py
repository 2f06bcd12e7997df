"""Results stored as columns: the same scores to the last bit, and no trust in the writer of the file."""

import contextlib
import io
import json
import struct
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.golden import CASES_IN_TIERS, golden, golden_truth
from vocboard.evaluator.editions import load
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.scoring import Confusions, score
from vocboard.evaluator.stored_results.columns_file import MAGIC, ColumnsError, ColumnsFile, ColumnsWriter
from vocboard.evaluator.stored_results.reader_version import READER_VERSION
from vocboard.evaluator.stored_results.stored_results import ResultsWriter, StoredResults, digest
from vocboard.evaluator.tasks.content_columns import Known
from vocboard.evaluator.tasks.instance_segmentation.columns import RegionColumns
from vocboard.evaluator.tasks.instance_segmentation.results import Regions

UNLIMITED = 2**40


def stored(name: str) -> io.BytesIO:
    """Return the columns of a golden case's results."""
    case, truth, file = golden(name), golden_truth(name), io.BytesIO()
    edition = load(case.edition)
    image_sets = ImageSets.from_json(truth.image_sets.to_json())  # as the web process has them
    writer = ResultsWriter(file.write, edition, image_sets, limit=UNLIMITED)
    read = read_results(case.results, edition, image_sets, segmentation_sink=writer.add_label_map)
    assert read.is_valid
    assert writer.finish(read.results)
    return file


@pytest.mark.parametrize("name", CASES_IN_TIERS)
def test_columns_are_always_the_same_and_their_scores_are_those_of_the_archive(name: str) -> None:
    case, truth = golden(name), golden_truth(name)
    edition, columns = load(case.edition), stored(name)
    assert columns.getvalue() == stored(name).getvalue()
    results = StoredResults(columns, edition, truth.image_sets)
    matrices = Confusions(truth)
    for competition, image, label_map in results.label_maps():
        matrices.add(competition, image, label_map)
    found = score(results.results, edition, truth, confusions=matrices)
    expected = evaluate(case.results, edition, truth)
    assert expected.scores
    assert json.dumps(found.as_json()["competitions"]) == json.dumps(expected.as_json()["competitions"])
    for key, scores in expected.scores.items():
        for class_name, curve in scores.curves.items():
            other = found.scores[key].curves[class_name]
            assert type(other) is type(curve)
            for field in curve.__slots__:
                np.testing.assert_array_equal(getattr(other, field), getattr(curve, field))


EDITION = load("VOC2012")
IMAGES = ("2012_000001", "2012_000002", "2012_000003")
SIZES = np.array([[4, 3], [4, 3], [2, 5]], dtype=np.int32)
PERSONS = np.array([[0, 1], [2, 1]], dtype=np.int32)
IMAGE_SETS = ImageSets(
    EDITION.name,
    {
        (competition.task, competition.image_set): ImageSet(IMAGES, SIZES, PERSONS)
        for competition in EDITION.competitions.values()
    },
)
BOX = np.array([[1.0, 1.0, 2.0, 2.0]])
INDEX, CONFIDENCE = np.array([2], dtype=np.int32), np.array([0.5])
VALID: dict[str, tuple[str, dict[str, np.ndarray]]] = {
    "classification": ("comp1", {"6/item": INDEX, "6/confidence": CONFIDENCE}),
    "detection": ("comp3", {"6/image": INDEX, "6/confidence": CONFIDENCE, "6/box": BOX}),
    "layout": (
        "comp7",
        {
            "image": INDEX,
            "object": np.array([1], dtype=np.int32),
            "confidence": CONFIDENCE,
            "part_layout": np.array([0], dtype=np.int32),
            "part_type": np.array([0], dtype=np.int8),
            "part_box": BOX,
        },
    ),
    "action": ("comp9", {"0/item": np.array([1], dtype=np.int32), "0/confidence": CONFIDENCE}),
    "segmentation": ("comp5", {"images": INDEX, "map/2": np.ones((5, 2), dtype=np.uint8)}),
}


def file_of(task: str, **changed: np.ndarray | None) -> io.BytesIO:
    """Return a file of one competition's columns, some of them changed or (None) left out."""
    key, arrays = VALID[task]
    competition, file = EDITION.competitions[key], io.BytesIO()
    writer = ColumnsWriter(file.write, limit=UNLIMITED)
    for name, array in {**arrays, **changed}.items():
        if array is not None:
            writer.add(f"{key}/{name}", array)
    number = int(next(iter(arrays)).partition("/")[0]) if "/" in next(iter(arrays)) else None
    classes = list(competition.classes) if number is None else [competition.classes[number]]
    header = {"reader": READER_VERSION, "read_against": digest(EDITION, IMAGE_SETS, [key]), "entries": [[key, classes]]}
    writer.finish(header)
    return file


def read(file: io.BytesIO, image_sets: ImageSets = IMAGE_SETS) -> StoredResults:
    """Read everything, label maps as well."""
    results = StoredResults(file, EDITION, image_sets)
    for _ in results.label_maps():
        pass
    return results


@pytest.mark.parametrize("task", VALID)
def test_reads_what_was_written(task: str) -> None:
    assert list(read(file_of(task)).results) == [VALID[task][0]]


def indices(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


@pytest.mark.parametrize(
    ("task", "column", "value"),
    [
        ("classification", "6/item", indices(3)),
        ("classification", "6/item", indices(-1)),
        ("classification", "6/item", indices(0, 1)),
        ("classification", "6/item", np.array([2], dtype=np.int64)),
        ("classification", "6/item", np.array([[2]], dtype=np.int32)),
        ("classification", "6/item", None),
        ("classification", "6/confidence", np.array([np.nan])),
        ("classification", "6/confidence", np.array([np.inf])),
        ("detection", "6/image", indices(3)),
        ("detection", "6/box", np.array([[1.0, 2.0, 3.0]])),
        ("detection", "6/box", np.array([[1.0, 2.0, 3.0, np.nan]])),
        ("action", "0/item", indices(2)),  # there are two people
        ("layout", "image", indices(3)),
        ("layout", "object", indices(-1)),
        ("layout", "object", None),
        ("layout", "part_layout", indices(1)),
        ("layout", "part_layout", indices(-1)),
        ("layout", "part_type", np.array([len(EDITION.parts)], dtype=np.int8)),
        ("layout", "part_type", np.array([-1], dtype=np.int8)),
        ("segmentation", "images", indices(2, 2)),
        ("segmentation", "images", indices(1, 2)),
        ("segmentation", "images", indices(3)),
        ("segmentation", "map/2", np.ones((2, 5), dtype=np.uint8)),
        ("segmentation", "map/2", np.full((5, 2), 21, dtype=np.uint8)),
        ("segmentation", "map/2", None),
    ],
)
def test_refuses_columns_that_no_reader_writes(task: str, column: str, value: np.ndarray | None) -> None:
    with pytest.raises(ColumnsError):
        read(file_of(task, **{column: value}))


REGIONS = {
    "image": np.array([0, 2], dtype=np.int32),
    "confidence": np.array([0.5, 0.25]),
    "run_start": np.array([0, 5, 3], dtype=np.int64),
    "run_stop": np.array([2, 12, 10], dtype=np.int64),
    "run_end": np.array([2, 3], dtype=np.int64),
}


class _Given:
    """Columns that are not in a file."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self._arrays = arrays

    def array(self, name: str, kind: type[np.generic], *, columns: int | None = None) -> np.ndarray:
        return self._arrays[name]


def regions(**changed: np.ndarray) -> Regions:
    known = Known(EDITION.competitions["comp5"], EDITION, ImageSet(IMAGES, SIZES))
    return RegionColumns().to_class(_Given({**REGIONS, **changed}), known)


def test_reads_regions() -> None:
    assert regions().runs(1) == slice(2, 3)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("image", [0, 3]),
        ("run_end", [3, 2]),
        ("run_end", [2, 4]),
        ("run_end", [1, 2]),
        ("run_end", [-1, 3]),
        ("run_start", [-1, 5, 3]),
        ("run_start", [0, 1, 3]),  # overlaps the run before
        ("run_stop", [0, 12, 10]),
        ("run_stop", [2, 13, 10]),  # the image has 12 pixels
        ("run_stop", [2, 12, 11]),
    ],
)
def test_refuses_runs_that_are_not_within_their_image(column: str, values: list[int]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # which one is the reader's own business
        regions(**{column: np.array(values, dtype=REGIONS[column].dtype)})


@pytest.mark.parametrize("task", VALID)
def test_refuses_every_file_that_is_cut_off_or_damaged_or_reads_the_same(task: str) -> None:
    whole = file_of(task).getvalue()
    for length in range(len(whole)):
        with pytest.raises(ColumnsError):
            read(io.BytesIO(whole[:length]))
    random = np.random.default_rng(7)
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(random.integers(8))
        with contextlib.suppress(ColumnsError):  # or other numbers, which the file's hash tells
            read(io.BytesIO(bytes(damaged)))


def changed_index(change: Callable[[list[Any]], None]) -> io.BytesIO:
    """Return a valid file whose index was changed by somebody who knows the format."""
    whole = file_of("classification").getvalue()
    (length,) = struct.unpack("<Q", whole[-len(MAGIC) - 8 : -len(MAGIC)])
    start = len(whole) - len(MAGIC) - 8 - length
    index = json.loads(whole[start : start + length])
    change(index["arrays"])
    content = json.dumps(index).encode()
    return io.BytesIO(whole[:start] + content + struct.pack("<Q", len(content)) + MAGIC)


@pytest.mark.parametrize(
    "shape", [[2], [0], [2**40], [2**62, 2**62], [-1], [1.0], [True], ["1"], [1, 1, 1], [[1]], None, {}, "1"]
)
def test_refuses_arrays_that_are_not_as_long_as_the_index_says_without_making_room(shape: object) -> None:
    def change(arrays: list[Any]) -> None:
        arrays[1][2] = shape

    tracemalloc.start()
    try:
        with pytest.raises(ColumnsError):
            read(changed_index(change))
        assert tracemalloc.get_traced_memory()[1] < 10 * 1024 * 1024
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["O", "<f4", "<U8", "V8", None, 3, []])
def test_refuses_other_types(kind: object) -> None:
    def change(arrays: list[Any]) -> None:
        arrays[1][1] = kind

    with pytest.raises(ColumnsError):
        read(changed_index(change))


def test_refuses_a_name_that_is_there_twice() -> None:
    with pytest.raises(ColumnsError):
        read(changed_index(lambda arrays: arrays[1].__setitem__(0, arrays[0][0])))


def test_refuses_columns_read_against_other_image_sets_or_another_edition() -> None:
    turned = {key: ImageSet(each.images[::-1], SIZES, PERSONS) for key, each in IMAGE_SETS.sets.items()}
    with pytest.raises(ColumnsError):
        read(file_of("detection"), ImageSets(EDITION.name, turned))
    with pytest.raises(ColumnsError):
        StoredResults(file_of("detection"), load("VOC2011"), IMAGE_SETS)


def test_writes_no_more_than_the_limit() -> None:
    whole = file_of("detection").getvalue()
    for limit in (0, len(whole) // 2, len(whole) - 1):
        file = io.BytesIO()
        writer = ColumnsWriter(file.write, limit=limit)
        for name in ("a", "b", "c"):
            writer.add(name, np.arange(100, dtype=np.int64))
        writer.finish({})
        assert not writer.is_complete
        assert len(file.getvalue()) <= limit


def test_arrays_of_any_length_come_back() -> None:
    file = io.BytesIO()
    writer = ColumnsWriter(file.write, limit=UNLIMITED)
    random = np.random.default_rng(1)
    arrays = {
        "none": np.zeros(0),
        "few": np.array([-1, 1], dtype=np.int8),
        "many": random.normal(size=300_000),
        "equal": np.zeros(1_000_000, dtype=np.int32),
        "turned": random.integers(0, 9, (3, 1000)).T,
    }
    for name, array in arrays.items():
        writer.add(name, array)
    writer.finish({"other": 1})
    read_back = ColumnsFile(file)
    assert read_back.header == {"other": 1}
    for name, array in arrays.items():
        found = read_back.array(name, array.dtype.type, columns=3 if name == "turned" else None)
        np.testing.assert_array_equal(found, array)
        assert found.dtype == array.dtype
