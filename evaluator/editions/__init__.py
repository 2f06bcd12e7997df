"""The editions vocboard knows: one TOML file each, beside this module, and the loader."""

from evaluator.editions.loader import EditionFileError, UnknownEditionError, load, names, read
from evaluator.editions.model import (
    BACKGROUND,
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

__all__ = [
    "BACKGROUND",
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
