"""Instance segmentation, from a tree and an upload to scores, against a reference implementation and pycocotools."""

import io
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from tests.evaluator.reference import average_precision
from tests.evaluator.reference import instance_segmentation as reference
from tests.evaluator.trees import write
from tests.support.seeds import seeds
from vocboard.evaluator.editions import Edition, Task, read
from vocboard.evaluator.evaluation import Evaluation, evaluate
from vocboard.evaluator.ground_truth import GroundTruth, GroundTruthError
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.ground_truth.statistics import statistics
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.public_tree import read_image_sets
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.tasks.instance_segmentation import rle
from vocboard.evaluator.tasks.instance_segmentation.format import MAX_RUNS
from vocboard.evaluator.tasks.instance_segmentation.results import Regions
from vocboard.evaluator.tasks.instance_segmentation.scoring import match_regions, most_overlapped
from vocboard.evaluator.tasks.instance_segmentation.truth import InstanceTruth

EDITION = read(Path(__file__).parents[3] / "docs" / "editions" / "examples" / "instances.toml")
IMAGES = ("a", "b", "c")
HEIGHT, WIDTH = 7, 9
SIZE = HEIGHT * WIDTH
VOID = 255

LabelMap = NDArray[np.uint8]


def png(label_map: LabelMap) -> bytes:
    written = io.BytesIO()
    image = Image.fromarray(label_map)
    image.putpalette(bytes(range(256)) * 3)
    image.save(written, "PNG")
    return written.getvalue()


def tree_files(objects: dict[str, LabelMap], classes: dict[str, LabelMap]) -> dict[str, bytes | str]:
    files: dict[str, bytes | str] = {"ImageSets/Segmentation/test.txt": "".join(f"{image}\n" for image in objects)}
    files |= {f"SegmentationObject/{image}.png": png(found) for image, found in objects.items()}
    return files | {f"SegmentationClass/{image}.png": png(found) for image, found in classes.items()}


def scored(root: Path, truth: GroundTruth, lines: dict[str, list[str]], edition: Edition = EDITION) -> Evaluation:
    files: dict[str, bytes | str] = {
        f"results/comp1_inst_test_{name}.txt": "".join(f"{line}\n" for line in of) for name, of in lines.items()
    }
    return evaluate(write(root, files), edition, truth)


def region(label_map: LabelMap, label: int) -> reference.Region:
    return {(int(row), int(column)) for row, column in np.argwhere(label_map == label)}


def random_world(chance: random.Random) -> tuple[dict[str, LabelMap], dict[str, LabelMap]]:
    """Maps of rectangles that hide one another, with void pixels around some."""
    objects, classes = {}, {}
    for image in IMAGES:
        of_object = np.zeros((HEIGHT, WIDTH), dtype=np.uint8)
        of_class = np.zeros_like(of_object)
        for number in range(1, chance.randrange(1, 6)):
            top, left = chance.randrange(HEIGHT), chance.randrange(WIDTH)
            place = np.s_[top : top + chance.randrange(1, 5), left : left + chance.randrange(1, 5)]
            of_object[place], of_class[place] = number, chance.randrange(1, 3)
        void = np.array([[chance.random() < 0.1 for _ in range(WIDTH)] for _ in range(HEIGHT)])
        of_object[void], of_class[void] = VOID, VOID
        objects[image], classes[image] = of_object, of_class
    return objects, classes


def random_found(chance: random.Random, objects: dict[str, LabelMap]) -> list[reference.Found]:
    found = []
    for _ in range(chance.randrange(12)):
        image = chance.choice(IMAGES)
        pixels = region(objects[image], chance.randrange(0, 5))
        pixels = {pixel for pixel in pixels if chance.random() < chance.choice([0.6, 0.9, 1.0])}
        pixels |= {(chance.randrange(HEIGHT), chance.randrange(WIDTH)) for _ in range(chance.randrange(4))}
        found.append((image, chance.choice([0.1, 0.5, 0.5, 0.9, chance.random()]), pixels))
    return found


