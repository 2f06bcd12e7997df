"""Resumable uploads in the database: who has which, how much of each is on disk, and until when.

The number of received bytes is only set after they were flushed to disk, so it is also right after a crash. A request
that writes to an upload holds the lock of its file (`app.storage.local_files`).
"""

import base64
import logging
import uuid
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Select, delete, select, update
from sqlalchemy.orm import Session, joinedload

from vocboard.app.accounts.models import User
from vocboard.app.database import Database, lock_for_transaction, now, server_time
from vocboard.app.errors import InvalidInputError, NotFoundError, ServiceError
from vocboard.app.forms import cleaned
from vocboard.app.intake import attempts as uploads
from vocboard.app.intake.limits import Limits, Place
from vocboard.app.intake.models import ResumableUpload, Upload
from vocboard.app.storage.archives import ArchiveStore

MAX_PARTS = 2_000  # of an upload: each costs a request and a flush to disk
# How long all parts of an upload may be idle together before it counts as slower than the minimum rate.
IDLE_TIME = timedelta(minutes=5)
VALIDATIONS = 2  # that the attempt to upload includes: a check, and the submission
MAX_FILE_NAME_LENGTH = 255
NO_UPLOAD = "This upload does not exist. It may have expired, or been submitted already."
LOST_UPLOAD = "The server has lost what was sent of this upload. Send the file again."

_log = logging.getLogger(__name__)


class UploadTooSlowError(ServiceError):
    """The parts of the upload have taken too long, or were too many. It cannot be continued."""

    status, code, title = 410, "upload_too_slow", "The upload cannot be continued"


def file_name(client_metadata: str) -> str:
    """Return the file name in an upload's metadata; empty if there is none.

    It has no directories, no invisible characters, and is shortened at the start.

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
    return cleaned(values.get("filename", "").replace("\\", "/").rpartition("/")[2])[-MAX_FILE_NAME_LENGTH:]


def create(
    session: Session,
    place: Place,
    limits: Limits,
    *,
    challenge_id: uuid.UUID,
    phase_id: uuid.UUID,
    is_rehearsal: bool,
    client_metadata: str,
    kept: int,
    kept_for: timedelta,
) -> tuple[uuid.UUID, Sequence[uuid.UUID]]:
    """Create an upload. If the person has too many, the oldest ones that nothing is being sent to are removed.

    Args:
        kept: how many unfinished uploads of a person are kept.
        kept_for: for how long.

    Returns:
        The id of the upload, and those of the removed ones, whose files can be removed after the commit.

    Raises:
        LimitedError: a limit of attempts or bytes is reached.
        TooLargeError: it is larger than the daily limit.
    """
    upload_id = uploads.begin(session, place, limits)
    instant = now()
    session.add(
        ResumableUpload(
            id=upload_id,
            created_at=instant,
            expires_at=instant + kept_for,
            user_id=place.user_id,
            challenge_id=challenge_id,
            phase_id=phase_id,
            is_rehearsal=is_rehearsal,
            client_metadata=client_metadata,
            byte_count=place.byte_count,
        )
    )
    session.flush()
    present = server_time(session)
    existing = session.execute(
        select(ResumableUpload, Upload.lease_expires_at)
        .join(Upload, Upload.id == ResumableUpload.id)
        .where(ResumableUpload.user_id == place.user_id)
        .order_by(ResumableUpload.created_at)
    ).all()
    idle = [
        other
        for other, lease_expires_at in existing
        if other.id != upload_id and (lease_expires_at is None or lease_expires_at <= present)
    ]
    removed = idle[: max(0, len(existing) - kept)]
    for other in removed:
        remove(session, other.id)
    return upload_id, [other.id for other in removed]


def own(session: Session, user: User) -> Sequence[ResumableUpload]:
    """Return the person's uploads, newest first."""
    query = _present().where(ResumableUpload.user_id == user.id).order_by(ResumableUpload.created_at.desc())
    return session.scalars(query).all()


def find_own(session: Session, upload_id: uuid.UUID, user_id: uuid.UUID) -> ResumableUpload | None:
    """Return an upload of the person with its challenge; None if there is none."""
    query = _present().where(ResumableUpload.id == upload_id, ResumableUpload.user_id == user_id)
    return session.scalars(query).one_or_none()


