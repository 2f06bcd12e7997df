"""A challenge submission server in the tradition of the PASCAL VOC evaluation server, and its development kit.

The names below are for notebooks and scripts; docs/python.md describes them. They are imported when they are first
used, so that the program `vocboard` starts without them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vocboard.client.client import Client, WaitTimeoutError
    from vocboard.client.errors import (
        ChangedArchiveError,
        ClientError,
        InvalidArchiveError,
        LimitedError,
        WarningsNotAcceptedError,
    )
    from vocboard.evaluator.conversion.colour_map import label_colour_map
    from vocboard.evaluator.conversion.problems import ConversionError
    from vocboard.evaluator.editions.loader import UnknownEditionError
    from vocboard.evaluator.editions.mistakes import EditionFileError
    from vocboard.evaluator.examples.material import ExampleError
    from vocboard.evaluator.image_sets import ImageSetsFormatError
    from vocboard.evaluator.problems.trees import GroundTruthError
    from vocboard.evaluator.public_api.comparing import compare
    from vocboard.evaluator.public_api.errors import InvalidResultsError, ResultsWarning
    from vocboard.evaluator.public_api.inputs import load_edition, read_ground_truth, read_image_sets
    from vocboard.evaluator.public_api.kit import convert, example, view
    from vocboard.evaluator.public_api.results import CompetitionResult, EvaluationResult, ValidationResult
    from vocboard.evaluator.public_api.scoring import evaluate, validate
    from vocboard.evaluator.whole_output import OutputExistsError

    __version__: str

__all__ = [
    "ChangedArchiveError",
    "Client",
    "ClientError",
    "CompetitionResult",
    "ConversionError",
    "EditionFileError",
    "EvaluationResult",
    "ExampleError",
    "GroundTruthError",
    "ImageSetsFormatError",
    "InvalidArchiveError",
    "InvalidResultsError",
    "LimitedError",
    "OutputExistsError",
    "ResultsWarning",
    "UnknownEditionError",
    "ValidationResult",
    "WaitTimeoutError",
    "WarningsNotAcceptedError",
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
    "ChangedArchiveError": "client.errors",
    "Client": "client.client",
    "ClientError": "client.errors",
    "CompetitionResult": "evaluator.public_api.results",
    "ConversionError": "evaluator.conversion.problems",
    "EditionFileError": "evaluator.editions.mistakes",
    "EvaluationResult": "evaluator.public_api.results",
    "ExampleError": "evaluator.examples.material",
    "GroundTruthError": "evaluator.problems.trees",
    "ImageSetsFormatError": "evaluator.image_sets",
    "InvalidArchiveError": "client.errors",
    "InvalidResultsError": "evaluator.public_api.errors",
    "LimitedError": "client.errors",
    "OutputExistsError": "evaluator.whole_output",
    "ResultsWarning": "evaluator.public_api.errors",
    "UnknownEditionError": "evaluator.editions.loader",
    "ValidationResult": "evaluator.public_api.results",
    "WaitTimeoutError": "client.client",
    "WarningsNotAcceptedError": "client.errors",
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


if not TYPE_CHECKING:  # type checkers then report a name that does not exist

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
