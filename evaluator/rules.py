"""What an edition of the challenge is: data, not code."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from vocboard.evaluator.tasks.names import Metric, Task

BACKGROUND = "background"  # label 0 of segmentations: scored beside the classes


class Training(StrEnum):
    """What a competition lets its entrants train on."""

    TRAINVAL = "trainval"
    ANY = "any"


class Declaration(StrEnum):
    """What entrants must state of a method, beside its results."""

    TRAINING_DATA = "training_data"  # what the method was trained on, in words
    TRAINING_ANNOTATION = "training_annotation"  # of segmentation: with what kinds of annotation
    FLICKR_IMAGES = "flickr_images"  # whether it was trained on images from flickr, and on which


ROC_METRICS = frozenset({Metric.ROC_AUC, Metric.EQUAL_ERROR_RATE})


class Interpolation(StrEnum):
    """How average precision is taken from a precision/recall curve."""

    ELEVEN_POINT = "11-point"  # up to VOC2009
    AREA = "area"  # from VOC2010 on


class RocRule(StrEnum):
    """How the points of a receiver operating characteristic are joined."""

    STRAIGHT_LINES = "straight-lines"  # VOC2005: the area is the share of pairs ranked rightly, ties one half
    LOWER_ENVELOPE = "lower-envelope"  # VOC2006's kit, VOCroc.m: to the right, then up


class WithoutPositives(StrEnum):
    """The score of a class of which the test set has no example."""

    UNDEFINED = "undefined"  # and left out of the mean
    ZERO = "zero"  # and counted in the mean, as in the kits up to VOC2009


class LayoutProtocol(StrEnum):
    """How a person layout is judged."""

    WHOLE_PERSON_BY_BOX = "whole-person-by-box"  # VOC2007
    WHOLE_PERSON_BY_INDEX_IN_FILE_ORDER = "whole-person-by-index-in-file-order"  # VOC2008's kit
    WHOLE_PERSON_BY_INDEX = "whole-person-by-index"  # VOC2009
    PARTS = "parts"  # from VOC2010 on


class AnnotationFormat(StrEnum):
    """How a development kit tree writes down the objects of its images; see `evaluator.annotations`."""

    XML = "xml"  # from VOC2007 on
    PASCAL_TEXT = "pascal-text"  # "PASCAL Annotation Version 1.00", VOC2005 and 2006
    LINES = "lines"  # one file an image set, one object a line: ParallelEye


@dataclass(frozen=True, slots=True)
class Annotations:
    """The annotations of an edition's trees.

    Attributes:
        labels: for `PASCAL_TEXT`, the beginnings of labels and the class each stands for: `PAScar` also begins
            `PAScarRearTrunc`.
    """

    format: AnnotationFormat = AnnotationFormat.XML
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Overlap:
    """When two boxes overlap enough.

    Attributes:
        threshold: intersection over union, a fraction.
        strict: True if the overlap must exceed the threshold, False if reaching it is enough.
    """

    threshold: float = 0.5
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what one upload may hold; a real result stays far below them."""

    detections_per_image: int = 10_000  # of one class
    lines_per_file: int = 10_000_000
    characters_per_line: int = 1_000
    absolute_number: float = 1e30  # of confidences and coordinates
    parts_per_layout: int = 100


@dataclass(frozen=True, slots=True)
class TaskRules:
    """What the competitions of one task share in an edition.

    Attributes:
        file: pattern of a result file below `results/<edition>/`, with the fields `{competition}`, `{image_set}` and
            `{class}` (text files) or `{image}` (segmentation). A detection file without `{class}` holds all classes,
            each line's in its last column.
        classes: what is scored: object classes, actions, or for layout the part types or `person`.
        board: secondary measures whose mean the leaderboard shows beside the primary one's.
        roc: for the measures in `ROC_METRICS`, how their curve is drawn.
        without_positives: what a class without positives scores in the measures that can say: average precision
            sampled at eleven points, and pixel accuracy.
        repeats_on_difficult_are_false: whether second and later detections of a difficult object are false positives;
            else they count neither way, as the first does.
        confidence_range: least and greatest confidence; None for any.
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
    repeats_on_difficult_are_false: bool = False
    confidence_range: tuple[float, float] | None = None

    @property
    def class_in_lines(self) -> bool:
        """Whether one file holds all classes, each line's in its last column."""
        return self.task is Task.DETECTION and "{class}" not in self.file


@dataclass(frozen=True, slots=True)
class Competition:
    """One competition.

    Attributes:
        key: its name in results and addresses, `comp4`.
        number: None where the challenge does not number its competitions.
        variant: what tells it from others of its task, in a word or two, such as `boxless`.
        declarations: what its entrants must state.
    """

    key: str
    number: int | None
    rules: TaskRules
    training: Training
    image_set: str = "test"
    variant: str = ""
    declarations: tuple[Declaration, ...] = ()

    @property
    def task(self) -> Task:
        """The task of its rules."""
        return self.rules.task

    @property
    def classes(self) -> tuple[str, ...]:
        """What is scored, in the edition's order."""
        return self.rules.classes

    @property
    def result_file(self) -> str:
        """Pattern of its result files below `results/<edition>/`, with the fields `{class}` or `{image}` left."""
        pattern = self.rules.file.replace("{competition}", self.key)
        return pattern.replace("{image_set}", self.image_set)


@dataclass(frozen=True, slots=True)
class Edition:
    """One year's challenge: classes, competitions, file patterns and rules of scoring.

    Attributes:
        has_set_folders: whether a tree's `ImageSets/` has a folder for each task (`ImageSets/Main/test.txt`); else the
            files stand in it directly.
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
