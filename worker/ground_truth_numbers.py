"""Numbers of images and objects in uploaded ground truth, as the tables of the challenges' documents have them."""

import logging
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vocboard.evaluator.editions import Edition, for_image_set
from vocboard.evaluator.ground_truth import GroundTruthError
from vocboard.evaluator.ground_truth.available_sets import available_image_sets
from vocboard.evaluator.ground_truth.reader import ReadTree, import_ground_truth
from vocboard.evaluator.ground_truth.statistics import statistics
from vocboard.evaluator.ground_truth.summary import summarise
from vocboard.evaluator.tasks.definitions import TASKS

_SETS_OF_TABLES = ("train", "val", "trainval", "test")  # VOC2010 document, section 2, tables 1 to 4

_log = logging.getLogger(__name__)

Numbers = dict[str, dict[str, Any]]  # by task and image set: `detection/test`


def in_numbers(read: ReadTree, edition: Edition) -> Numbers:
    """Return images and objects by task, image set and class, and why a task cannot be scored."""
    counted = {(one.task, one.image_set): one for one in statistics(read.truth, edition)}
    found: Numbers = {}
    for one in summarise(read.truth, edition):
        numbers: dict[str, Any] = {"images": one.images}
        if one.people is not None:
            numbers["people"] = one.people
        if (of_set := counted.get((one.task, one.image_set))) is not None:
            table = TASKS[one.task].statistics
            cut_off = read.truncated.get(one.image_set, {}) if table and table.counts_truncated else {}
            rows = {name: _defined(asdict(row) | _truncated(cut_off, name)) for name, row in of_set.classes.items()}
            total = _truncated({"Total": sum(cut_off.values())} if cut_off else {}, "Total")
            numbers["classes"] = rows | {"Total": _defined(asdict(of_set.total) | total)}
        elif one.classes:
            numbers["classes"] = {
                name: {"images": count.positives, "difficult": count.difficult} for name, count in one.classes.items()
            }
        if one.missing is not None:
            numbers["missing"] = one.missing
        found[f"{one.task}/{one.image_set}"] = numbers
    return found


def numbers_of_other_sets(tree: Path, edition: Edition) -> Numbers:
    """Return the same for the sets of the documents' tables that the tree has, and no competition is scored on.

    Nothing depends on them, so a set with errors is left out.
    """
    scored_on = {competition.image_set for competition in edition.competitions.values()}
    available = {name for names in available_image_sets(tree, edition).values() for name in names}
    found: Numbers = {}
    for name in _SETS_OF_TABLES:
        if name in scored_on or name not in available:
            continue
        on_set = for_image_set(edition, name)
        try:
            numbers = in_numbers(import_ground_truth(tree, on_set), on_set)
        except GroundTruthError as error:
            _log.info("the image set %s of an uploaded tree is not counted: %d problems", name, len(error.problems))
            continue
        found |= {key: of_set for key, of_set in numbers.items() if "missing" not in of_set}
    return found


def _truncated(counts: Mapping[str, int], name: str) -> dict[str, int]:
    return {"truncated": counts[name]} if name in counts else {}


def _defined(numbers: Mapping[str, int | None]) -> dict[str, int]:
    return {name: number for name, number in numbers.items() if number is not None}
