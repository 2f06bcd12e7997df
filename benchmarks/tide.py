"""Errors of detections by kind, as tidecv counts them and as `vocboard evaluate --diagnose` does, rule by rule.

    python -m benchmarks.tide

Needs the real VOC2007 detections of the golden data (see tests/support/golden.py). `vocboard convert` converts them and
their ground truth to COCO's JSON, from which tidecv 1.0.1 counts. The rows between are a plain implementation of the
kinds, to which one rule of tidecv's after the other is added; the last one must be what tidecv counts, and the first
one what `vocboard evaluate` does. Exit status 1 otherwise.
"""

import importlib
import json
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

from benchmarks import peers
from benchmarks.machine import cache_directory
from tests.evaluator.reference import tide as reference
from tests.evaluator.reference.detection import Detection, Object
from tests.support.golden import REAL

CASE, EDITION, COMPETITION = REAL / "voc2007-real", "VOC2007", "comp4"
DRAWING = ("appdirs", "cv2", "matplotlib", "matplotlib.lines", "matplotlib.pyplot", "pandas", "seaborn")
NO_LIMIT = 1_000_000  # of results of an image; tidecv's default is 100
KINDS = ("location", "class", "duplicate", "background", "both", "missed")
RULES = (
    ("results on difficult objects are errors", reference.DIFFICULT),
    ("a result falls back to another object", reference.ANOTHER_OBJECT),
    ("an overlap of exactly one half is a localisation error", reference.EXACT_HALF),
)


class MissingError(Exception):
    """tidecv cannot be installed."""


@dataclass(frozen=True, slots=True)
class Modules:
    """Those of tidecv."""

    quantify: Any
    data: Any


@dataclass(frozen=True, slots=True)
class Box:
    """An object or a result.

    Attributes:
        box: left, top, width, height.
    """

    image: str | int
    name: str
    box: Sequence[float]
    confidence: float = 0.0
    difficult: bool = False


def imported() -> Modules:
    """Return tidecv, installed apart, without the packages that it only needs for drawing.

    Raises:
        MissingError: it cannot be installed.
    """
    directory, missing = peers.install(cache_directory(), "tide")
    if missing:
        raise MissingError(f"no tidecv: {missing[0]}")
    before = set(sys.modules)
    for name in DRAWING:
        if name not in sys.modules:
            sys.modules[name] = MagicMock()
    sys.path.insert(0, str(directory))
    try:
        return Modules(importlib.import_module("tidecv.quantify"), importlib.import_module("tidecv.data"))
    finally:
        sys.path.remove(str(directory))
        for name in set(sys.modules) - before:
            if name.partition(".")[0] in {"tidecv", *DRAWING}:
                del sys.modules[name]


def count(tidecv: Modules, truths: Iterable[Box], results: Iterable[Box]) -> Counter[str]:
    """Return how many errors of each kind tidecv finds, at an overlap of one half, without a limit on results."""
    truth, found = tidecv.data.Data("truth"), tidecv.data.Data("results")
    images: dict[str | int, int] = {}
    classes: dict[str, int] = {}
    for each in truths:
        add = truth.add_ignore_region if each.difficult else truth.add_ground_truth
        add(images.setdefault(each.image, len(images)), classes.setdefault(each.name, len(classes)), list(each.box))
    for each in results:
        number = images.setdefault(each.image, len(images))
        found.add_detection(number, classes.setdefault(each.name, len(classes)), each.confidence, list(each.box))
    for image, number in images.items():
        truth.add_image(number, str(image))
    quantify = tidecv.quantify
    run = quantify.TIDERun(truth, found, 0.5, 0.1, quantify.TIDE.BOX, NO_LIMIT)
    kinds = {
        quantify.BoxError: "location",
        quantify.ClassError: "class",
        quantify.DuplicateError: "duplicate",
        quantify.BackgroundError: "background",
        quantify.OtherError: "both",
        quantify.MissedError: "missed",
    }
    return Counter({kinds[kind]: len(errors) for kind, errors in run.error_dict.items()})


