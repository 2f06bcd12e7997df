"""The bootstrap of detection results, from stored evidence to intervals, and to the comparison of 50 methods."""

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks.benchmark import Case, Goal, Implementation, Kind, Run
from benchmarks.cases.boxes import ground_truth as ground_truth_of
from benchmarks.datasets import detections, voc2007
from benchmarks.datasets.world import IMAGES, OBJECTS, SEED, World, make_world
from vocboard.evaluator.editions import Competition, Edition, Metric, Task, load
from vocboard.evaluator.evidence.evidence import Evidence
from vocboard.evaluator.evidence.weights import REPLICATES, draw_weights
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.results import Detections, Entry
from vocboard.evaluator.statistics.bootstrap import replicate
from vocboard.evaluator.statistics.comparison import compare
from vocboard.evaluator.statistics.evidence_file import Origin, load_evidence, store_evidence
from vocboard.evaluator.tasks.scorers import SCORERS

METHODS = 50
NOISE = 0.05  # of confidences, in which methods differ
COMPETITION = "comp4"


def make_methods(directory: Path, scale: float) -> None:
    """Write the evidence of 50 methods, of VOC2007's size."""
    images, objects = max(40, int(voc2007.IMAGES * scale)), max(100, int(voc2007.OBJECTS * scale))
    world = make_world(images, objects, edition_name=voc2007.EDITION)
    _write(directory, world, int(voc2007.DETECTIONS * scale), METHODS)


def make_many(directory: Path, scale: float) -> None:
    """Write the evidence of a method with 1,022,130 detections."""
    world = make_world(max(10, int(IMAGES * scale)), max(40, int(OBJECTS * scale)), edition_name=voc2007.EDITION)
    _write(directory, world, int(detections.DETECTIONS * scale), 1)


def _write(directory: Path, world: World, number: int, methods: int) -> None:
    truth = ground_truth_of(world).truths[Task.DETECTION, "test"]
    competition, public = world.edition.competitions[COMPETITION], ImageSet(world.images)
    made = dict(detections.make_detections(world, number))
    random = np.random.default_rng(SEED)
    for method in range(methods):
        content = {
            name: Detections(
                each.image.astype(np.int32), each.confidence + random.normal(0, NOISE, len(each.image)), each.box
            )
            for name, each in made.items()
        }
        entry = Entry(competition, competition.classes, content)
        evidence = SCORERS[Task.DETECTION].evidence(entry, truth, world.edition, public, None)
        (directory / f"{method}.evidence").write_bytes(store_evidence(evidence, Origin(COMPETITION, "")))


def _rules() -> tuple[Edition, Competition]:
    edition = load(voc2007.EDITION)
    return edition, edition.competitions[COMPETITION]


def _read(path: Path) -> Evidence:
    return load_evidence(io.BytesIO(path.read_bytes()), Origin(COMPETITION, ""))


def _bootstrap(methods: int | None) -> Callable[[Path], Run]:
    """Return what prepares the bootstrap of so many methods; None for all."""

    def prepare(directory: Path) -> Run:
        edition, competition = _rules()
        paths = sorted(directory.glob("*.evidence"))[:methods]

        def run() -> None:
            weights = draw_weights(_read(paths[0]).images, REPLICATES)
            means = {}
            for path in paths:
                found = replicate(_read(path), Metric.AVERAGE_PRECISION_AREA, edition, competition, weights)
                assert not any(np.isnan(found.of_class(name).interval().low) for name in competition.classes)
                means[path.name] = found.mean
            assert len(compare(means).methods) == len(paths)

        return run

    return prepare


def _one_more(directory: Path) -> Run:
    """Prepare the bootstrap of one method when the replicates have been drawn."""
    edition, competition = _rules()
    evidence = _read(directory / "0.evidence")
    weights = draw_weights(evidence.images, REPLICATES)
    return lambda: replicate(evidence, Metric.AVERAGE_PRECISION_AREA, edition, competition, weights)


def _ranked(directory: Path) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield image, true and false positives by rank and the images of positives, for each class."""
    edition, competition = _rules()
    classes = SCORERS[competition.task].resampled(
        Metric.AVERAGE_PRECISION_AREA, _read(directory / "0.evidence"), edition, competition
    )
    for each in classes.values():
        yield each.image, each.judgement.true, each.judgement.false, each.positive_image  # type: ignore[attr-defined]


def _numpy(directory: Path) -> Run:
    """Prepare the same scores in plain NumPy: weights by rank, cumulative sums, precision, maxima, area."""
    classes = list(_ranked(directory))
    weights = draw_weights(_read(directory / "0.evidence").images, REPLICATES).T.astype(np.int32).copy()

    def run() -> None:
        for image, true, false, positive_image in classes:
            drawn = weights[:, image]
            found, wrong = np.cumsum(drawn * true, axis=1), np.cumsum(drawn * false, axis=1)
            precision = found / np.maximum(found + wrong, 1)
            best = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
            area = (np.diff(found, axis=1, prepend=0) * best).sum(axis=1)
            assert len(area / weights[:, positive_image].sum(axis=1)) == REPLICATES

    return run


def _gather(directory: Path) -> Run:
    """Prepare reading the weights of all results once: every method that looks at each result has to."""
    images = [image for image, _, _, _ in _ranked(directory)]
    weights = draw_weights(_read(directory / "0.evidence").images, REPLICATES)

    def run() -> None:
        for image in images:
            weights.take(image, axis=0)

    return run


NUMPY, GATHER = "plain NumPy", "read the weights of each result"

BOOTSTRAP = Case(
    name="bootstrap",
    title="bootstrap of 50 methods x 20 classes x 1,000 replicates, and all pairs",
    make=make_methods,
    implementations={
        "vocboard": Implementation(Kind.OURS, _bootstrap(None)),
        GATHER: Implementation(Kind.FLOOR, _gather),
    },
    goals=(Goal(25, unit="s"), Goal(1024, unit="MiB")),
)
ONE_MORE = Case(
    name="bootstrap-one",
    title="bootstrap of one more method, 52,404 detections",
    make=make_methods,
    implementations={
        "vocboard": Implementation(Kind.OURS, _one_more),
        NUMPY: Implementation(Kind.PEER, _numpy),
        GATHER: Implementation(Kind.FLOOR, _gather),
    },
    goals=(Goal(0.7, unit="s"),),
)
MANY = Case(
    name="bootstrap-many",
    title="bootstrap of one method, 1,022,130 detections",
    make=make_many,
    implementations={
        "vocboard": Implementation(Kind.OURS, _bootstrap(1)),
        GATHER: Implementation(Kind.FLOOR, _gather),
    },
    goals=(Goal(6, unit="s"), Goal(1024, unit="MiB")),
)
