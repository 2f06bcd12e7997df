"""Detection: a million boxes from text to average precision and curves."""

import functools
import gzip
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.benchmark import Case, Goal, Implementation, Kind, Run
from benchmarks.cases.parsing import NUMBER, PARSE, TEXT, parsing
from benchmarks.datasets.detections import DETECTIONS, detection_lines, make_detections
from benchmarks.datasets.world import HEIGHT, IMAGES, OBJECTS, WIDTH, World, make_world
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.ground_truth import DetectionTruth, GroundTruth
from vocboard.evaluator.image_sets import ImageSet, ImageSets

MAX_DETECTIONS = 10_000  # per image and class, for the COCO tools: all of them


def make_boxes(directory: Path, scale: float) -> None:
    """Write the truth, the result files, an archive of them, and the same as COCO's JSON."""
    world = make_world(max(10, int(IMAGES * scale)), max(40, int(OBJECTS * scale)))
    write_detections(directory, world, int(DETECTIONS * scale))
    found = [
        {"image_id": image + 1, "category_id": category, "bbox": _coco_box(box), "score": score}
        for category, (_, made) in enumerate(make_detections(world, int(DETECTIONS * scale)), start=1)
        for image, score, box in zip(made.image.tolist(), made.confidence.tolist(), made.box.tolist(), strict=True)
    ]
    (directory / "found.json").write_text(json.dumps(found))
    (directory / "truth.json").write_text(json.dumps(_coco_truth(world)))
    with tarfile.open(directory / "results.tar.gz", "w:gz", compresslevel=6) as archive:
        archive.add(directory / "results" / "results", "results")


def write_detections(directory: Path, world: World, number: int) -> None:
    """Write the truth, and result files with so many detections."""
    ground_truth(world).save(directory / "truth.npz")
    folder = directory / "results" / "results" / "VOC2012" / "Main"
    folder.mkdir(parents=True, exist_ok=True)
    for name, made in make_detections(world, number):
        (folder / f"comp3_det_test_{name}.txt").write_text(detection_lines(world, made))


def ground_truth(world: World) -> GroundTruth:
    """Return the truth of detection."""
    sizes = np.tile(np.array([WIDTH, HEIGHT], dtype=np.int32), (len(world.images), 1))
    truth = DetectionTruth(
        image=world.image.astype(np.int32),
        class_index=world.class_index.astype(np.int32),
        box=world.box.astype(np.float64),
        difficult=world.difficult,
    )
    key = Task.DETECTION, "test"
    return GroundTruth.of(ImageSets(world.edition.name, {key: ImageSet(world.images, sizes)}), {key: truth}, {})


def _coco_box(box: list[float]) -> list[float]:
    left, top, right, bottom = box
    return [left, top, right - left + 1, bottom - top + 1]


def _coco_truth(world: World) -> dict[str, Any]:
    rows = zip(
        world.image.tolist(), world.class_index.tolist(), world.difficult.tolist(), world.box.tolist(), strict=True
    )
    return {
        "images": [{"id": i + 1, "file_name": n, "width": WIDTH, "height": HEIGHT} for i, n in enumerate(world.images)],
        "categories": [{"id": i + 1, "name": name} for i, name in enumerate(world.edition.classes)],
        "annotations": [
            {
                "id": number,
                "image_id": image + 1,
                "category_id": label + 1,
                "bbox": _coco_box(box),
                "area": _coco_box(box)[2] * _coco_box(box)[3],
                "iscrowd": int(difficult),
            }
            for number, (image, label, difficult, box) in enumerate(rows, start=1)
        ],
    }


def score_detections(results: str) -> Callable[[Path], Run]:
    """Return what prepares evaluating the results of that name."""

    def prepare(directory: Path) -> Run:
        import pyarrow.compute  # noqa: PLC0415
        import pyarrow.csv  # noqa: F401, PLC0415

        truth, edition = GroundTruth.load(directory / "truth.npz"), load("VOC2012")

        def run() -> None:
            evaluation = evaluate(directory / results, edition, truth)
            assert len(evaluation.scores["comp3"].primary.per_class) == len(edition.classes), evaluation.problems[:3]

        return run

    return prepare


