"""Resumable uploads in the database: who has which, how much of each is on disk, and until when.

The number of received bytes is only set after they were brought to disk, so it is also right after a crash. A request
that writes to an upload holds the lock of its file (`app.storage.unfinished_files`).
"""

import base64
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Select, delete, select, update
from sqlalchemy.orm import Session, joinedload

from vocboard.app.accounts.models import User
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, InvalidInputError, NotFoundError
from vocboard.app.uploads import service as uploads
from vocboard.app.uploads.limits import PersonLimits, ServerLimits
from vocboard.app.uploads.models import ResumableUpload, Upload
from vocboard.app.uploads.service import Attempt

MOST_PARTS = 10_000  # of an upload: each costs a request and a flush to disk
NO_UPLOAD = "This upload does not exist. It may have expired, or been submitted already."


@dataclass(frozen=True, slots=True)
class Retention:
    """How many unfinished uploads of a person are kept, and for how long."""

    count: int
    kept_for: timedelta


def file_name(client_metadata: str) -> str:
    """Return the file name in an upload's metadata, without directories; empty if there is none.

    Source: tus resumable upload protocol 1.0.0, header Upload-Metadata: pairs of a key and a value in Base64.

    Raises:
        InvalidInputError: the metadata are malformed.

    >>> file_name("filename cmVzdWx0cy50YXIuZ3o=,filetype")
    'results.tar.gz'
    """
    values: dict[str, str] = {}
    for pair in filter(None, client_metadata.split(",")):
        key, _, value = pair.strip().partition(" ")
        try:
            values[key] = base64.b64decode(value, validate=True).decode("utf-8")
        except ValueError:
            raise InvalidInputError({"Upload-Metadata": f"The value of {key!r} is not UTF-8 in Base64."}) from None
    return values.get("filename", "").replace("\\", "/").rpartition("/")[2]


def create(
    session: Session,
    attempt: Attempt,
    *,
    challenge_id: uuid.UUID,
    phase_key: str,
    is_rehearsal: bool,
    client_metadata: str,
    person: PersonLimits,
    server: ServerLimits,
    retention: Retention,
) -> tuple[uuid.UUID, Sequence[uuid.UUID]]:
    """Create an upload. If the person has too many, the oldest ones that nothing is being sent to are removed.

    Returns:
        The id of the upload, and those of the removed ones, whose files can be removed after the commit.

    Raises:
        LimitedError: a limit of attempts or bytes is reached.
        TooLargeError: it is larger than the daily limit.
    """
    upload_id = uploads.begin(session, attempt, person=person, server=server)
    instant = now()
    session.add(
        ResumableUpload(
            id=upload_id,
            created_at=instant,
            expires_at=instant + retention.kept_for,
            user_id=attempt.user_id,
            challenge_id=challenge_id,
            phase_key=phase_key,
            is_rehearsal=is_rehearsal,
            client_metadata=client_metadata,
            byte_count=attempt.byte_count,
        )
    )
    session.flush()
    kept = session.execute(
        select(ResumableUpload, Upload.lease_expires_at)
        .join(Upload, Upload.id == ResumableUpload.id)
        .where(ResumableUpload.user_id == attempt.user_id)
        .order_by(ResumableUpload.created_at)
    ).all()
    idle = [
        other
        for other, lease_expires_at in kept
        if other.id != upload_id and (lease_expires_at is None or lease_expires_at <= instant)
    ]
    removed = idle[: max(0, len(kept) - retention.count)]
    for other in removed:
        remove(session, other)
    return upload_id, [other.id for other in removed]


def own(session: Session, user: User) -> Sequence[ResumableUpload]:
    """Return the person's uploads, newest first."""
    query = _present().where(ResumableUpload.user_id == user.id).order_by(ResumableUpload.created_at.desc())
    return session.scalars(query).all()


def find_own(session: Session, upload_id: uuid.UUID, user: User) -> ResumableUpload | None:
    """Return an upload of the person with its challenge; None if there is none."""
    query = _present().where(ResumableUpload.id == upload_id, ResumableUpload.user_id == user.id)
    return session.scalars(query).one_or_none()


def get_own(session: Session, upload_id: uuid.UUID, user: User) -> ResumableUpload:
    """Return an upload of the person with its challenge.

    Raises:
        NotFoundError: there is none, it is somebody else's, or it has expired.
    """
    found = find_own(session, upload_id, user)
    if found is None:
        raise NotFoundError(NO_UPLOAD)
    return found


def begin_part(
    session: Session, upload: ResumableUpload, attempt: Attempt, *, person: PersonLimits, server: ServerLimits
) -> None:
    """Let the next part arrive. The caller has the file locked.

    Raises:
        ConflictError: the upload has had too many parts.
        LimitedError: too many other uploads are in progress.
    """
    if upload.part_count >= MOST_PARTS:
        raise ConflictError(f"The upload has arrived in more than {MOST_PARTS:,} parts. Start again with larger ones.")
    uploads.begin_part(session, upload.id, attempt, person=person, server=server)
    session.execute(
        update(ResumableUpload).where(ResumableUpload.id == upload.id).values(part_count=ResumableUpload.part_count + 1)
    )


def record(session: Session, upload_id: uuid.UUID, received_bytes: int) -> None:
    """Store how many bytes of an upload are on disk.

    Raises:
        NotFoundError: it was removed in the meantime.
    """
    changed = session.execute(
        update(ResumableUpload)
        .where(ResumableUpload.id == upload_id)
        .values(received_bytes=received_bytes)
        .returning(ResumableUpload.id)
    ).all()
    if not changed:
        raise NotFoundError(NO_UPLOAD)


def remove(session: Session, upload: ResumableUpload) -> None:
    """Remove an upload; the bytes that have arrived still count. Its file can be removed after the commit."""
    session.execute(
        update(Upload).where(Upload.id == upload.id).values(byte_count=upload.received_bytes, lease_expires_at=None)
    )
    session.execute(delete(ResumableUpload).where(ResumableUpload.id == upload.id))


def remove_expired(session: Session) -> None:
    """Remove the expired uploads of all people."""
    for upload in session.scalars(select(ResumableUpload).where(ResumableUpload.expires_at <= now())).all():
        remove(session, upload)


def existing(session: Session, ids: Sequence[uuid.UUID]) -> set[uuid.UUID]:
    """Return those of the ids that uploads have."""
    return set(session.scalars(select(ResumableUpload.id).where(ResumableUpload.id.in_(ids))))


def _present() -> Select[ResumableUpload]:
    return (
        select(ResumableUpload).options(joinedload(ResumableUpload.challenge)).where(ResumableUpload.expires_at > now())
    )
