"""The demo's example challenges: one in each state, held by the same organiser over three years (`examples.toml`).

Each has its own test set, drawn from its own seed, and shows no more of it than scores by class: the test sets are
small, and curves would reveal more (docs/detail-levels.md). Only the validation images of `harbour-2026` are shown in
full; they are other scenes than its test images.
"""

import tomllib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.commands.demo.scenes import Scene, World, draw_world
from vocboard.commands.demo.seeding import OPEN_RULES, DemoChallenge, Entry, Stage
from vocboard.evaluator.editions import Edition, for_image_set

IMAGES = 240  # of each test set: about 300 objects of each class, see `scenes.MAIN_IMAGES`
VALIDATION_IMAGES = 80
FIRST_VALIDATION_IMAGE = 5001
VALIDATION = "val"  # image set
MISLABELLED_IMAGES = 12
EXAMPLES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))[
    "challenges"
]
SLUGS = tuple(example["slug"] for example in EXAMPLES)


def draw_test_set(slug: str, edition: Edition) -> World:
    """Draw the test set of an example challenge."""
    return draw_world(edition, seed=SLUGS.index(slug), main=IMAGES)


def draw_validation_set(slug: str, edition: Edition) -> World:
    """Draw the validation set of an example challenge: other scenes with other names."""
    drawn_on = for_image_set(edition, VALIDATION)
    return draw_world(drawn_on, seed=100 + SLUGS.index(slug), main=VALIDATION_IMAGES, first=FIRST_VALIDATION_IMAGE)


def create_example(stage: Stage, example: dict[str, Any]) -> None:
    """Create a challenge of `EXAMPLES`, and do its steps: each is a method of `DemoChallenge` and its arguments."""
    challenge = DemoChallenge(stage, example["slug"], example["edition"])
    edition = challenge.edition
    challenge.test_sets = {
        MAIN_PHASE: (draw_test_set(challenge.slug, edition), edition),
        "validation": (draw_validation_set(challenge.slug, edition), for_image_set(edition, VALIDATION)),
    }
    challenge.create(example["created"], **example["rules"], **OPEN_RULES if example.get("open_rules") else {})
    for key, rules in example.get("phases", {}).items():
        challenge.post(example["created"], "/phases", key=key, **rules)
    for step in example["steps"]:
        given = dict(step)
        if "entries" in given:
            given["entries"] = [Entry(**entry) for entry in given["entries"]]
        given |= VARIANTS.get(given.pop("variant", ""), {})
        getattr(challenge, given.pop("do"))(**given)


def malformed(files: dict[str, bytes]) -> None:
    """Make two annotations of a tree unreadable."""
    first, second, *_ = sorted(name for name in files if "/Annotations/" in name)
    files[first] = files[first].replace(b"<xmin>", b"<xmin>left of ", 1)
    files[second] = files[second].removesuffix(b"</annotation>\n")


def mislabelled(world: World, right: str, wrong: str) -> World:
    """Return the scenes with one class labelled as another in the first images that show it."""
    sets = {}
    for key, scenes in world.sets.items():
        shown = [scene for scene in scenes if any(thing.class_name == right for thing in scene.objects)]
        chosen = {scene.image for scene in shown[:MISLABELLED_IMAGES]}
        sets[key] = tuple(_relabelled(one, right, wrong) if one.image in chosen else one for one in scenes)
    return World(sets)


def _relabelled(scene: Scene, old: str, new: str) -> Scene:
    objects = (replace(thing, class_name=new) if thing.class_name == old else thing for thing in scene.objects)
    return replace(scene, objects=tuple(objects))


VARIANTS: dict[str, dict[str, Any]] = {  # of ground truth, with mistakes
    "mislabelled": {"change": partial(mislabelled, right="pear", wrong="apple")},
    "malformed": {"spoil": malformed},
}
