"""Exceptions of the client. Every message is one line that says what to do."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from vocboard.evaluator.problems import Problem

if TYPE_CHECKING:
    from vocboard.evaluator.problem_groups import ProblemGroup


class ClientError(Exception):
    """Base class of the client's exceptions; the message is for the user."""


class MisuseError(ClientError):
    """The request is wrong: an unknown challenge, a missing token, an invalid field or a missing file."""


class NetworkError(ClientError):
    """The server could not be reached, or the connection was lost."""


class CertificateError(NetworkError):
    """The server's certificate cannot be verified; retrying does not help."""


class UnexpectedAnswerError(ClientError):
    """The response is not that of a vocboard server."""


class ChangedArchiveError(ClientError):
    """The archive changed on disk while it was uploaded."""


class RefusedError(ClientError):
    """The server rejected the request.

    Attributes:
        status: the HTTP status.
        code: the server's stable error code; empty if it sent none.
        detail: the server's message.
    """

    def __init__(self, message: str, *, status: int, code: str = "", detail: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.detail = detail


class MisdirectedError(RefusedError, MisuseError):
    """The server rejected the request as wrong: for example, an unknown challenge, or one this user may not see."""


class InvalidFieldsError(MisdirectedError):
    """Fields of a form are invalid: `fields` maps field names to messages."""

    def __init__(self, message: str, *, fields: Mapping[str, str], status: int = 422, code: str = "") -> None:
        super().__init__(message, status=status, code=code)
        self.fields = dict(fields)


class InvalidArchiveError(RefusedError):
    """The archive has problems: `problems` lists all of them, including warnings; `groups` has them by cause.

    `fields` has errors of the form that were found with them, by field. `documentation` is the path of a page of the
    server that explains each problem under its code; None if it has none.
    """

    def __init__(
        self,
        message: str,
        *,
        problems: Sequence[Problem],
        groups: "Sequence[ProblemGroup] | None" = None,
        fields: Mapping[str, str] | None = None,
        documentation: str | None = None,
        status: int = 422,
        code: str = "",
    ) -> None:
        from vocboard.evaluator.problem_groups import groups_of  # noqa: PLC0415  # loads all problems; seldom needed

        super().__init__(message, status=status, code=code)
        self.documentation = documentation
        self.problems = tuple(problems)
        self.groups = groups_of(self.problems) if groups is None else tuple(groups)
        self.fields = dict(fields or {})


class WarningsNotAcceptedError(InvalidArchiveError):
    """Warnings are about many of the results, most likely because the boxes are not in VOC's format.

    The archive is valid otherwise: `accept_warnings` submits it. The message says which results; `groups` has the cause
    first. The server keeps the archive for a day, so that submitting it then does not send it again.
    """


class LimitedError(RefusedError):
    """A rate limit or quota was exceeded.

    Attributes:
        allowed_at: when the next request is allowed, by the server's clock; None if it is unknown.
        wait_seconds: how long that was from the answer on, whatever this machine's clock says; None if it is unknown.
    """

    def __init__(
        self,
        message: str,
        *,
        allowed_at: datetime | None,
        wait_seconds: float | None = None,
        status: int = 429,
        code: str = "",
    ) -> None:
        super().__init__(message, status=status, code=code)
        self.allowed_at = allowed_at
        self.wait_seconds = wait_seconds
