"""Classification, action and layout: a confidence an image or person, and parts of people."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from lxml import etree

from benchmarks.contest import Contestant, Goal, Kind, Run, Work
from benchmarks.made.world import HEIGHT, IMAGES, OBJECTS, SEED, WIDTH, make_world
from evaluator.editions import Task, load
from evaluator.evaluation import evaluate
from evaluator.ground_truth import GroundTruth, Key, Labels, LabelTruth, LayoutTruth, Truth
from evaluator.image_sets import ImageSet, ImageSets

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


def _parse(competition: str) -> Callable[[Path], Run]:
    def prepare(directory: Path) -> Run:
        import pyarrow as pa  # noqa: PLC0415
        from pyarrow import csv  # noqa: PLC0415

        files = sorted((directory / competition).glob("*.txt"))
        names = ["image", "confidence"] if competition == "comp1" else ["image", "object", "confidence"]
        types = {"image": pa.string(), "object": pa.int32(), "confidence": pa.float64()}
        options = (
            csv.ReadOptions(column_names=names),
            csv.ParseOptions(delimiter=" ", quote_char=False),
            csv.ConvertOptions(column_types=types),
        )
        return lambda: [csv.read_csv(path, *options) for path in files]

    return prepare


def _parse_xml(directory: Path) -> Run:
    path = directory / "comp7" / "comp7_layout_test.xml"
    return lambda: [element.text for element in etree.fromstring(path.read_bytes()).iter()]


PARSE, PARSE_XML = "pyarrow parses the text", "lxml parses the XML"


def _work(name: str, title: str, competition: str, floor: str, parse: Callable[[Path], Run]) -> Work:
    contestants = {
        "vocboard": Contestant(Kind.OURS, _ours(competition)),
        floor: Contestant(Kind.FLOOR, parse),
    }
    return Work(name, title, make_labels, contestants, (Goal(2.0, (floor,)),))


CLASSIFICATION = _work("classification", "classification, 10,991 images x 20 classes", "comp1", PARSE, _parse("comp1"))
ACTION = _work("action", "action, all people x 10 actions", "comp9", PARSE, _parse("comp9"))
LAYOUT = _work("layout", "layout, all people", "comp7", PARSE_XML, _parse_xml)