@pytest.mark.parametrize("seed", seeds(60))
def test_scores_as_the_reference_implementation_does(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    objects, classes = random_world(chance)
    truth = read_ground_truth(write(tmp_path / "tree", tree_files(objects, classes)), EDITION)
    void = {image: region(objects[image], VOID) for image in IMAGES}
    found = {name: random_found(chance, objects) for name in EDITION.classes}
    lines = {
        name: [f"{image} {confidence!r} {reference.encode(pixels, HEIGHT, WIDTH)}" for image, confidence, pixels in of]
        for name, of in found.items()
    }
    evaluation = scored(tmp_path / "upload", truth, lines)
    assert {problem.code for problem in evaluation.problems} <= {"empty_file", "empty_regions"}
    scores = evaluation.scores["comp1"]
    for index, name in enumerate(EDITION.classes, start=1):
        instances = [
            (image, region(objects[image], number))
            for image in IMAGES
            for number in range(1, 6)
            if (classes[image][objects[image] == number] == index).any()
        ]
        for measure, threshold in ((scores.primary, 0.5), (scores.secondary[0], 0.7)):
            marks, positives = reference.marks(found[name], instances, void, threshold)
            expected = average_precision.area(marks, positives)
            assert measure.per_class[name] == pytest.approx(
                np.nan if expected is None else expected, abs=1e-12, nan_ok=True
            )
        assert scores.details[name].positives == len(instances)
        assert scores.details[name].results == len(found[name])


def test_matches_as_pycocotools_does_without_void_pixels_and_with_one_region_an_instance(tmp_path: Path) -> None:
    """COCO lets a region take its second best instance, and averages precision at 101 recalls; the rest is the same."""
    chance = random.Random(7)
    for round_ in range(20):
        objects, classes = random_world(chance)
        for image in IMAGES:
            classes[image][classes[image] == VOID] = 0
            objects[image][objects[image] == VOID] = 0
        truth = read_ground_truth(write(tmp_path / f"tree{round_}", tree_files(objects, classes)), EDITION)
        found = [each for each in random_found(chance, objects) if each[2]]  # COCO leaves out what has no pixels
        confidences = chance.sample(range(1000), len(found))  # COCO breaks ties by image
        found = [(image, each / 1000, pixels) for (image, _, pixels), each in zip(found, confidences, strict=True)]
        lines = [f"{image} {each!r} {reference.encode(pixels, HEIGHT, WIDTH)}" for image, each, pixels in found]
        scores = scored(tmp_path / f"upload{round_}", truth, {"car": lines}).scores["comp1"]
        for measure, threshold in ((scores.primary, 0.5), (scores.secondary[0], 0.7)):
            marks = coco_marks(objects, classes, found, threshold)
            expected = average_precision.area(*marks)
            assert measure.per_class["car"] == pytest.approx(
                np.nan if expected is None else expected, abs=1e-12, nan_ok=True
            )


def coco_marks(
    objects: dict[str, LabelMap],
    classes: dict[str, LabelMap],
    found: list[reference.Found],
    threshold: float,
) -> tuple[list[str], int]:
    """What pycocotools says of each region of the first class, by decreasing confidence."""
    annotations: list[dict[str, Any]] = []
    for place, image in enumerate(IMAGES):
        for number in range(1, 6):
            pixels = region(objects[image], number)
            if pixels and (classes[image][objects[image] == number] == 1).any():
                annotations.append(segment(place, pixels) | {"id": len(annotations) + 1, "iscrowd": 0})
    truth = COCO()
    truth.dataset = {
        "info": {},
        "images": [{"id": place, "height": HEIGHT, "width": WIDTH} for place in range(len(IMAGES))],
        "annotations": annotations,
        "categories": [{"id": 1, "name": "car"}],
    }
    truth.createIndex()
    rows = [segment(IMAGES.index(image), pixels) | {"score": each} for image, each, pixels in found]
    if not rows:
        return [], len(annotations)
    evaluation = COCOeval(truth, truth.loadRes(rows), "segm")
    evaluation.params.iouThrs = np.array([threshold])
    evaluation.params.maxDets = [1000]
    evaluation.params.areaRng, evaluation.params.areaRngLbl = [[0, 1e10]], ["all"]
    evaluation.evaluate()
    marks = []
    for each in evaluation.evalImgs:
        if each is not None:
            marks += list(zip(each["dtScores"], each["dtMatches"][0], strict=True))
    return ["true" if match else "false" for _, match in sorted(marks, key=lambda mark: -mark[0])], len(annotations)


def segment(image: int, pixels: reference.Region) -> dict[str, Any]:
    counts = reference.encode(pixels, HEIGHT, WIDTH)
    return {
        "image_id": image,
        "category_id": 1,
        "segmentation": {"size": [HEIGHT, WIDTH], "counts": counts},
        "area": len(pixels),
        "bbox": [0, 0, WIDTH, HEIGHT],
    }


@given(st.sets(st.tuples(st.integers(0, 40), st.integers(0, 50))))
def test_decodes_what_the_reference_implementation_encodes(pixels: reference.Region) -> None:
    edges = np.cumsum(rle.decode(reference.encode(pixels, 41, 51)))
    mask = np.zeros(41 * 51, dtype=bool)
    for start, stop in zip(edges[0::2], edges[1::2], strict=False):
        mask[start:stop] = True
    assert edges[-1] == 41 * 51
    assert {(int(row), int(column)) for row, column in np.argwhere(mask.reshape(51, 41).T)} == pixels


@given(st.text(alphabet=[chr(code) for code in range(40, 130)], max_size=60))
def test_no_text_makes_decoding_fail_otherwise_than_by_saying_why(text: str) -> None:
    try:
        assert (rle.decode(text) >= 0).all()
    except ValueError as error:
        if not str(error).startswith("it "):
            raise


WHOLE = np.ones((HEIGHT, WIDTH), dtype=np.uint8)
GOOD = reference.encode(region(WHOLE, 1), HEIGHT, WIDTH)


@pytest.fixture
def truth(tmp_path: Path) -> GroundTruth:
    maps = dict.fromkeys(IMAGES, WHOLE)
    return read_ground_truth(write(tmp_path / "tree", tree_files(maps, maps)), EDITION)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("a 0.9 [12,5,700]", "not_rle"),
        ("a 0.9 ~~", "not_rle"),
        ("a 0.9 o", "not_rle"),
        ("a 0.9 " + "o" * 20 + "0", "not_rle"),
        ("a 0.9 31O", "not_rle"),
        ("a 0.9 52", "rle_wrong_size"),
        ("a 0.9 " + "1" * 100_001, "rle_too_long"),
        (f"d 0.9 {GOOD}", "unknown_image"),
        (f"0.9 a {GOOD}", "image_in_another_column"),
        (f"a x {GOOD}", "not_a_number"),
        ("a 0.9", "wrong_number_of_fields"),
        ("a 52;03", "wrong_number_of_fields"),
        (f"a;0.9;{GOOD}", "wrong_separator"),
    ],
)
def test_one_wrong_line_is_one_problem(tmp_path: Path, truth: GroundTruth, line: str, code: str) -> None:
    evaluation = scored(tmp_path / "upload", truth, {"car": [f"a 0.5 {GOOD}", line]})
    assert [(problem.code, problem.line) for problem in evaluation.problems] == [(code, 2)]
    assert evaluation.scores == {}


