"""The data model of editions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from vocboard.evaluator.declarations import Declaration, DeclarationKind
from vocboard.evaluator.names import Metric, Task

BACKGROUND = "background"  # label 0 of segmentations, which is also scored


class Training(StrEnum):
    """The training data that a competition allows."""

    TRAINVAL = "trainval"
    ANY = "any"


class Interpolation(StrEnum):
    """How average precision is computed from a precision/recall curve."""

    ELEVEN_POINT = "11-point"  # up to VOC2009
    AREA = "area"  # from VOC2010 on


class RocRule(StrEnum):
    """How the points of a receiver operating characteristic are joined."""

    STRAIGHT_LINES = (
        "straight-lines"  # VOC2005: the area is the share of correctly ranked pairs, with ties counted as one half
    )
    LOWER_ENVELOPE = "lower-envelope"  # VOC2006's kit, VOCroc.m: to the right, then up


class WithoutPositives(StrEnum):
    """The score of a class without positives in the test set."""

    UNDEFINED = "undefined"  # and not in the mean
    ZERO = "zero"  # and counted in the mean, as in the kits up to VOC2009


class LayoutProtocol(StrEnum):
    """How person layouts are scored."""

    WHOLE_PERSON_BY_BOX = "whole-person-by-box"  # VOC2007
    WHOLE_PERSON_BY_INDEX_IN_FILE_ORDER = "whole-person-by-index-in-file-order"  # VOC2008's kit
    WHOLE_PERSON_BY_INDEX = "whole-person-by-index"  # VOC2009
    PARTS = "parts"  # from VOC2010 on


class AnnotationFormat(StrEnum):
    """The annotation formats of development kit trees; see `evaluator.annotations`."""

    XML = "xml"  # from VOC2007 on
    PASCAL_TEXT = "pascal-text"  # "PASCAL Annotation Version 1.00", VOC2005 and 2006
    LINES = "lines"  # one file per image set, one object per line: ParallelEye


@dataclass(frozen=True, slots=True)
class Annotations:
    """The annotation format of an edition's trees.

    Attributes:
        labels: for `PASCAL_TEXT`, classes by label prefix; for example, `PAScar` is a prefix of `PAScarRearTrunc`.
    """

    format: AnnotationFormat = AnnotationFormat.XML
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Overlap:
    """When the overlap of two boxes is sufficient.

    Attributes:
        threshold: intersection over union, a fraction.
        strict: whether the overlap must be greater than the threshold, or at least equal to it.
    """

    threshold: float = 0.5
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for one upload, far above real results."""

    detections_per_image: int = 10_000  # of one class
    lines_per_file: int = 10_000_000
    characters_per_line: int = 1_000
    absolute_number: float = 1e30  # of confidences and coordinates
    parts_per_layout: int = 100


@dataclass(frozen=True, slots=True)
class OptionalRule:
    """What edition files and their comparison need to know of an optional field of `TaskRules`, in its metadata.

    Attributes:
        kind: the method of `editions.tables.Table` that reads it: `flag`, `number`, `interval` ...
        title: what comparisons call it.
        in_words: describes a value.
        task: the only task that can have it; None for any.
    """

    kind: str
    title: str
    in_words: Callable[[Any], str] = str
    task: Task | None = None


def _repeats(are_false: bool) -> str:
    return "false positives" if are_false else "ignored"


def _range(limits: tuple[float, float] | None) -> str:
    return "any number" if limits is None else f"{limits[0]:g} to {limits[1]:g}"


@dataclass(frozen=True, slots=True)
class TaskRules:
    """The rules of one task in an edition, shared by its competitions.

    Attributes:
        file: pattern of a result file below `results/<edition>/`, with the fields `{competition}`, `{image_set}` and
            `{class}` (text files) or `{image}` (segmentation). A detection file without `{class}` contains all classes,
            with the class in the last column.
        classes: what is scored: object classes, actions, or for layout the part types or `person`.
        board: secondary metrics whose mean the leaderboard shows next to the primary one.
        roc: how the points of an ROC are joined, for metrics that are computed from it.
        without_positives: score of a class without positives, for average precision sampled at eleven points and for
            pixel accuracy.
        repeats_on_difficult_are_false: whether second and later detections of a difficult object are false positives;
            otherwise they are ignored, like the first one.
        groups: names and classes of groups, for columns of leaderboards. No score depends on them.
        confidence_range: minimum and maximum confidence; None for any.
    """

    task: Task
    file: str
    classes: tuple[str, ...]
    metric: Metric
    secondary: tuple[Metric, ...] = ()
    interpolation: Interpolation = Interpolation.AREA
    roc: RocRule = RocRule.STRAIGHT_LINES
    without_positives: WithoutPositives = WithoutPositives.UNDEFINED
    layout_protocol: LayoutProtocol | None = None
    board: tuple[Metric, ...] = ()
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    repeats_on_difficult_are_false: bool = field(
        default=False,
        metadata={"rule": OptionalRule("flag", "further detections of a difficult object", _repeats, Task.DETECTION)},
    )
    confidence_range: tuple[float, float] | None = field(
        default=None, metadata={"rule": OptionalRule("interval", "confidences", _range)}
    )

    @property
    def class_in_lines(self) -> bool:
        """Whether one file contains all classes, with the class in the last column."""
        return self.task is Task.DETECTION and "{class}" not in self.file


OPTIONAL_RULES: Mapping[str, OptionalRule] = {
    each.name: each.metadata["rule"] for each in fields(TaskRules) if "rule" in each.metadata
}


@dataclass(frozen=True, slots=True)
class Competition:
    """One competition.

    Attributes:
        key: its name in results and URLs, for example `comp4`.
        number: None if the challenge does not number its competitions.
        variant: distinguishes it from other competitions of its task, for example `boxless`.
        declarations: the declarations that it asks for. They do not change what results mean.
    """

    key: str
    number: int | None
    rules: TaskRules
    training: Training
    image_set: str = "test"
    variant: str = ""
    declarations: tuple[Declaration, ...] = field(default=(), repr=False)

    @property
    def task(self) -> Task:
        """The task of the rules."""
        return self.rules.task

    @property
    def classes(self) -> tuple[str, ...]:
        """The scored classes, in the edition's order."""
        return self.rules.classes

    @property
    def figures(self) -> tuple[Declaration, ...]:
        """The declarations that are numbers: columns of the leaderboard."""
        return tuple(each for each in self.declarations if each.kind is DeclarationKind.NUMBER)

    @property
    def result_file(self) -> str:
        """Pattern of result files below `results/<edition>/`, with the remaining fields `{class}` or `{image}`."""
        pattern = self.rules.file.replace("{competition}", self.key)
        return pattern.replace("{image_set}", self.image_set)


@dataclass(frozen=True, slots=True)
class Edition:
    """An edition of the challenge: classes, competitions, file patterns and scoring rules.

    Attributes:
        has_set_folders: whether a tree's `ImageSets/` has a folder for each task (`ImageSets/Main/test.txt`) or
            contains the files directly.
        similar_classes: groups of classes that look alike; a class can be in several. Only diagnoses use them.
    """

    name: str  # "VOC2007"
    title: str  # "PASCAL VOC 2007"
    classes: tuple[str, ...]  # object classes, in the order of the segmentation indices 1..n
    parts: tuple[str, ...]
    actions: tuple[str, ...]
    competitions: Mapping[str, Competition]  # by key, in order
    overlap: Overlap
    limits: Limits
    annotations: Annotations = field(default_factory=Annotations)
    has_set_folders: bool = True
    similar_classes: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
