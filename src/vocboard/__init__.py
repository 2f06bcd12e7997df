"""A challenge submission server in the tradition of the PASCAL VOC evaluation server, and its development kit.

The names below are for notebooks and scripts; docs/python.md describes them. They are imported when they are first
used, so that the program `vocboard` starts without them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vocboard.client.client import Client
    from vocboard.client.errors import ClientError
    from vocboard.evaluator.conversion.colour_map import label_colour_map
    from vocboard.evaluator.public_api.comparing import compare
    from vocboard.evaluator.public_api.errors import InvalidResultsError
    from vocboard.evaluator.public_api.inputs import load_edition, read_ground_truth, read_image_sets
    from vocboard.evaluator.public_api.kit import convert, example, view
    from vocboard.evaluator.public_api.results import CompetitionResult, EvaluationResult, ValidationResult
    from vocboard.evaluator.public_api.scoring import evaluate, validate

    __version__: str

__all__ = [
    "Client",
    "ClientError",
    "CompetitionResult",
    "EvaluationResult",
    "InvalidResultsError",
    "ValidationResult",
    "__version__",
    "compare",
    "convert",
    "evaluate",
    "example",
    "label_colour_map",
    "load_edition",
    "read_ground_truth",
    "read_image_sets",
    "validate",
    "view",
]

_MODULES = {
    "Client": "client.client",
    "ClientError": "client.errors",
    "CompetitionResult": "evaluator.public_api.results",
    "EvaluationResult": "evaluator.public_api.results",
    "InvalidResultsError": "evaluator.public_api.errors",
    "ValidationResult": "evaluator.public_api.results",
    "compare": "evaluator.public_api.comparing",
    "convert": "evaluator.public_api.kit",
    "evaluate": "evaluator.public_api.scoring",
    "example": "evaluator.public_api.kit",
    "label_colour_map": "evaluator.conversion.colour_map",
    "load_edition": "evaluator.public_api.inputs",
    "read_ground_truth": "evaluator.public_api.inputs",
    "read_image_sets": "evaluator.public_api.inputs",
    "validate": "evaluator.public_api.scoring",
    "view": "evaluator.public_api.kit",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562)."""
    if name == "__version__":
        from vocboard.evaluator.version import VERSION  # noqa: PLC0415  # as all the names below

        found: Any = VERSION
    elif name in _MODULES:
        found = getattr(import_module(f"vocboard.{_MODULES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return the public names, imported or not."""
    return sorted({*globals(), *__all__})
