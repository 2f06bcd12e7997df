"""Boxes in other conventions: what they seem to be, how many are doubtful, and what nobody has to confirm."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.evaluator.uploads import any_edition, directory
from vocboard.evaluator.editions import Task
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.reading.results import ReadResults, read_results
from vocboard.evaluator.result_files.box_convention import BoxConvention, BoxEvidence, evidence_of

COUNT = 2_000
IMAGES = tuple(f"{number:06}" for number in range(1, 201))

Boxes = NDArray[np.float64]


def world(seed: int = 0) -> tuple[Boxes, NDArray[np.int32], NDArray[np.float64]]:
    """Boxes of all sizes, a third of them at an edge of their image, and some beyond it; VOC's sizes of images."""
    chance = np.random.default_rng(seed)
    size = np.where(chance.random((COUNT, 1)) < 0.7, [[500, 375]], [[333, 500]]).astype(np.int32)
    length = size * chance.uniform(0.05, 0.95, (COUNT, 2)) ** 1.5 + 1
    start = 1 + (size - length) * np.clip(chance.uniform(-0.2, 1.2, (COUNT, 2)), 0, 1)
    start += chance.normal(0, 3, (COUNT, 2)) * (chance.random((COUNT, 1)) < 0.1)
    return np.concatenate([start, start + length - 1], axis=1), size, chance.random(COUNT)


def written(box: Boxes, size: NDArray[np.int32], confidence: NDArray[np.float64], how: str) -> tuple[Boxes, Boxes]:
    """Return boxes and confidences as a tool with another convention writes them."""
    start, end = box[:, :2], box[:, 2:]
    lengths, centre = end - start + 1, (start + end) / 2
    match how:
        case "corners":
            return box, confidence
        case "corners from 0":
            return box - 1, confidence
        case "sizes":
            return np.concatenate([start - 1, lengths], axis=1), confidence
        case "centres":
            return np.concatenate([centre, lengths], axis=1), confidence
        case "fractions":
            return box / np.tile(size, 2), confidence
        case "fractional centres":
            return np.concatenate([centre, lengths], axis=1) / np.tile(size, 2), confidence
        case "score last":
            return np.column_stack([box[:, 1:], confidence]), box[:, 0]
        case "logit last":
            return np.column_stack([box[:, 1:], 8 * confidence - 2]), box[:, 0]
        case "sizes, score last":
            return np.column_stack([start[:, 1], lengths, confidence]), start[:, 0]
        case "rows before columns":
            return box[:, [1, 0, 3, 2]], confidence
        case _:
            return np.random.default_rng(1).uniform(0, 2_000, (COUNT, 4)), confidence


WRITTEN = (
    ("corners", None, None),
    ("corners from 0", None, None),
    ("sizes", BoxConvention.SIZES, "boxes_with_width_and_height"),
    ("centres", BoxConvention.CENTRES, "boxes_from_centre"),
    ("fractions", BoxConvention.FRACTIONS, "boxes_as_fractions"),
    ("fractional centres", BoxConvention.FRACTIONS, "boxes_as_fractions"),
    ("score last", BoxConvention.SCORE_LAST, "confidence_after_box"),
    ("logit last", BoxConvention.SCORE_LAST, "confidence_after_box"),
    ("sizes, score last", BoxConvention.SCORE_LAST, "confidence_after_box"),
    ("rows before columns", None, None),
    ("anything", None, None),
)


@pytest.mark.parametrize(("how", "expected", "_code"), WRITTEN)
def test_a_convention_is_recognised_in_ten_worlds(how: str, expected: BoxConvention | None, _code: str) -> None:
    for seed in range(10):
        box, size, confidence = world(seed)
        box, confidence = written(box, size, confidence, how)
        parts = [evidence_of(box[part], size[part], confidence[part]) for part in (slice(700), slice(700, None))]
        assert sum(parts, start=BoxEvidence()).likely() is expected


def test_corners_are_recognised_where_another_convention_is_stated() -> None:
    """As for arrays, whose convention people state."""
    box, size, _ = world()
    assert evidence_of(box, size).likely(BoxConvention.SIZES) is BoxConvention.CORNERS
    sizes, _ = written(box, size, box[:, 0], "sizes")
    assert evidence_of(sizes, size).likely(BoxConvention.SIZES) is None
    fractions, _ = written(box, size, box[:, 0], "fractional centres")
    assert evidence_of(fractions, size).likely(BoxConvention.SIZES) is BoxConvention.FRACTIONS


