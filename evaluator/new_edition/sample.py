"""A sample tree of an edition: a few drawn scenes with everything its tasks need, in train, val and its own test set.

Every class is a colour, every part and action another, so that the example methods have something to learn.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from vocboard.evaluator.annotations.records import ImageRecord, ObjectRecord, PartRecord
from vocboard.evaluator.annotations.xml_output import xml_of
from vocboard.evaluator.conversion.colour_map import label_colour_map
from vocboard.evaluator.conversion.painting import indexed_png
from vocboard.evaluator.editions import Edition, Task, for_image_set, image_sets_of
from vocboard.evaluator.ground_truth.image_set_files import file_of
from vocboard.evaluator.ground_truth.material import PERSON

IMAGES = 12  # in each set
WIDTH, HEIGHT = 240, 180
_OBJECTS = 3  # at most, in an image
_DIFFICULT_EVERY = 7


@dataclass(frozen=True, slots=True)
class _Scene:
    image: str
    record: ImageRecord


def write_sample_tree(edition: Edition, directory: Path) -> Path:
    """Write `directory/<edition>/`, and return that path."""
    tree = directory / edition.name
    for folder in ("Annotations", "JPEGImages", "SegmentationClass"):
        if folder != "SegmentationClass" or _has(edition, Task.SEGMENTATION):
            (tree / folder).mkdir(parents=True)
    random = np.random.default_rng(0)
    sets = tuple(dict.fromkeys(("train", "val", *image_sets_of(edition))))
    for number, image_set in enumerate(sets):
        scenes = [_scene(edition, f"{number * IMAGES + place + 1:06}", place, random) for place in range(IMAGES)]
        for scene in scenes:
            (tree / "Annotations" / f"{scene.image}.xml").write_text(xml_of(scene.image, scene.record, edition.name))
            picture, labels = _drawn(scene, edition, random)
            picture.save(tree / "JPEGImages" / f"{scene.image}.jpg", quality=90)
            if _has(edition, Task.SEGMENTATION):
                (tree / "SegmentationClass" / f"{scene.image}.png").write_bytes(indexed_png(labels))
        for name, lines in _lists(for_image_set(edition, image_set), image_set, scenes):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text("".join(f"{line}\n" for line in lines))
    return tree


def _has(edition: Edition, task: Task) -> bool:
    return any(competition.task is task for competition in edition.competitions.values())


def _scene(edition: Edition, image: str, place: int, random: np.random.Generator) -> _Scene:
    """Return a scene whose first object's class is the next in turn, so that each class is in each set."""
    kinds = [place % len(edition.classes), *random.integers(0, len(edition.classes), _OBJECTS - 1).tolist()]
    with_people = _has(edition, Task.LAYOUT) or _has(edition, Task.ACTION)
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
                flags={"truncated": False, "difficult": difficult},
                parts=tuple(_parts(edition, box)) if is_person and _has(edition, Task.LAYOUT) else (),
                actions={name: place % len(edition.actions) == k for k, name in enumerate(edition.actions)}
                if is_person
                else {},
            )
        )
    return _Scene(image, ImageRecord((WIDTH, HEIGHT), tuple(objects)))


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
    scene: _Scene, edition: Edition, random: np.random.Generator
) -> tuple[Image.Image, "np.ndarray[tuple[int, int], np.dtype[np.uint8]]"]:
    """Return a picture of the scene and its label map."""
    noise = random.integers(90, 130, (HEIGHT // 4, WIDTH // 4, 3), dtype=np.uint8).repeat(4, 0).repeat(4, 1)
    picture, labels = Image.fromarray(noise), Image.new("L", (WIDTH, HEIGHT))
    on_picture, on_labels = ImageDraw.Draw(picture), ImageDraw.Draw(labels)
    colours = [tuple(colour) for colour in label_colour_map().tolist()]
    number: Mapping[str, int] = {
        name: place for place, name in enumerate((*edition.classes, *edition.parts, *edition.actions, PERSON), start=1)
    }
    for each in scene.record.objects:
        box = [int(side) - 1 for side in each.box]
        on_picture.rectangle(box, fill=colours[number[each.name]])
        if each.name in edition.classes:
            on_labels.rectangle(box, fill=edition.classes.index(each.name) + 1)
        doing = next((name for name, performed in each.actions.items() if performed), None)
        if doing is not None:
            on_picture.rectangle([box[0], box[1], box[0] + 12, box[3]], fill=colours[number[doing]])
        for part in each.parts:
            on_picture.rectangle([int(side) - 1 for side in part.box], fill=colours[number[part.name]])
    return picture, np.asarray(labels)


def _lists(edition: Edition, image_set: str, scenes: Sequence[_Scene]) -> Iterator[tuple[str, list[str]]]:
    """Yield names and lines of the files below `ImageSets/`; the first object of an image is the person."""
    for task in dict.fromkeys(competition.task for competition in edition.competitions.values()):
        key = (task, image_set)
        people = task in {Task.LAYOUT, Task.ACTION}
        yield file_of(edition, key), [f"{scene.image} 1" if people else scene.image for scene in scenes]
        if task is Task.CLASSIFICATION:
            for name in edition.classes:
                yield file_of(edition, key, name), [f"{scene.image} {_label(scene, name):2d}" for scene in scenes]
        if task is Task.ACTION:
            for name in edition.actions:
                flags = [1 if scene.record.objects[0].actions[name] else -1 for scene in scenes]
                yield (
                    file_of(edition, key, name),
                    [f"{scene.image} 1 {flag:2d}" for scene, flag in zip(scenes, flags, strict=True)],
                )


def _label(scene: _Scene, name: str) -> int:
    difficult = [each.flags["difficult"] for each in scene.record.objects if each.name == name]
    return (0 if all(difficult) else 1) if difficult else -1