def test_an_empty_region_is_false_and_worth_a_warning(tmp_path: Path, truth: GroundTruth) -> None:
    empty = reference.encode(set(), HEIGHT, WIDTH)
    evaluation = scored(tmp_path / "upload", truth, {"car": [f"a 0.9 {empty}", f"a 0.5 {GOOD}"]})
    assert [(problem.code, problem.line) for problem in evaluation.problems] == [("empty_regions", 1)]
    assert evaluation.as_json()["competitions"]["comp1"]["per_class"]["car"] == pytest.approx(1 / 3 * 1 / 2)


def test_too_many_regions_in_an_image_are_refused(tmp_path: Path, truth: GroundTruth) -> None:
    evaluation = scored(tmp_path / "upload", truth, {"car": [f"a 0.9 {GOOD}"] * 10_001})
    assert [problem.code for problem in evaluation.problems] == ["too_many_detections"]


def test_a_file_with_too_many_runs_is_refused_where_they_become_too_many(tmp_path: Path) -> None:
    side = 300
    every_second = "111" + "0" * (side * side - 3)
    sets = ImageSets(
        EDITION.name,
        {(Task.INSTANCE_SEGMENTATION, "test"): ImageSet(("a",), np.array([[side, side]], dtype=np.int32))},
    )
    fitting = MAX_RUNS // (side * side // 2)
    upload = write(tmp_path, {"comp1_inst_test_car.txt": f"a 0.5 {every_second}\n" * (fitting + 3)})
    [problem] = read_results(upload, EDITION, sets).problems
    assert (problem.code, problem.line) == ("too_many_runs", fitting + 1)


SIDE, REPEATED = 300, 8


