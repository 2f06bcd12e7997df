"""Validation on the server."""

from vocboard.evaluator.problems.registry import error

VALIDATION_TAKES_TOO_LONG = error(
    "validation_takes_too_long",
    "Validation takes too long",
    "Reading the upload took more than {seconds:.0f} seconds of processor time.",
    "Enter fewer results at once.",
    example="hundreds of megabytes in many small files",
)
VALIDATION_TAKES_TOO_MUCH_MEMORY = error(
    "validation_takes_too_much_memory",
    "Validation takes too much memory",
    "Reading the upload needs more memory than the server allows.",
    "Enter fewer results at once.",
    example="a detection file of several million lines",
)
VALIDATION_STOPPED = error(
    "validation_stopped",
    "Validation was stopped",
    "The server had to stop reading the upload.",
    "Try again. If it happens again, tell the organisers.",
    example="the server ran out of memory, or was restarted",
)
