"""Writes a sample tree of an edition: drawn scenes with everything its tasks need, in train, val and its own test set.

Each class, part and action has its own colour, up to 256 of them, so that the example methods can learn them.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from vocboard.evaluator.annotations.records import ImageRecord, ObjectRecord, PartRecord
from vocboard.evaluator.annotations.xml_output import xml_of
from vocboard.evaluator.conversion.colour_map import label_colour_map
from vocboard.evaluator.conversion.painting import indexed_png
from vocboard.evaluator.editions import AnnotationFormat, Edition, Task, for_image_set, image_sets_of
from vocboard.evaluator.examples.material import ExampleError
from vocboard.evaluator.image_sets import ImageSet, ImageSets
from vocboard.evaluator.tasks.definitions import TASKS
from vocboard.evaluator.tasks.image_set_files import file_of
from vocboard.evaluator.tasks.material import PERSON
from vocboard.evaluator.tasks.parts import task_modules

IMAGES = 12  # in each set
WIDTH, HEIGHT = 240, 180
LABEL_MAPS = ("SegmentationClass", "SegmentationObject")
_OBJECTS = 3  # at most, in an image
_DIFFICULT_EVERY = 7
_VIEWS = ("Frontal", "Rear", "Left", "Right")
_SAMPLES = task_modules("sample")  # of tasks that need other files than images, annotations, label maps and image sets


def write_sample_tree(edition: Edition, directory: Path) -> Path:
    """Write `directory/<edition>/`, and return that path.

    Raises:
        ExampleError: the edition's annotations are not in XML.
    """
    if edition.annotations.format is not AnnotationFormat.XML:
        raise ExampleError(f"samples have annotations in XML, the edition in {edition.annotations.format}")
    tree = directory / edition.name
    map_folders = [name for name in LABEL_MAPS if any(name in TASKS[task].tree_folders for task in _tasks(edition))]
    for folder in ("Annotations", "JPEGImages", *map_folders):
        (tree / folder).mkdir(parents=True)
    random = np.random.default_rng(0)
    sets = tuple(dict.fromkeys(("train", "val", *image_sets_of(edition))))
    for number, image_set in enumerate(sets):
        records = {f"{number * IMAGES + place + 1:06}": _record(edition, place, random) for place in range(IMAGES)}
        for image, record in records.items():
            (tree / "Annotations" / f"{image}.xml").write_text(xml_of(image, record, edition.name), encoding="utf-8")
            picture, maps = _drawn(record, edition, random)
            picture.save(tree / "JPEGImages" / f"{image}.jpg", quality=90)
            for folder in map_folders:
                (tree / folder / f"{image}.png").write_bytes(indexed_png(maps[folder]))
        for name, lines in _other_files(for_image_set(edition, image_set), image_set, records):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tree


def is_sample(image_sets: ImageSets) -> bool:
    """Whether image sets are those of a sample tree, by their number of images, names and sizes."""
    return bool(image_sets.sets) and all(map(_is_sample_set, image_sets.sets.values()))


def _is_sample_set(found: ImageSet) -> bool:
    if found.sizes is None or len(found.images) != IMAGES or not found.images[0].isdecimal():
        return False
    first = int(found.images[0])
    names = tuple(f"{first + place:06}" for place in range(IMAGES))
    return first % IMAGES == 1 and found.images == names and bool((found.sizes == (WIDTH, HEIGHT)).all())


def _tasks(edition: Edition) -> list[Task]:
    return list(dict.fromkeys(competition.task for competition in edition.competitions.values()))


def _record(edition: Edition, place: int, random: np.random.Generator) -> ImageRecord:
    """Return a scene. The class of its first object is the next one in turn, so that each set has each class."""
    kinds = [place % len(edition.classes), *random.integers(0, len(edition.classes), _OBJECTS - 1).tolist()]
    tasks = _tasks(edition)
    with_people = Task.LAYOUT in tasks or Task.ACTION in tasks
    objects = []
    for number, kind in enumerate(kinds):
        left, top = (int(side) for side in random.integers(1, (WIDTH - 100, HEIGHT - 80)))
        width, height = (int(side) for side in random.integers((50, 40), (100, 80)))
        is_person = with_people and number == 0
        box = (left, top, left + width, top + height)
        difficult = not is_person and place % _DIFFICULT_EVERY == _DIFFICULT_EVERY - 1 and number > 0
        objects.append(
            ObjectRecord(
                name=PERSON if is_person else edition.classes[kind],
                box=_texts(box),
                view=_VIEWS[(place + number) % len(_VIEWS)],
                flags={"truncated": place % 4 == 0, "occluded": place % 4 == number, "difficult": difficult},
                parts=tuple(_parts(edition, box)) if is_person and Task.LAYOUT in tasks else (),
                actions={name: place % len(edition.actions) == k for k, name in enumerate(edition.actions)}
                if is_person
                else {},
            )
        )
    return ImageRecord((WIDTH, HEIGHT), tuple(objects))


def _parts(edition: Edition, box: tuple[int, int, int, int]) -> Iterator[PartRecord]:
    """Yield a part of each type, one above the other."""
    left, top, right, bottom = box
    step = (bottom - top) / max(1, len(edition.parts))
    for number, name in enumerate(edition.parts):
        middle = round((left + right) / 2)
        yield PartRecord(
            name, _texts((middle - 8, round(top + number * step), middle + 8, round(top + (number + 0.8) * step)))
        )


def _texts(box: tuple[int, int, int, int]) -> tuple[str, str, str, str]:
    left, top, right, bottom = map(str, box)
    return left, top, right, bottom


def _drawn(
    record: ImageRecord, edition: Edition, random: np.random.Generator
) -> tuple[Image.Image, Mapping[str, NDArray[np.uint8]]]:
    """Return a picture of the scene, and its label maps by folder."""
    noise = random.integers(90, 130, (HEIGHT // 4, WIDTH // 4, 3), dtype=np.uint8).repeat(4, 0).repeat(4, 1)
    picture, *maps = Image.fromarray(noise), *(Image.new("L", (WIDTH, HEIGHT)) for _ in LABEL_MAPS)
    on_picture, on_classes, on_objects = map(ImageDraw.Draw, (picture, *maps))
    colours = [tuple(colour) for colour in label_colour_map().tolist()]
    number: Mapping[str, int] = {
        name: place % len(colours)
        for place, name in enumerate((*edition.classes, *edition.parts, *edition.actions, PERSON), start=1)
    }
    for index, each in enumerate(record.objects, start=1):
        box = [int(side) - 1 for side in each.box]
        on_picture.rectangle(box, fill=colours[number[each.name]])
        if each.name in edition.classes:
            on_classes.rectangle(box, fill=edition.classes.index(each.name) + 1)
            on_objects.rectangle(box, fill=index)
        doing = next((name for name, performed in each.actions.items() if performed), None)
        if doing is not None:
            on_picture.rectangle([box[0], box[1], box[0] + 12, box[3]], fill=colours[number[doing]])
        for part in each.parts:
            on_picture.rectangle([int(side) - 1 for side in part.box], fill=colours[number[part.name]])
    return picture, dict(zip(LABEL_MAPS, map(np.asarray, maps), strict=True))


def _other_files(
    edition: Edition, image_set: str, records: Mapping[str, ImageRecord]
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield names and lines of the other files of an image set; the first object of an image is the person."""
    for task, rules in {competition.task: competition.rules for competition in edition.competitions.values()}.items():
        key = (task, image_set)
        yield file_of(edition, key), [f"{image} 1" if TASKS[task].names_people(rules) else image for image in records]
        if task in _SAMPLES:
            yield from _SAMPLES[task].sample_files(edition, key, records)