def _files(directory: Path) -> list[Path]:
    return sorted(directory.glob("results/results/VOC2012/Main/*.txt"))


def _read(directory: Path) -> Run:
    return lambda: [path.read_bytes() for path in _files(directory)]


def _parse_with_polars(directory: Path) -> Run:
    import polars  # noqa: PLC0415

    schema = {"image": polars.String} | dict.fromkeys(["confidence", "left", "top", "right", "bottom"], polars.Float64)
    read = functools.partial(polars.read_csv, has_header=False, separator=" ", quote_char=None, schema=schema)
    return lambda: [read(path) for path in _files(directory)]


def _sort(directory: Path) -> Run:
    confidences = [np.loadtxt(path, usecols=1) for path in _files(directory)]
    return lambda: [np.argsort(-confidence) for confidence in confidences]  # ties in any order, the quickest it has


def _inflate(directory: Path) -> Run:
    def run() -> None:
        with gzip.open(directory / "results.tar.gz") as file:
            while file.read(1 << 20):
                pass

    return run


def _coco(coco: Any, evaluation: Any, directory: Path) -> None:
    truth = coco(str(directory / "truth.json"))
    run = evaluation(truth, truth.loadRes(str(directory / "found.json")), "bbox")
    run.params.iouThrs = np.array([0.5])
    run.params.areaRng, run.params.areaRngLbl = [[0, 1e10]], ["all"]
    run.params.maxDets = [MAX_DETECTIONS]
    run.evaluate()
    run.accumulate()


def _pycocotools(directory: Path) -> Run:
    from pycocotools.coco import COCO  # noqa: PLC0415
    from pycocotools.cocoeval import COCOeval  # noqa: PLC0415

    return lambda: _coco(COCO, COCOeval, directory)


def _faster_coco_eval(directory: Path) -> Run:
    from faster_coco_eval import COCO, COCOeval_faster  # noqa: PLC0415

    return lambda: _coco(COCO, COCOeval_faster, directory)


def _hotcoco(directory: Path) -> Run:
    from hotcoco import COCO, COCOeval  # noqa: PLC0415

    return lambda: _coco(COCO, COCOeval, directory)


SORT, INFLATE, FILES = "numpy sorts the confidences", "inflate", "vocboard, as files"
SIDES = ("left", "top", "right", "bottom")

DETECTION = Case(
    name="detection",
    title="detection, 1,022,130 boxes in 66 MB to AP and curves",
    make=make_boxes,
    implementations={
        "vocboard": Implementation(Kind.OURS, score_detections("results")),
        "hotcoco, from JSON": Implementation(Kind.PEER, _hotcoco),
        "faster-coco-eval, from JSON": Implementation(Kind.PEER, _faster_coco_eval),
        "pycocotools, from JSON": Implementation(Kind.PEER, _pycocotools),
        PARSE: Implementation(
            Kind.FLOOR,
            parsing(
                "results/results/VOC2012/Main/*.txt", {"image": TEXT, **dict.fromkeys(("confidence", *SIDES), NUMBER)}
            ),
        ),
        "polars parses the text": Implementation(Kind.FLOOR, _parse_with_polars),
        SORT: Implementation(Kind.FLOOR, _sort),
        "read the bytes": Implementation(Kind.FLOOR, _read),
    },
    goals=(Goal(2.5, (PARSE, SORT)), Goal(1.0, ("hotcoco, from JSON",)), Goal(400, unit="MiB")),
)

ARCHIVE = Case(
    name="archive",
    title="the same detections from a .tar.gz",
    make=make_boxes,
    implementations={
        "vocboard": Implementation(Kind.OURS, score_detections("results.tar.gz")),
        FILES: Implementation(Kind.FLOOR, score_detections("results")),
        INFLATE: Implementation(Kind.FLOOR, _inflate),
    },
    goals=(Goal(1.3, (INFLATE, FILES)),),
)
