"""Idempotency keys of uploads: a request that is repeated with its key returns the submission that it has made.

A key is stored with the submission, in the same transaction, so there is never one without the other. What was rejected
stores none: it is checked again. Keys belong to a person, so nobody can use up or try out those of somebody else.

Source: IETF draft "The Idempotency-Key HTTP Header Field", version 07, sections 2.6 and 2.7.
"""

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import KeptAnswer, User
from vocboard.app.database import now
from vocboard.app.errors import ServiceError
from vocboard.app.submissions.models import IdempotencyKey, Submission

KEPT_FOR = timedelta(days=1)
KEYS_PER_PERSON = 100  # the oldest are forgotten first
MAX_KEY_LENGTH = 255  # characters


class ReusedKeyError(ServiceError):
    """The key was used for another request.

    Args:
        submission_id: what that request submitted.
    """

    status, code, title = 422, "idempotency_key_reused", "The idempotency key was used before"

    def __init__(self, submission_id: uuid.UUID) -> None:
        super().__init__(
            f"This idempotency key was used for the submission {submission_id}, with another archive or other fields. "
            f"Nothing was submitted now. To submit this as well, use a new key."
        )
        self.submission_id = submission_id


@dataclass(frozen=True, slots=True)
class RepeatableRequest:
    """A request with an idempotency key.

    Attributes:
        sha256: of what is submitted; see `request_sha256`.
    """

    key: str
    sha256: str


def request_sha256(target: Mapping[str, object], fields: Mapping[str, Sequence[str]], archive: str) -> str:
    """Return the hexadecimal SHA-256 of what a request submits: equal for a request that is repeated.

    Args:
        target: what it is submitted to.
        fields: all values of the form's fields.
        archive: identifies the archive: its name and SHA-256, or the upload that it is in.
    """
    values = {name: list(given) for name, given in fields.items()}
    described = json.dumps([dict(target), values, archive], sort_keys=True)
    return hashlib.sha256(described.encode()).hexdigest()


def is_known(session: Session, user: User, key: str) -> bool:
    """Whether a submission of the person was accepted with this key in the last `KEPT_FOR`."""
    return _find(session, user, key) is not None


def earlier_submission(session: Session, user: User, request: RepeatableRequest) -> uuid.UUID | None:
    """Return the id of the submission that this request has already made; None if the key is new.

    Raises:
        ReusedKeyError: the key belongs to another request of this person.
    """
    found = _find(session, user, request.key)
    if found is None:
        return None
    if found.request_sha256 != request.sha256:
        raise ReusedKeyError(found.submission_id)
    return found.submission_id


def remember(session: Session, user: User, request: RepeatableRequest, submission: Submission) -> None:
    """Store the key of an accepted request. The caller has locked the person, so that only one request has the key."""
    _forget_all_but(session, user, KEYS_PER_PERSON - 1)
    session.execute(delete(IdempotencyKey).where(IdempotencyKey.user_id == user.id, IdempotencyKey.key == request.key))
    session.add(
        IdempotencyKey(user_id=user.id, key=request.key, request_sha256=request.sha256, submission_id=submission.id)
    )
    session.flush()


def forget_expired(session: Session) -> None:
    """Delete the keys and the kept answers (`app.web.idempotency`) of all people that are older than `KEPT_FOR`."""
    session.execute(delete(KeptAnswer).where(KeptAnswer.created_at <= _oldest()))
    session.execute(delete(IdempotencyKey).where(IdempotencyKey.created_at <= _oldest()))


def _find(session: Session, user: User, key: str) -> IdempotencyKey | None:
    return session.scalars(
        select(IdempotencyKey).where(
            IdempotencyKey.user_id == user.id, IdempotencyKey.key == key, IdempotencyKey.created_at > _oldest()
        )
    ).one_or_none()


def _forget_all_but(session: Session, user: User, count: int) -> None:
    is_own = IdempotencyKey.user_id == user.id
    surplus = session.scalars(
        select(IdempotencyKey.key).where(is_own).order_by(IdempotencyKey.created_at.desc()).offset(count)
    ).all()
    if surplus:
        session.execute(delete(IdempotencyKey).where(is_own, IdempotencyKey.key.in_(surplus)))


def _oldest() -> datetime:
    return now() - KEPT_FOR
