"""Synthetic methods: their results are the ground truth with noise; better methods have less noise."""

import io
import math
import tarfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

from vocboard.commands.demo.development_kit import bounding_box, paint, png
from vocboard.commands.demo.scenes import Scene, SceneObject, World
from vocboard.evaluator.editions import Competition, Edition, LayoutProtocol, Task, Training

FALSE_ALARMS_PER_IMAGE = 0.4  # per class, for a method with skill 0
RIGHT = 2.5  # mean evidence for what is right, in standard deviations, for a method with skill 1; 0 for what is wrong
JITTER = 0.16  # relative to the box's sides, for a method with skill 0


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the demo.

    Attributes:
        skill: 0 is random, 1 is perfect; each class's skill is drawn around it.
        training: the method enters the competitions with this kind of training data.
        only_classes: classes entered; empty means all.
        figures: declared numbers, for challenges whose edition asks for them.
    """

    name: str
    description: str
    contributors: str
    affiliation: str
    training: Training
    skill: float
    only_classes: frozenset[str] = frozenset()
    figures: Mapping[str, float] = field(default_factory=dict)


def enters(method: Method, edition: Edition, competitions: Collection[str]) -> list[Competition]:
    """Return the competitions that a method enters, by its training data."""
    return [
        competition
        for competition in edition.competitions.values()
        if competition.key in competitions and competition.training is method.training
    ]


def results_archive(method: Method, world: World, edition: Edition, competitions: Collection[str]) -> bytes:
    """Return the method's results as a `.tar.gz`; the results are the same each time."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for competition in enters(method, edition, competitions):
            simulation = _Simulation(method, edition, competition)
            for name, content in simulation.files(world):
                add_file(archive, f"results/{edition.name}/{name}", content)
    return buffer.getvalue()


