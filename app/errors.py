"""Errors that services raise. `app.web.problem_details` renders them for the API and the pages."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from vocboard.app.database import OutcomeError
from vocboard.evaluator.byte_sizes import size_text
from vocboard.evaluator.problem_groups import ProblemGroup, groups_of
from vocboard.evaluator.problems import Problem


class ServiceError(Exception):
    """Base class of errors that are shown to users.

    Attributes:
        status: the HTTP status.
        code: stable error code for programs.
        title: the kind of error in a few words; the exception's message says what to do.
    """

    status: ClassVar[int] = 400
    code: ClassVar[str] = "bad_request"
    title: ClassVar[str] = "Bad request"


class NotFoundError(ServiceError):
    """The object does not exist, or the user may not see it; the response is the same."""

    status, code, title = 404, "not_found", "Not found"


class NotSignedInError(ServiceError):
    """The request has no signed-in user."""

    status, code, title = 401, "not_signed_in", "Sign in first"


class SignInError(ServiceError, OutcomeError):
    """Wrong email address or password; the error does not say which."""

    status, code, title = 401, "sign_in_failed", "Not signed in"


class ForbiddenError(ServiceError):
    """The user may see the object, but not perform this action."""

    status, code, title = 403, "forbidden", "Not allowed"


class ConflictError(ServiceError):
    """The object's state does not allow the action."""

    status, code, title = 409, "conflict", "Not possible now"


class IncompleteEntryError(ConflictError):
    """An upload leaves out classes of a competition that it enters, and the request refuses that.

    Attributes:
        not_entered: the classes, by competition.
    """

    code, title = "incomplete_entry", "Some classes were not entered"

    def __init__(self, message: str, not_entered: Mapping[str, Sequence[str]]) -> None:
        super().__init__(message)
        self.not_entered = {key: list(names) for key, names in not_entered.items()}


class ConfirmationRequiredError(ConflictError):
    """The action loses what others rely on, and the request does not confirm it by name."""

    code, title = "confirmation_required", "Please confirm this"


class AlreadyPublishedError(ConflictError):
    """The method has a published result in the same competition, which the request does not replace."""

    code, title = "already_published", "The method has a published result"


class InvalidInputError(ServiceError):
    """Form fields are invalid; contains all errors.

    Args:
        fields: messages by field name.
    """

    status, code, title = 422, "invalid_input", "Some fields are not valid"

    def __init__(self, fields: dict[str, str]) -> None:
        super().__init__("; ".join(f"{field}: {message}" for field, message in fields.items()))
        self.fields = fields


class WrongPasswordError(InvalidInputError, OutcomeError):
    """The current password, which is required before a change, is wrong."""


class InvalidArchiveError(ServiceError):
    """The upload has problems; contains all of them, including warnings.

    Args:
        groups: the problems by cause; by default, as the list of problems alone allows.
        fields: errors of the form, by field name.
        not_entered: classes that the upload leaves out, by competition: what is asked about once it is valid.
    """

    status, code, title = 422, "invalid_archive", "The archive has problems"

    def __init__(
        self,
        problems: Sequence[Problem],
        groups: Sequence[ProblemGroup] | None = None,
        fields: Mapping[str, str] | None = None,
        not_entered: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        super().__init__("The upload was rejected and uses no quota. Fix the problems below and upload it again.")
        self.problems = tuple(problems)
        self.groups = groups_of(self.problems) if groups is None else tuple(groups)
        self.fields = dict(fields or {})
        self.not_entered = {key: list(names) for key, names in (not_entered or {}).items()}


class WarningsNotAcceptedError(ServiceError):
    """Warnings are about so many of the results that the request has to accept them; the upload is valid otherwise.

    Args:
        problems: all warnings.
        groups: the warnings by cause.
    """

    status, code, title = 422, "warnings_not_accepted", "Many of the results seem to be wrong"

    def __init__(self, message: str, problems: Sequence[Problem], groups: Sequence[ProblemGroup]) -> None:
        super().__init__(message)
        self.problems = tuple(problems)
        self.groups = tuple(groups)


class RangeNotSatisfiableError(ServiceError):
    """The request asks for bytes beyond the end of a file. `byte_count` is its size."""

    status, code, title = 416, "range_not_satisfiable", "No such part of the file"

    def __init__(self, byte_count: int) -> None:
        super().__init__(f"The file has {byte_count:,} bytes. Send a range within it, or none for the whole file.")
        self.byte_count = byte_count


class TooLargeError(ServiceError):
    """The upload is larger than allowed."""

    status, code, title = 413, "too_large", "Too large"


def too_large(limit_bytes: int) -> TooLargeError:
    """Return the error of an archive that is larger than the limit."""
    return TooLargeError(
        f"The archive is larger than {size_text(limit_bytes)}, the most that this server accepts. Leave out files "
        "that it does not need."
    )


class StorageFullError(ServiceError):
    """The disk of the server is full."""

    status, code, title = 507, "storage_full", "The server's disk is full"


class TooSlowError(ServiceError):
    """The body of a request arrives too slowly, or takes too long."""

    status, code, title = 408, "too_slow", "What was sent arrived too slowly"


class LimitedError(ServiceError):
    """A rate limit or quota is exceeded. `allowed_at` is when the next request is allowed."""

    status, code, title = 429, "limited", "Too many"

    def __init__(self, message: str, *, allowed_at: datetime) -> None:
        super().__init__(message)
        self.allowed_at = allowed_at


class BusyError(ServiceError):
    """The server is busy. `retry_after` is in seconds."""

    status, code, title = 503, "busy", "Server busy"

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after
