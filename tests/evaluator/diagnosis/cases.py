"""Random detections of several classes in few images, so that all kinds of errors happen, with distinct confidences."""

import random

from tests.evaluator.random_boxes import random_box
from tests.evaluator.reference.detection import Detection, Object

IMAGES = ["a", "b", "c", "d"]
CLASSES = ("aeroplane", "bird", "car")


def moved(box: tuple[float, float, float, float], chance: random.Random) -> tuple[float, float, float, float]:
    left, top, right, bottom = box
    across, down = chance.choice([0, 0, 0.3, 1, 2, 3, 5]), chance.choice([0, 0, 0.7, 1, 2, 4])
    return left + across, top + down, right + across, bottom + down


def random_case(seed: int, difficult: float = 0.2) -> tuple[dict[str, list[Detection]], dict[str, list[Object]]]:
    chance = random.Random(seed)
    objects: dict[str, list[Object]] = {name: [] for name in CLASSES}
    for image in IMAGES:
        for _ in range(chance.randrange(5)):
            objects[chance.choice(CLASSES)].append((image, random_box(chance), chance.random() < difficult))
    found: dict[str, list[Detection]] = {name: [] for name in CLASSES}
    boxes = [(image, box) for name in CLASSES for image, box, _ in objects[name]]
    for _ in range(chance.randrange(40)):
        image, box = (
            chance.choice(boxes) if boxes and chance.random() < 0.8 else (chance.choice(IMAGES), random_box(chance))
        )
        found[chance.choice(CLASSES)].append((image, chance.random(), moved(box, chance)))
    return found, objects
