"""The operator's terms, which people accept when they register, and again when they have changed.

Until then, people can read, sign out, delete the account and complete uploads that had begun, but change nothing else.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sqlalchemy.orm import Session

from vocboard.app.accounts import queries
from vocboard.app.accounts.models import User
from vocboard.app.audit import service as audit
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, ForbiddenError, NotFoundError

VERSION_LENGTH = 12  # hexadecimal digits


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms as they are now.

    Attributes:
        text: Markdown.
        version: the beginning of the text's SHA-256: another text is another version.
    """

    text: str
    version: str

    @classmethod
    def read(cls, path: Path | None) -> Self | None:
        """Return the terms in a file; None without a file.

        Raises:
            OSError: it cannot be read.
        """
        if path is None:
            return None
        content = path.read_bytes()
        return cls(content.decode("utf-8-sig", "replace"), hashlib.sha256(content).hexdigest()[:VERSION_LENGTH])


class ServerTermsNotAcceptedError(ForbiddenError):
    """The user has not accepted the current terms of the server.

    Attributes:
        version: of the terms.
    """

    code, title = "server_terms_not_accepted", "Accept the terms of this server first"

    def __init__(self, version: str) -> None:
        super().__init__(
            "You have not accepted the present terms of this server. Read and accept them at /terms, or with "
            "POST /api/v1/account/terms. Nothing was changed."
        )
        self.version = version


def due(path: Path | None, user: User) -> Terms | None:
    """Return the terms in a file if a user still has to accept them.

    Raises:
        OSError: the file cannot be read.
    """
    terms = Terms.read(path)
    return terms if terms is not None and terms.version != user.terms_version else None


def accept(session: Session, *, path: Path | None, user: User, version: str) -> None:
    """Accept the terms of the server. Idempotent.

    Args:
        path: their file.
        version: that the user has read.

    Raises:
        NotFoundError: the server has no terms.
        ConflictError: they have changed once more.
    """
    terms = Terms.read(path)
    if terms is None:
        raise NotFoundError("This server has no terms.")
    if version != terms.version:
        raise ConflictError("The terms have changed. Read and accept them.")
    stored = queries.locked_user(session, user.id)
    if stored is not None and stored.terms_version != version:
        stored.terms_version, stored.terms_accepted_at = version, now()
        audit.record(session, actor=stored, action="user.accept_terms", subject=stored, details={"version": version})
