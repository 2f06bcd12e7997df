"""The editions vocboard knows: one TOML file each, beside this module, and the loader."""

from evaluator.editions.model import (
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
    "Competition",
    "Edition",
    "Interpolation",
    "LayoutProtocol",
    "Limits",
    "Metric",
    "Overlap",
    "Task",
    "TaskRules",
    "Training",
]
