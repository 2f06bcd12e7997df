"""Writes the page: its files, its data, and images from archives, which it cannot link to."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vocboard.evaluator.archives import UPLOAD_LIMITS, members
from vocboard.evaluator.editions import Edition, Task, image_sets_of
from vocboard.evaluator.ground_truth import GroundTruth
from vocboard.evaluator.ground_truth.reader import read_ground_truth
from vocboard.evaluator.image_sets import ImageSet
from vocboard.evaluator.problems import Problem
from vocboard.evaluator.public_tree import read_image_sets
from vocboard.evaluator.reading.file_names import FileNames
from vocboard.evaluator.reading.results import read_results
from vocboard.evaluator.results import Entry
from vocboard.evaluator.tasks.definitions import TASKS
from vocboard.evaluator.tasks.parts import task_parts
from vocboard.evaluator.tasks.rows import ROWS
from vocboard.evaluator.viewing.entries import Page, ResultView
from vocboard.evaluator.viewing.marks import Mark
from vocboard.evaluator.viewing.pictures import Places, find_pictures
from vocboard.evaluator.viewing.scenes import Scenes, read_scenes
from vocboard.evaluator.whole_output import whole_directory

ASSETS = Path(__file__).parent / "assets"
_CONFIDENCE_DIGITS = 6

# Label maps are shown as images instead.
VIEWS: Mapping[Task, ResultView] = task_parts("view", ResultView, ROWS)
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class ViewSummary:
    """Summary of a page.

    Attributes:
        counts: number of results by mark, for each competition.
        problems: problems of the results; if one is an error, the page shows no results.
    """

    images: int
    objects: int
    counts: Mapping[str, Mapping[Mark, int]]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class WrittenView:
    """A page that was written.

    Attributes:
        summary: what is on it.
        scenes: its images, with their sizes.
        pictures: where the files of the images are.
    """

    summary: ViewSummary
    scenes: Scenes
    pictures: Places


def view(
    tree: Path,
    output: Path,
    edition: Edition,
    *,
    results: Path | None = None,
    progress: Progress | None = None,
) -> ViewSummary:
    """Write a directory with a page, `index.html`, that shows a tree's image sets and the results on them.

    If the tree is a directory, the page links to its images; images of an archive are copied. If there are no images,
    boxes are drawn on blank ones.

    Args:
        tree: development kit tree, directory or archive.
        output: directory to write, atomically; the output of an earlier call is replaced.
        edition: for the image set to show; see `for_image_set`.
        results: archive or directory of result files.
        progress: called with the number of images done.

    Raises:
        GroundTruthError: the tree is invalid; lists all problems.
        OutputExistsError: `output` exists and was not written by vocboard.
        OSError: a file cannot be read or written.
    """
    with whole_directory(output, "view") as directory:
        return write_view(tree, directory, output, edition, results=results, progress=progress).summary


def write_view(
    tree: Path,
    directory: Path,
    output: Path,
    edition: Edition,
    *,
    results: Path | None = None,
    progress: Progress | None = None,
) -> WrittenView:
    """Write the page to a directory that will be moved to `output`; other arguments and exceptions are those of `view`.

    Args:
        directory: exists, and is empty.
        output: where the page will be, to which links to images are relative.
    """
    truth = read_ground_truth(tree, edition)
    image_sets = truth.image_sets
    if any(image_set.sizes is None for image_set in image_sets.sets.values()):
        image_sets = read_image_sets(tree, edition)  # also reads sizes from images
    scenes = read_scenes(tree, edition, image_sets, progress)
    read = None if results is None else read_results(results, edition, image_sets)
    objects, page = _objects(scenes, edition, truth)
    places = {image: place for place, image in enumerate(scenes.images)}
    competitions, counts = [], {}
    for entry in read.results.values() if read is not None and read.is_valid else ():
        competition = entry.competition
        if competition.task in VIEWS:
            image_set = image_sets.sets[competition.task, competition.image_set]
            data, counts[competition.key] = _competition(entry, image_set, page, places)
            competitions.append(data)
    for asset in ASSETS.iterdir():
        shutil.copyfile(asset, directory / asset.name)
    pictures = find_pictures(tree, edition, scenes, directory, output)
    maps = {} if results is None or read is None or not read.is_valid else _maps(results, edition, directory)
    sets = {name: frozenset(images) for name, images in _detection_sets(truth).items()}
    data = {
        "edition": edition.title,
        "imageSet": ", ".join(image_sets_of(edition)),
        "classes": list(edition.classes),
        "images": list(scenes.images),
        "sizes": [side for image in scenes.images for side in scenes.size(image)],
        "folders": [list(scenes.folders[image]) for image in scenes.images],
        "detectionSets": [[name for name, own in sets.items() if image in own] for image in scenes.images],
        "objects": objects,
        "competitions": competitions,
        "resultMaps": maps,
        **pictures.as_json(scenes.images),
    }
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    (directory / "data.js").write_text(f"window.VOCBOARD={text};\n")
    problems = () if read is None else read.problems
    return WrittenView(ViewSummary(len(scenes.images), len(objects["image"]), counts, problems), scenes, pictures)


def _objects(scenes: Scenes, edition: Edition, truth: GroundTruth) -> tuple[dict[str, list[Any]], Page]:
    """Return the objects of all images as columns, and the `Page` that results are compared with."""
    index = {name: place for place, name in enumerate(edition.classes)}
    columns: dict[str, list[Any]] = {key: [] for key in ("image", "class", "box", "flags", "view", "parts", "actions")}
    own: dict[str, list[int]] = {name: [] for name in scenes.images}  # objects of the edition's classes
    first = {}
    for image, name in enumerate(scenes.images):
        first[name] = len(columns["image"])
        for each in scenes.records[name].objects if name in scenes.records else ():
            if each.name in index:
                own[name].append(len(columns["image"]))
            columns["image"].append(image)
            columns["class"].append(index.get(each.name, each.name))
            columns["box"] += map(float, each.box)
            columns["flags"].append([flag for flag, is_set in each.flags.items() if is_set])
            columns["view"].append(each.view)
            columns["parts"].append([[part.name, *map(float, part.box)] for part in each.parts])
            columns["actions"].append([action for action, performed in each.actions.items() if performed])
    boxes = np.array(columns["box"], dtype=np.float64).reshape(-1, 4)
    detected = {
        name: np.array([place for image in images for place in own[image]], dtype=np.int64)
        for name, images in _detection_sets(truth).items()
    }
    return columns, Page(edition, truth, detected, first, boxes)


def _detection_sets(truth: GroundTruth) -> dict[str, tuple[str, ...]]:
    """Return the images of detection by image set."""
    return {name: each.images for (task, name), each in truth.image_sets.sets.items() if task is Task.DETECTION}


def _competition(
    entry: Entry, image_set: ImageSet, page: Page, places: Mapping[str, int]
) -> tuple[dict[str, Any], dict[Mark, int]]:
    """Return a competition's results as columns, class after class by decreasing confidence."""
    competition, view_of_task = entry.competition, VIEWS[entry.competition.task]
    place_of = np.array([places[image] for image in image_set.images], dtype=np.int64)
    names = ROWS[competition.task].names(competition, page.edition)
    columns: dict[str, list[Any]] = {key: [] for key in ("image", "class", "confidence", "mark", "object")}
    for rows in view_of_task.rows(entry, image_set, page):
        columns["image"] += place_of[rows.image].tolist()
        columns["class"] += [rows.class_index] * len(rows.image)
        columns["confidence"] += [float(f"{c:.{_CONFIDENCE_DIGITS}g}") for c in rows.confidence.tolist()]
        columns["mark"] += rows.mark.tolist()
        columns["object"] += rows.object.tolist()
        if rows.box is not None:
            columns.setdefault("box", []).extend(np.round(rows.box, 1).ravel().tolist())
        if rows.region is not None:
            columns.setdefault("region", []).extend(rows.region)
    values, numbers = np.unique(np.array(columns["mark"], dtype=np.uint8), return_counts=True)
    counts = {Mark(value): number for value, number in zip(values.tolist(), numbers.tolist(), strict=True)}
    kind = {
        "key": competition.key,
        "task": competition.task.value,
        "imageSet": competition.image_set,
        "names": names,
        "noun": TASKS[competition.task].results_noun,
        "kinds": view_of_task.kinds,
        "annotatedBy": view_of_task.annotated_by,
    }
    return {**kind, "entered": [name in entry.classes for name in names], **columns}, counts


def _maps(results: Path, edition: Edition, directory: Path) -> dict[str, list[str]]:
    """Copy the label maps of valid results; return the images that each competition has."""
    names = FileNames(edition)
    maps: dict[str, list[str]] = {}
    for member in members(results, UPLOAD_LIMITS, lambda _: None):
        name = names.identify(member.name)
        if name is not None and name.image is not None:
            folder = directory / name.competition.key
            folder.mkdir(exist_ok=True)
            (folder / f"{name.image}.png").write_bytes(member.read())
            maps.setdefault(name.competition.key, []).append(name.image)
    return maps
