"""The editions vocboard knows: one TOML file each, beside this module, and the loader."""

from evaluator.editions.loader import UnknownEditionError, load, names, read
from evaluator.editions.model import (
    BACKGROUND,
    ROC_METRICS,
    AnnotationFormat,
    Annotations,
    Competition,
    Edition,
    Interpolation,
    LayoutProtocol,
    Limits,
    Metric,
    Overlap,
    Task,
    TaskRules,
    Training,
)
from evaluator.editions.tables import EditionFileError

__all__ = [
    "BACKGROUND",
    "ROC_METRICS",
    "AnnotationFormat",
    "Annotations",
    "Competition",
    "Edition",
    "EditionFileError",
    "Interpolation",
    "LayoutProtocol",
    "Limits",
    "Metric",
    "Overlap",
    "Task",
    "TaskRules",
    "Training",
    "UnknownEditionError",
    "load",
    "names",
    "read",
]