@pytest.fixture
def complicated(tmp_path: Path) -> Callable[[int], tuple[Regions, InstanceTruth]]:
    """Regions with many runs in one of three images: the first shows a car, the second a person, the third nothing."""
    maps = {image: np.zeros((SIDE, SIDE), dtype=np.uint8) for image in IMAGES}
    for image, class_number in (("a", 1), ("b", 2)):
        maps[image][10:200, 10:200] = class_number
    objects = {image: np.minimum(found, 1) for image, found in maps.items()}
    ground_truth = read_ground_truth(write(tmp_path / "tree", tree_files(objects, maps)), EDITION)
    [instances] = ground_truth.truths.values()
    assert isinstance(instances, InstanceTruth)
    start = np.arange(0, SIDE * SIDE, 2)

    def regions_in(image: int) -> tuple[Regions, InstanceTruth]:
        return Regions(
            image=np.full(REPEATED, image, dtype=np.int32),
            confidence=np.zeros(REPEATED),
            run_start=np.tile(start, REPEATED),
            run_stop=np.tile(start + 1, REPEATED),
            run_end=np.arange(1, REPEATED + 1) * len(start),
        ), instances

    return regions_in


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of the fastest of three runs."""

    def once() -> float:
        before = time.process_time()
        work()
        return time.process_time() - before

    return min(once() for _ in range(3))


def test_the_time_that_regions_take_does_not_tell_which_images_show_the_class(
    complicated: Callable[[int], tuple[Regions, InstanceTruth]],
) -> None:
    """Somebody could upload many complicated regions in one image, and see whether its evaluation takes longer."""
    with_car, without = (seconds(partial(match_regions, *complicated(image), class_index=0)) for image in (0, 1))
    assert 1 / 3 < with_car / without < 3


def test_comparing_regions_with_several_sets_of_objects_counts_their_pixels_once(
    complicated: Callable[[int], tuple[Regions, InstanceTruth]],
) -> None:
    regions, instances = complicated(0)
    cars, others = (np.flatnonzero(instances.class_index == index) for index in (0, 1))
    one = seconds(lambda: most_overlapped(regions, instances, [cars]))
    assert seconds(lambda: most_overlapped(regions, instances, [cars, others, cars, others])) < 2 * one


def test_stored_ground_truth_scores_the_same_and_has_the_same_digest(tmp_path: Path) -> None:
    objects, classes = random_world(random.Random(3))
    truth = read_ground_truth(write(tmp_path / "tree", tree_files(objects, classes)), EDITION)
    truth.save(tmp_path / "truth.npz")
    stored = GroundTruth.load(tmp_path / "truth.npz")
    assert stored.sha256 == truth.sha256
    lines = {"car": [f"a 0.9 {reference.encode(region(objects['a'], 1), HEIGHT, WIDTH)}"]}
    first = scored(tmp_path / "upload", truth, lines).as_json()
    assert scored(tmp_path / "upload", stored, lines).as_json() == first


def test_what_is_public_is_the_same_with_and_without_the_truth(tmp_path: Path, truth: GroundTruth) -> None:
    public = read_image_sets(tmp_path / "tree", EDITION)
    assert public.to_json() == truth.image_sets.to_json()
    upload = write(tmp_path / "upload", {"comp1_inst_test_car.txt": f"a 0.9 {GOOD}\n"})
    assert read_results(upload, EDITION, public).is_valid
    assert read_results(upload, EDITION, None).is_valid


@pytest.mark.parametrize(
    ("change", "code", "file"),
    [
        ({"SegmentationObject/a.png": png(WHOLE[:3])}, "bad_label_map", "SegmentationObject/a.png"),
        ({"SegmentationClass/a.png": png(WHOLE * 3)}, "bad_label_map", "SegmentationClass/a.png"),
        ({"SegmentationClass/a.png": png(WHOLE * 0)}, "bad_instance", "SegmentationObject/a.png"),
        ({"SegmentationObject/a.png": b"no PNG"}, "bad_label_map", "SegmentationObject/a.png"),
    ],
)
def test_ground_truth_that_does_not_fit_is_reported(
    tmp_path: Path, change: dict[str, bytes | str], code: str, file: str
) -> None:
    maps = dict.fromkeys(IMAGES, WHOLE)
    with pytest.raises(GroundTruthError) as error:
        read_ground_truth(write(tmp_path, tree_files(maps, maps) | change), EDITION)
    assert [(problem.code, problem.file) for problem in error.value.problems] == [(code, file)]
    assert " object at " not in str(error.value)  # of Python, with its address in memory


def test_a_map_that_is_missing_is_reported_and_none_at_all_is_no_error(tmp_path: Path) -> None:
    maps = dict.fromkeys(IMAGES, WHOLE)
    files = tree_files(maps, maps)
    one = {name: content for name, content in files.items() if name != "SegmentationObject/b.png"}
    with pytest.raises(GroundTruthError, match=r"SegmentationObject/b\.png: is not there"):
        read_ground_truth(write(tmp_path / "one", one), EDITION)
    none = {name: content for name, content in files.items() if "SegmentationObject" not in name}
    truth = read_ground_truth(write(tmp_path / "none", none), EDITION)
    assert set(truth.missing.values()) == {"its images have no SegmentationObject"}


def test_statistics_count_the_instances_of_each_class(tmp_path: Path) -> None:
    objects, classes = random_world(random.Random(5))
    truth = read_ground_truth(write(tmp_path, tree_files(objects, classes)), EDITION)
    [found] = statistics(truth, EDITION)
    counts = truth.truths[Task.INSTANCE_SEGMENTATION, "test"].class_counts(EDITION)
    assert {name: found.classes[name].objects for name in EDITION.classes} == {
        name: each.positives for name, each in counts.items()
    }