def test_sizes_and_centres_are_told_apart_where_most_boxes_fit_as_both() -> None:
    """Small boxes do; those near edges tell. Boxes that are cut off nowhere, or hardly any boxes, do not tell."""
    chance = np.random.default_rng(0)
    size = np.tile(np.int32([[500, 375]]), (COUNT, 1))
    for largest, is_clear in ((0.3, True), (0.05, False)):
        length = size * chance.uniform(0.02, largest, (COUNT, 2))
        start = (size - length) * chance.random((COUNT, 2))
        box = np.concatenate([start + 1, start + length], axis=1) + chance.normal(0, 5, (COUNT, 1))
        for real, convention in (("sizes", BoxConvention.SIZES), ("centres", BoxConvention.CENTRES)):
            other = next(each for each in (BoxConvention.CENTRES, BoxConvention.SIZES) if each is not convention)
            evidence = evidence_of(written(box, size, box[:, 0], real)[0], size)
            assert evidence.likely(other) is (convention if is_clear else None)
            assert evidence.likely(convention) is None


def test_without_sizes_only_fractions_and_scores_are_evident() -> None:
    box, size, confidence = world()
    for how, expected, _ in WRITTEN:
        boxes, scores = written(box, size, confidence, how)
        is_evident = expected is BoxConvention.FRACTIONS or "score" in how
        assert evidence_of(boxes, None, scores).likely() is (expected if is_evident else None)


def read(tmp_path: Path, box: Boxes, size: NDArray[np.int32], confidence: Boxes, *competitions: str) -> ReadResults:
    """Read boxes of two classes, an image each ten, as result files."""
    sizes = size[:: COUNT // len(IMAGES)]
    image_sets = ImageSets("VOC2012", {(Task.DETECTION, "test"): ImageSet(IMAGES, sizes)})
    lines = [
        f"{IMAGES[index * len(IMAGES) // COUNT]} {score:.6f} {' '.join(f'{number:.4f}' for number in each)}\n"
        for index, (each, score) in enumerate(zip(box, confidence, strict=True))
    ]
    content: dict[str, bytes | str] = {}
    for key in competitions or ("comp4",):
        content |= {f"{key}_det_test_car.txt": "".join(lines[:1500]), f"{key}_det_test_dog.txt": "".join(lines[1500:])}
    return read_results(directory(tmp_path / "upload", content), any_edition(), image_sets)


def world_of_files() -> tuple[Boxes, NDArray[np.int32], NDArray[np.float64]]:
    """A world in which each ten boxes are of one image, and inside it."""
    box, size, confidence = world()
    size = np.repeat(size[:: COUNT // len(IMAGES)], COUNT // len(IMAGES), axis=0)
    return np.clip(box, 1, np.tile(size, 2)), size, confidence


@pytest.mark.parametrize(("how", "_expected", "code"), WRITTEN[2:8])
def test_the_likely_cause_comes_first_with_shares(tmp_path: Path, how: str, _expected: object, code: str) -> None:
    box, size, confidence = world_of_files()
    box, confidence = written(box, size, confidence, how)
    found = read(tmp_path, box, size, confidence)
    assert found.is_valid
    cause, *others = found.groups
    assert cause.code == code
    assert "of 2,000 boxes of comp4" in cause.headline
    assert others, "what is wrong with single boxes is still told"
    assert all("2,000 boxes" in group.headline or group.count == 1 for group in others)
    assert str(found.doubtful["comp4"]) == "2,000 of 2,000 results"


def test_shares_are_of_all_files_of_all_competitions(tmp_path: Path) -> None:
    box, size, confidence = world_of_files()
    box[:1_000] += 2_000
    found = read(tmp_path, box, size, confidence, "comp3", "comp4")
    (group,) = found.groups
    assert group.headline.startswith("Boxes outside their image: 2,000 of 3,000 boxes in 2 files. ")
    assert group.problems[0].message.startswith("1,000 of 1,500 boxes (the first here) completely outside")
    assert {key: str(share) for key, share in found.doubtful.items()} == {
        "comp3": "1,000 of 2,000 results",
        "comp4": "1,000 of 2,000 results",
    }


def test_a_quarter_is_not_too_much(tmp_path: Path) -> None:
    box, size, confidence = world_of_files()
    for wrong, expected in ((500, {}), (501, {"comp4"})):
        some = box.copy()
        some[:wrong] += 2_000
        assert set(read(tmp_path / str(wrong), some, size, confidence).doubtful) == set(expected)
