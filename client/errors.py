"""What can go wrong between here and a server. Every message is one line that says what to do."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from vocboard.evaluator.problems import Problem


class ClientError(Exception):
    """Trouble with the server or on the way to it; the message is for the person at the terminal."""


class MisuseError(ClientError):
    """The command cannot be done as it was given: no such challenge, no token, a wrong field, no such file."""


class NetworkError(ClientError):
    """The server could not be reached, or the connection broke."""


class CertificateError(NetworkError):
    """The server cannot prove that it is the one it claims to be; trying again does not help."""


class UnexpectedAnswerError(ClientError):
    """Something answered, but not as a vocboard server does."""


class RefusedError(ClientError):
    """The server understood and said no.

    Attributes:
        status: the HTTP status.
        code: the server's stable identifier of the reason; empty if it gave none.
        detail: what the server said, for people.
    """

    def __init__(self, message: str, *, status: int, code: str = "", detail: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.detail = detail


class MisdirectedError(RefusedError, MisuseError):
    """Refused because of what was asked: an unknown challenge, or one that is closed to this person."""


class InvalidFieldsError(MisdirectedError):
    """Fields of a form are wrong: `fields` holds a message by field name."""

    def __init__(self, message: str, *, fields: Mapping[str, str], status: int = 422, code: str = "") -> None:
        super().__init__(message, status=status, code=code)
        self.fields = dict(fields)


class InvalidArchiveError(RefusedError):
    """The archive has problems: `problems` holds all of them, warnings included."""

    def __init__(self, message: str, *, problems: Sequence[Problem], status: int = 422, code: str = "") -> None:
        super().__init__(message, status=status, code=code)
        self.problems = tuple(problems)


class LimitedError(RefusedError):
    """Too often; `allowed_at` is when the next is allowed, if the server said so."""

    def __init__(self, message: str, *, allowed_at: datetime | None, status: int = 429, code: str = "") -> None:
        super().__init__(message, status=status, code=code)
        self.allowed_at = allowed_at
