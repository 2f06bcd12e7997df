"""Classification, action and layout: a confidence an image or person, and parts of people."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from lxml import etree

from benchmarks.benchmark import Case, Goal, Implementation, Kind, Run
from benchmarks.cases.parsing import NUMBER, PARSE, TEXT, WHOLE, parsing
from benchmarks.datasets.world import HEIGHT, IMAGES, OBJECTS, SEED, WIDTH, make_world
from vocboard.evaluator.editions import Task, load
from vocboard.evaluator.evaluation import evaluate
from vocboard.evaluator.ground_truth import GroundTruth, Key, Labels, LabelTruth, LayoutTruth, Truth
from vocboard.evaluator.image_sets import ImageSet, ImageSets

FOLDERS = {"comp1": "Main", "comp9": "Action", "comp7": "Layout"}


def make_labels(directory: Path, scale: float) -> None:
    """Write the truth of all three tasks, and results of each."""
    world = make_world(max(10, int(IMAGES * scale)), max(40, int(OBJECTS * scale)))
    edition, random = world.edition, np.random.default_rng(SEED)
    people = world.persons
    persons = np.stack([world.image[people], world.position[people]], axis=1).astype(np.int32)
    sizes = np.tile(np.array([WIDTH, HEIGHT], dtype=np.int32), (len(world.images), 1))
    box = world.box[people].astype(np.float64)
    parts = len(edition.parts)
    truths: dict[Key, Truth] = {
        (Task.CLASSIFICATION, "test"): _labels(edition.classes, len(world.images), random),
        (Task.ACTION, "test"): _labels(edition.actions, len(people), random),
        (Task.LAYOUT, "test"): LayoutTruth(
            image=persons[:, 0],
            object=persons[:, 1],
            box=box,
            difficult=np.zeros(len(people), dtype=np.bool_),
            part_person=np.repeat(np.arange(len(people), dtype=np.int32), parts),
            part_type=np.tile(np.arange(parts, dtype=np.int8), len(people)),
            part_box=np.repeat(box, parts, axis=0),
        ),
    }
    sets = {key: ImageSet(world.images, sizes, None if key[0] is Task.CLASSIFICATION else persons) for key in truths}
    GroundTruth.of(ImageSets(edition.name, sets), truths, {}).save(directory / "truth.npz")
    for folder in (*FOLDERS, "people"):
        (directory / folder).mkdir(exist_ok=True)
    for name in edition.classes:
        confidences = random.random(len(world.images)).tolist()
        lines = (f"{image} {confidence:.8f}\n" for image, confidence in zip(world.images, confidences, strict=True))
        (directory / "comp1" / f"comp1_cls_test_{name}.txt").write_text("".join(lines))
    named = [(world.images[image], index) for image, index in persons.tolist()]
    for name in edition.actions:
        confidences = random.random(len(named)).tolist()
        lines = (f"{i} {n} {confidence:.8f}\n" for (i, n), confidence in zip(named, confidences, strict=True))
        (directory / "comp9" / f"comp9_action_test_{name}.txt").write_text("".join(lines))
    layouts = "".join(
        f"<layout><image>{image}</image><object>{index}</object><confidence>{confidence:.6f}</confidence>"
        + "".join(_part(part, sides) for part in edition.parts)
        + "</layout>\n"
        for (image, index), confidence, sides in zip(
            named, random.random(len(named)).tolist(), (box + random.normal(0, 10, box.shape)).tolist(), strict=True
        )
    )
    (directory / "comp7" / "comp7_layout_test.xml").write_text(f"<results>\n{layouts}</results>\n")


def _labels(names: tuple[str, ...], count: int, random: np.random.Generator) -> LabelTruth:
    items = np.arange(count, dtype=np.int32)
    choice = np.array([-1, 0, 1], dtype=np.int8)
    return LabelTruth({name: Labels(items, random.choice(choice, count, p=[0.9, 0.02, 0.08])) for name in names})


def _part(name: str, sides: list[float]) -> str:
    names = ("xmin", "ymin", "xmax", "ymax")
    box = "".join(f"<{side}>{value:.3f}</{side}>" for side, value in zip(names, sides, strict=True))
    return f"<part><class>{name}</class><bndbox>{box}</bndbox></part>"


def _ours(competition: str) -> Callable[[Path], Run]:
    def prepare(directory: Path) -> Run:
        import pyarrow.compute  # noqa: PLC0415
        import pyarrow.csv  # noqa: F401, PLC0415

        truth, edition = GroundTruth.load(directory / "truth.npz"), load("VOC2012")

        def run() -> None:
            evaluation = evaluate(directory / competition, edition, truth)
            assert competition in evaluation.scores, evaluation.problems[:3]

        return run

    return prepare


def _torchmetrics(directory: Path) -> Run:
    import torch  # noqa: PLC0415
    from pyarrow import csv  # noqa: PLC0415
    from torchmetrics.functional.classification import multilabel_average_precision  # noqa: PLC0415

    edition = load("VOC2012")
    truth = GroundTruth.load(directory / "truth.npz").truths[Task.CLASSIFICATION, "test"]
    assert isinstance(truth, LabelTruth)
    label = np.stack([truth.labels[name].label for name in edition.classes], axis=1).astype(np.int64)
    files = (directory / "comp1" / f"comp1_cls_test_{name}.txt" for name in edition.classes)
    options = csv.ReadOptions(column_names=["image", "confidence"]), csv.ParseOptions(delimiter=" ")
    confidence = np.stack([csv.read_csv(path, *options)["confidence"].to_numpy() for path in files], axis=1)
    found, true = torch.from_numpy(confidence), torch.from_numpy(np.choose(label + 1, (0, -1, 1)))
    count = len(edition.classes)
    return lambda: multilabel_average_precision(found, true, num_labels=count, average="none", ignore_index=-1)


def _parse_xml(directory: Path) -> Run:
    path = directory / "comp7" / "comp7_layout_test.xml"
    return lambda: [element.text for element in etree.fromstring(path.read_bytes()).iter()]


PARSE_XML = "lxml parses the XML"


def _case(name: str, title: str, competition: str, floor: str, others: Mapping[str, Implementation]) -> Case:
    implementations = {"vocboard": Implementation(Kind.OURS, _ours(competition)), **others}
    return Case(name, title, make_labels, implementations, (Goal(2.0, (floor,)),))


def _parse(competition: str, fields: Mapping[str, str]) -> Implementation:
    return Implementation(Kind.FLOOR, parsing(f"{competition}/*.txt", fields))


CLASSIFICATION = _case(
    "classification",
    "classification, 10,991 images x 20 classes",
    "comp1",
    PARSE,
    {
        "torchmetrics, from tensors": Implementation(Kind.PEER, _torchmetrics),
        PARSE: _parse("comp1", {"image": TEXT, "confidence": NUMBER}),
    },
)
ACTION = _case(
    "action",
    "action, all people x 10 actions",
    "comp9",
    PARSE,
    {PARSE: _parse("comp9", {"image": TEXT, "object": WHOLE, "confidence": NUMBER})},
)
LAYOUT = _case("layout", "layout, all people", "comp7", PARSE_XML, {PARSE_XML: Implementation(Kind.FLOOR, _parse_xml)})
