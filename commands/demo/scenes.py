"""Synthetic scenes with objects, parts and actions, generated from a seed.

The demo's ground truth and its methods' results come from the same scenes; the results have noise added.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from vocboard.evaluator.editions import AnnotationFormat, Edition, Task

SIZES = ((500, 375), (375, 500), (500, 333), (480, 360))  # width, height in pixels, as in the VOC images
DIFFICULT_SHARE = 0.08
PERSON = "person"
# Enough images that every class has about 200 positives: with fewer, revealing a single one reveals a large share
# (docs/detail-levels.md).
MAIN_IMAGES, LAYOUT_IMAGES, ACTION_IMAGES = 1000, 140, 820
# Every class is in about 100 of them: enough for shares of confusion matrices to hide single images, and for a week of
# label maps that fill one image with a class each (tests/attack/test_blind_maps.py).
SEGMENTED_IMAGES = 500
FIRST_NUMBERS = {Task.LAYOUT: 500_001, Task.ACTION: 700_001}  # of images

Box = tuple[int, int, int, int]  # left, top, right, bottom; 1-based, inclusive


@dataclass(frozen=True, slots=True)
class SceneObject:
    """One object: its class, its box, and a person's parts and actions."""

    class_name: str
    box: Box
    difficult: bool = False
    parts: tuple[tuple[str, Box], ...] = ()
    actions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scene:
    """One synthetic image."""

    image: str
    width: int
    height: int
    objects: tuple[SceneObject, ...]


Key = tuple[Task, str]  # task and image set


@dataclass(frozen=True, slots=True)
class World:
    """The test images for each task and image set of the edition.

    Classification and detection share their images; segmentation uses the first of them.
    """

    sets: Mapping[Key, tuple[Scene, ...]]


def draw_world(
    edition: Edition,
    *,
    seed: int,
    main: int = MAIN_IMAGES,
    segmented: int = SEGMENTED_IMAGES,
    layout: int = LAYOUT_IMAGES,
    action: int = ACTION_IMAGES,
    first: int = 1,
) -> World:
    """Generate the test set of a small challenge that contains every class of the edition.

    Args:
        main: number of images for classification and detection, in each test set.
        segmented: how many of them are segmented as well.
        layout: number of images for layout.
        action: number of images for action.
        first: number of the first image for classification and detection.
    """
    random = np.random.default_rng(seed)
    shared: dict[str, tuple[Scene, ...]] = {}
    sets: dict[Key, tuple[Scene, ...]] = {}
    for key in dict.fromkeys((item.task, item.image_set) for item in edition.competitions.values()):
        task, image_set = key
        if task in {Task.LAYOUT, Task.ACTION}:
            actions = edition.actions if task is Task.ACTION else ()
            parts = edition.parts if task is Task.LAYOUT else ()
            first, people = FIRST_NUMBERS[task], layout if task is Task.LAYOUT else action
            sets[key] = tuple(_people(random, _image(edition, first + n), parts, actions) for n in range(people))
            continue
        if image_set not in shared:
            numbers = range(first + main * len(shared), first + main * (len(shared) + 1))
            shared[image_set] = tuple(_scene(random, edition, number) for number in numbers)
        sets[key] = shared[image_set][: segmented if task is Task.SEGMENTATION else main]
    return World(sets)


def _image(edition: Edition, number: int) -> str:
    """Return an image identifier in the edition's format: `2008_000001`, or only a number."""
    return f"{edition.name[-4:]}_{number:06d}" if edition.name.startswith("VOC") else str(number)


def _classes(random: Generator, edition: Edition, number: int) -> list[str]:
    """Return the next class in turn, so that each has positives, and two to seven random ones."""
    others = random.choice(edition.classes, size=random.integers(2, 8))
    return [edition.classes[number % len(edition.classes)], *(str(name) for name in others)]


def _scene(random: Generator, edition: Edition, number: int) -> Scene:
    width, height = SIZES[random.integers(len(SIZES))]
    share = DIFFICULT_SHARE if _knows_difficult(edition) else 0.0
    objects = tuple(
        SceneObject(name, _box(random, width, height), difficult=position > 0 and random.random() < share)
        for position, name in enumerate(_classes(random, edition, number))
    )
    return Scene(_image(edition, number), width, height, objects)


def _knows_difficult(edition: Edition) -> bool:
    """Whether the edition has difficult objects; VOC2005 and ParallelEye do not."""
    rules = [competition.rules for competition in edition.competitions.values()]
    by_label = any(each.repeats_on_difficult_are_false for each in rules)
    return edition.annotations.format is AnnotationFormat.XML or by_label


def _people(random: Generator, image: str, parts: tuple[str, ...], actions: tuple[str, ...]) -> Scene:
    width, height = SIZES[random.integers(len(SIZES))]
    objects = []
    for _ in range(random.integers(1, 4)):
        box = _box(random, width, height, least=0.35)
        doing = frozenset(str(name) for name in random.choice(actions, size=random.integers(1, 3))) if actions else None
        objects.append(SceneObject(PERSON, box, parts=_parts(random, box, parts), actions=doing or frozenset()))
    return Scene(image, width, height, tuple(objects))


def _parts(random: Generator, person: Box, parts: tuple[str, ...]) -> tuple[tuple[str, Box], ...]:
    """A head at the top, hands at the sides, feet below; each visible with probability 0.8."""
    left, top, right, bottom = person
    width, height = right - left + 1, bottom - top + 1
    places = {
        "head": ((0.35, 0.0, 0.3, 0.2),),
        "hand": ((0.02, 0.42, 0.18, 0.14), (0.8, 0.42, 0.18, 0.14)),
        "foot": ((0.15, 0.86, 0.25, 0.13), (0.6, 0.86, 0.25, 0.13)),
    }
    return tuple(
        (
            part,
            (
                left + round(x * width),
                top + round(y * height),
                left + round((x + w) * width),
                top + round((y + h) * height),
            ),
        )
        for part in parts
        for x, y, w, h in places[part]
        if random.random() < 0.8
    )


def _box(random: Generator, width: int, height: int, least: float = 0.18) -> Box:
    w, h = (int(side * random.uniform(least, 0.7)) for side in (width, height))
    left, top = int(random.integers(1, width - w)), int(random.integers(1, height - h))
    return left, top, left + w, top + h
