"""Why an evaluation failed, as organisers may read it: never a hint of the ground truth.

The message of an exception may quote what the code was working on, which in an evaluation is the ground truth. So only
our own errors, which are about the upload and the machine, keep their messages. For all others, only the type and the
location in the code are reported. The worker's log has everything.
"""

import errno
import traceback
from pathlib import Path

from celery.exceptions import SoftTimeLimitExceeded
from sqlalchemy.exc import SQLAlchemyError

from vocboard.app.intake.reading import StoppedProcessError
from vocboard.app.leaderboards.statistics import Failure
from vocboard.app.storage.archives import DamagedArchiveError
from vocboard.worker.process import MoreUrgentError
from vocboard.worker.stored_columns import UnscorableError

DISK_IS_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_PACKAGE = Path(__file__).resolve().parents[1]
_ABOUT_THE_UPLOAD = (UnscorableError, DamagedArchiveError, StoppedProcessError)
_ABOUT_THE_MACHINE = {
    SoftTimeLimitExceeded: "The evaluation took longer than VOCBOARD_EVALUATION_TIME_LIMIT.",
    MemoryError: "The evaluation took more memory than VOCBOARD_EVALUATION_MEMORY_LIMIT_BYTES.",
}


def lasting(error: Exception) -> Failure | None:
    """Return why statistics or diagnoses cannot be computed; None for what may pass by itself."""
    if isinstance(error, (FileNotFoundError, *_ABOUT_THE_UPLOAD)):
        return Failure.UNREADABLE
    if isinstance(error, tuple(_ABOUT_THE_MACHINE)):
        return Failure.TOO_LARGE
    return None if isinstance(error, OSError | SQLAlchemyError | MoreUrgentError) else Failure.ERROR


def technical_reason(error: BaseException) -> str:
    """Return the kind of an error, and the places in the code that it came through, the innermost last."""
    lines = [_what(error), *(f"  {_place(frame)}" for frame in traceback.extract_tb(error.__traceback__))]
    if error.__cause__ is not None:
        lines.append(f"because of {_what(error.__cause__)}")
    return "\n".join(lines)


def _what(error: BaseException) -> str:
    kind = type(error).__name__
    for machine, text in _ABOUT_THE_MACHINE.items():
        if isinstance(error, machine):
            return f"{kind}: {text}"
    if isinstance(error, OSError) and error.errno in DISK_IS_FULL:
        return f"{kind}: No space was left for the worker's temporary files (TMPDIR)."
    return f"{kind}: {error}" if isinstance(error, _ABOUT_THE_UPLOAD) else kind


def _place(frame: traceback.FrameSummary) -> str:
    """File, line and function; the line's text is left out, as some errors put values there."""
    path = Path(frame.filename)
    name = path.relative_to(_PACKAGE).as_posix() if path.is_relative_to(_PACKAGE) else path.name
    return f"{name}:{frame.lineno} in {frame.name}"
