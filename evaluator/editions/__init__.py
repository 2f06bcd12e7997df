"""The built-in editions (one TOML file each) and their loader."""

from vocboard.evaluator.declarations import Declaration, DeclarationKind
from vocboard.evaluator.editions.loader import UnknownEditionError, load, names, read, read_text, source
from vocboard.evaluator.editions.mistakes import EditionFileError, Mistake
from vocboard.evaluator.editions.splits import for_image_set, image_sets_of
from vocboard.evaluator.names import Metric, Task
from vocboard.evaluator.rules import (
    BACKGROUND,
    AnnotationFormat,
    Annotations,
    Competition,
    Edition,
    Interpolation,
    LayoutProtocol,
    Limits,
    Overlap,
    RocRule,
    TaskRules,
    Training,
    WithoutPositives,
)

__all__ = [
    "BACKGROUND",
    "AnnotationFormat",
    "Annotations",
    "Competition",
    "Declaration",
    "DeclarationKind",
    "Edition",
    "EditionFileError",
    "Interpolation",
    "LayoutProtocol",
    "Limits",
    "Metric",
    "Mistake",
    "Overlap",
    "RocRule",
    "Task",
    "TaskRules",
    "Training",
    "UnknownEditionError",
    "WithoutPositives",
    "for_image_set",
    "image_sets_of",
    "load",
    "names",
    "read",
    "read_text",
    "source",
]