def add_file(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    """Add a file to an archive."""
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


class _Simulation:
    """One method's results in one competition."""

    def __init__(self, method: Method, edition: Edition, competition: Competition) -> None:
        self.method = method
        self.edition = edition
        self.competition = competition
        self.random = np.random.default_rng(crc32(f"{method.name}/{competition.key}".encode()))

    def files(self, world: World) -> Iterator[tuple[str, bytes]]:
        scenes = world.sets[self.competition.task, self.competition.image_set]
        match self.competition.task:
            case Task.CLASSIFICATION:
                yield from self._text(lambda name, skill: self._classify(scenes, name, skill))
            case Task.DETECTION if self.competition.rules.class_in_lines:
                found = self._text(lambda name, skill: (f"{line} {name}" for line in self._detect(scenes, name, skill)))
                yield self._name(), b"".join(content for _, content in found)
            case Task.DETECTION:
                yield from self._text(lambda name, skill: self._detect(scenes, name, skill))
            case Task.ACTION:
                yield from self._text(lambda name, skill: self._recognise(scenes, name, skill))
            case Task.SEGMENTATION:
                yield from self._segment(scenes)
            case Task.LAYOUT:
                yield self._name(), self._lay_out(scenes)
            case task:
                raise ValueError(f"the demo simulates no results of {task}")

    def _name(self, **fields: str) -> str:
        return self.competition.rules.file.format(
            competition=self.competition.key, image_set=self.competition.image_set, **fields
        )

    def _text(self, lines: Callable[[str, float], Iterator[str]]) -> Iterator[tuple[str, bytes]]:
        for name in self.competition.classes:
            if not self.method.only_classes or name in self.method.only_classes:
                skill = float(np.clip(self.random.normal(self.method.skill, 0.12), 0.02, 0.98))
                text = "".join(f"{line}\n" for line in lines(name, skill))
                yield self._name(**{"class": name}), text.encode()

    def _confidence(self, evidence: float) -> float:
        if self.competition.rules.confidence_range is None:
            return evidence
        least, greatest = self.competition.rules.confidence_range
        return least + (greatest - least) / (1 + math.exp(-evidence))

    def _confidences(self, present: Iterable[bool], skill: float) -> Iterator[float]:
        evidence = self.random.normal([RIGHT * skill if each else 0.0 for each in present])
        return map(self._confidence, evidence.tolist())

    def _classify(self, scenes: Iterable[Scene], name: str, skill: float) -> Iterator[str]:
        present = (any(thing.class_name == name for thing in scene.objects) for scene in scenes)
        for scene, confidence in zip(scenes, self._confidences(present, skill), strict=True):
            yield f"{scene.image} {confidence:.6f}"

    def _recognise(self, scenes: Iterable[Scene], name: str, skill: float) -> Iterator[str]:
        people = [(f"{scene.image} {index}", one) for scene in scenes for index, one in enumerate(scene.objects, 1)]
        present = (name in person.actions for _, person in people)
        for (named, _), confidence in zip(people, self._confidences(present, skill), strict=True):
            yield f"{named} {confidence:.6f}"

    def _detect(self, scenes: Iterable[Scene], name: str, skill: float) -> Iterator[str]:
        for scene in scenes:
            for thing in scene.objects:
                if thing.class_name == name and self.random.random() < 0.35 + 0.6 * skill:
                    box = self._jitter(thing.box, skill)
                    yield self._detection(scene, box, self._confidence(self.random.normal(RIGHT * skill)))
            for _ in range(self.random.poisson(FALSE_ALARMS_PER_IMAGE * (1 - skill))):
                width, height = (
                    scene.width * self.random.uniform(0.1, 0.6),
                    scene.height * self.random.uniform(0.1, 0.6),
                )
                left, top = self.random.uniform(1, scene.width - width), self.random.uniform(1, scene.height - height)
                false = (left, top, left + width, top + height)
                yield self._detection(scene, false, self._confidence(self.random.normal()))

    def _detection(self, scene: Scene, box: tuple[float, ...], confidence: float) -> str:
        left, top, right, bottom = box
        inside = (max(left, 1.0), max(top, 1.0), min(right, scene.width), min(bottom, scene.height))
        return f"{scene.image} {confidence:.6f} " + " ".join(f"{side:.2f}" for side in inside)

    def _jitter(self, box: tuple[int, ...], skill: float, share: float = JITTER) -> tuple[float, ...]:
        left, top, right, bottom = box
        shifts = self.random.normal(0.0, share * (1 - skill), size=4).tolist()  # relative to width and height
        sizes = (right - left, bottom - top, right - left, bottom - top)
        return tuple(side + shift * size for side, shift, size in zip(box, shifts, sizes, strict=True))

    def _segment(self, scenes: Iterable[Scene]) -> Iterator[tuple[str, bytes]]:
        classes = [n for n in self.edition.classes if not self.method.only_classes or n in self.method.only_classes]
        for scene in scenes:
            known = [thing for thing in scene.objects if thing.class_name in classes]
            seen = [self._seen(t, classes) for t in known if self.random.random() < 0.4 + 0.6 * self.method.skill]
            yield self._name(image=scene.image), png(paint(scene, seen, self.edition))

    def _seen(self, thing: SceneObject, classes: list[str]) -> SceneObject:
        """The object with a displaced outline, sometimes with the wrong class."""
        left, top, right, bottom = (round(side) for side in self._jitter(thing.box, self.method.skill))
        mistaken = self.random.random() < 0.35 * (1 - self.method.skill)
        name = str(self.random.choice(classes)) if mistaken else thing.class_name
        return SceneObject(name, (left, top, right, bottom))

    def _lay_out(self, scenes: Iterable[Scene]) -> bytes:
        by_box = self.competition.rules.layout_protocol is LayoutProtocol.WHOLE_PERSON_BY_BOX
        layouts = []
        for scene in scenes:
            for index, person in enumerate(scene.objects, start=1):
                parts, quality = self._parts(person)
                named = bounding_box(person.box, 2) if by_box else f"<object>{index}</object>"
                layouts.append(
                    f"<layout><image>{scene.image}</image>{named}<confidence>{quality:.6f}</confidence>{parts}</layout>\n"
                )
        return f"<results>\n{''.join(layouts)}</results>\n".encode()

    def _parts(self, person: SceneObject) -> tuple[str, float]:
        """XML of the detected parts, and a confidence that decreases with each missed part."""
        found = [part for part in person.parts if self.random.random() < 0.7 + 0.3 * self.method.skill]
        xml = "".join(
            f"<part><class>{name}</class>{bounding_box(self._jitter(box, self.method.skill), 2)}</part>"
            for name, box in found
        )
        missed = len(person.parts) - len(found)
        return xml, float(self.random.normal(-missed, 1.2 - self.method.skill))