def get_own(session: Session, upload_id: uuid.UUID, user: User) -> ResumableUpload:
    """Return an upload of the person with its challenge.

    Raises:
        NotFoundError: there is none, it is somebody else's, or it has expired.
    """
    found = find_own(session, upload_id, user.id)
    if found is None:
        raise NotFoundError(NO_UPLOAD)
    return found


def begin_part(session: Session, upload: ResumableUpload, place: Place, limits: Limits) -> None:
    """Let the next part arrive. The caller has the file locked.

    Raises:
        UploadTooSlowError: its parts have taken too long, or were too many.
        LimitedError: too many other uploads are in progress.
    """
    if upload.part_count >= MAX_PARTS:
        raise UploadTooSlowError(
            f"The upload has arrived in more than {MAX_PARTS:,} parts. Start again with larger ones."
        )
    _check_pace(upload, limits)
    uploads.begin_part(session, upload.id, place, limits)
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


def end_part(session: Session, upload_id: uuid.UUID, *, seconds: float, uncounted_bytes: int = 0) -> None:
    """End a part.

    Args:
        seconds: that the server has waited for its bytes.
        uncounted_bytes: received after the upload was removed.
    """
    session.execute(
        update(ResumableUpload)
        .where(ResumableUpload.id == upload_id)
        .values(receiving_seconds=ResumableUpload.receiving_seconds + seconds)
    )
    uploads.end_part(session, upload_id, more_bytes=uncounted_bytes)


def begin_validation(session: Session, upload_id: uuid.UUID, place: Place, limits: Limits) -> bool:
    """Let a finished upload be checked or submitted as part of the attempt that has begun it.

    Returns:
        Whether it may. Otherwise this is a new attempt: the upload was validated `VALIDATIONS` times, or is in use.

    Raises:
        LimitedError: too many other uploads are in progress.
    """
    lock_for_transaction(session, "uploads")
    upload = find_own(session, upload_id, place.user_id)
    if upload is None or not upload.is_finished or upload.validation_count >= VALIDATIONS:
        return False
    if uploads.is_in_progress(session, upload_id):
        return False
    uploads.begin_part(session, upload_id, place, limits)
    upload.validation_count += 1
    session.flush()
    return True


def remove(session: Session, upload_id: uuid.UUID) -> bool:
    """Remove an upload; the bytes that have arrived still count. Its file can be removed after the commit.

    What is being sent to it counts as in progress until that ends.

    Returns:
        Whether it was there.
    """
    removed = session.execute(
        delete(ResumableUpload)
        .where(ResumableUpload.id == upload_id)
        .returning(ResumableUpload.byte_count, ResumableUpload.received_bytes)
    ).one_or_none()
    if removed is None:
        return False
    uploads.return_bytes(session, upload_id, removed.byte_count - removed.received_bytes)
    return True


def _check_pace(upload: ResumableUpload, limits: Limits) -> None:
    """Check that an upload has not used up its time: of many short parts, none is too slow or too long by itself.

    Raises:
        UploadTooSlowError: it has.
    """
    allowed = limits.duration.total_seconds()
    if limits.bytes_per_second:
        allowed = min(allowed, upload.received_bytes / limits.bytes_per_second + IDLE_TIME.total_seconds())
    if upload.receiving_seconds >= allowed:
        raise UploadTooSlowError(
            f"The upload has taken too long: an upload may take {limits.duration.total_seconds() / 60:g} minutes in "
            f"all, and has to bring {limits.bytes_per_second:,} bytes per second. Start again, on a faster connection."
        )


def _present() -> Select[ResumableUpload]:
    return (
        select(ResumableUpload)
        .options(joinedload(ResumableUpload.challenge), joinedload(ResumableUpload.phase))
        .where(ResumableUpload.expires_at > now())
    )


def remove_expired(database: Database, store: ArchiveStore) -> int:
    """Remove what can no longer be continued or submitted; return the number of removed files.

    Safe during uploads, and in several processes at the same time: a file is only created for an upload that is there.
    """
    with database.writing() as session:
        expired = select(ResumableUpload.id).where(ResumableUpload.expires_at <= now())
        for upload_id in session.scalars(expired).all():
            remove(session, upload_id)
    ids = list(store.unfinished.ids())
    with database.reading() as session:
        existing = set(session.scalars(select(ResumableUpload.id).where(ResumableUpload.id.in_(ids))))
    unused = [upload_id for upload_id in ids if upload_id not in existing]
    for upload_id in unused:
        store.unfinished.remove(upload_id)
    if unused:
        _log.info("removed the files of %d resumable uploads", len(unused))
    return len(unused)