def main() -> int:
    """Print the table; return the exit status."""
    if not CASE.is_dir():
        print(f"no golden data in {CASE}; set VOCBOARD_SHARED to the directory that has golden/")
        return 1
    with tempfile.TemporaryDirectory() as directory:
        tidecv = imported()
        truths, results = _in_coco(Path(directory))
        theirs = count(tidecv, truths, results)
    ours = _of_the_command_line()
    rows = [("`vocboard evaluate --diagnose`", ours)]
    chosen: frozenset[str] = reference.OURS
    assert _by_reference(truths, results, chosen) == ours
    for name, rule in RULES:
        chosen |= {rule}
        rows.append((f"+ {name}", _by_reference(truths, results, chosen)))
    rows.append(("tidecv 1.0.1", theirs))
    print(f"| | {' | '.join(KINDS)} |\n|---{'|---' * len(KINDS)}|")
    for name, counts in rows:
        print(f"| {name} | {' | '.join(f'{counts[kind]:,}' for kind in KINDS)} |")
    return 0 if theirs == rows[-2][1] else 1


def _in_coco(directory: Path) -> tuple[list[Box], list[Box]]:
    tree, truth, found = directory / EDITION, directory / "truth.json", directory / "results.json"
    with tarfile.open(CASE / "ground-truth.tar.gz") as file:
        file.extraction_filter = getattr(tarfile, "data_filter", None)  # Debian 12's Python 3.11 has none
        file.extractall(directory)
    to_coco = ("--reverse", "--edition", EDITION)
    _vocboard("convert", "coco-ground-truth", tree, *to_coco, "--image-set", "test", "--output", truth)
    names = ("--image-sets", tree, "--images", truth, "--categories", truth)
    archive = CASE / "results.tar.gz"
    _vocboard("convert", "coco", archive, *to_coco, "--competition", COMPETITION, *names, "--output", found)
    content = json.loads(truth.read_text())
    classes = {each["id"]: each["name"] for each in content["categories"]}
    truths = [
        Box(each["image_id"], classes[each["category_id"]], each["bbox"], difficult=bool(each["iscrowd"]))
        for each in content["annotations"]
    ]
    results = [
        Box(each["image_id"], classes[each["category_id"]], each["bbox"], confidence=each["score"])
        for each in json.loads(found.read_text())
    ]
    return truths, results


def _of_the_command_line() -> Counter[str]:
    command = ("evaluate", EDITION, CASE / "results.tar.gz", "--ground-truth", CASE / "ground-truth.tar.gz")
    printed = _vocboard(*command, "--diagnose", "--json")
    counts = json.loads(printed)["competitions"][COMPETITION]["diagnosis"]["errors"]["counts"]
    return Counter({kind: counts[kind] for kind in KINDS})


def _by_reference(truths: Iterable[Box], results: Iterable[Box], rules: frozenset[str]) -> Counter[str]:
    by_image: dict[str | int, tuple[dict[str, list[Detection]], dict[str, list[Object]]]] = {}
    for each in results:
        row = (str(each.image), each.confidence, _corners(each.box))
        by_image.setdefault(each.image, ({}, {}))[0].setdefault(each.name, []).append(row)
    for each in truths:
        true = (str(each.image), _corners(each.box), each.difficult)
        by_image.setdefault(each.image, ({}, {}))[1].setdefault(each.name, []).append(true)
    total: Counter[str] = Counter()
    for found, objects in by_image.values():
        total += reference.counts(*reference.judged(found, objects, rules))
    return total


def _corners(box: Sequence[float]) -> tuple[float, float, float, float]:
    left, top, width, height = box
    return left, top, left + width - 1, top + height - 1


def _vocboard(*arguments: object) -> str:
    command = [sys.executable, "-m", "vocboard.commands.main", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
