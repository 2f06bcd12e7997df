"""Begins and ends uploads. An attempt is recorded before its body is read."""

import uuid
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, delete, or_, select, update
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.database import lock_for_transaction, now, server_time
from vocboard.app.errors import LimitedError, TooLargeError
from vocboard.app.intake.limits import (
    ATTEMPTS_PERIOD,
    BYTES_PERIOD,
    LEASE,
    Limits,
    Place,
    is_new,
    kinds_with,
    minimum_rate,
    refusal,
)
from vocboard.app.intake.models import Upload, UploadKind
from vocboard.app.rate_limits import Standing, tell, tell_refused

_BUSY_RETRY = timedelta(seconds=10)  # suggested retry time, since the duration of other uploads is unknown


@dataclass(frozen=True, slots=True)
class Rejected:
    """Uploads to a challenge whose archives were rejected.

    Attributes:
        uploads: their number.
        people: who sent them.
        codes: of each error, the most frequent first: the code, and the numbers of uploads and people that had it.
    """

    uploads: int
    people: int
    codes: tuple[tuple[str, int, int], ...]


class _EarlierUpload(NamedTuple):
    created_at: datetime
    byte_count: int


def begin(session: Session, place: Place, limits: Limits) -> uuid.UUID:
    """Record an attempt, which is in progress until `end` or until its lease expires; a resumable one, in its parts.

    Transactions are serialised, so that parallel uploads cannot exceed a limit. Attempts that are rejected here are not
    recorded, because they are as cheap as any other request.

    Returns:
        The upload's id.

    Raises:
        LimitedError: a limit is reached; `allowed_at` is when the next attempt is allowed.
        TooLargeError: the body is larger than the daily limit.
    """
    lock_for_transaction(session, "uploads")
    instant = server_time(session)
    _forget_old(session, instant, limits)
    earlier = _earlier_uploads(session, place, instant)
    attempts = [*_check_attempts(earlier, limits, instant), instant]
    _check_bytes(earlier, place, limits)
    if place.kind is not UploadKind.RESUMABLE:
        _check_places(session, place, limits, instant)
    upload = Upload(
        created_at=instant,
        kind=place.kind,
        user_id=place.user_id,
        address=place.network,
        byte_count=place.byte_count,
        # Between the parts of a resumable upload, nothing is in progress.
        lease_expires_at=None if place.kind is UploadKind.RESUMABLE else instant + LEASE,
    )
    session.add(upload)
    session.flush()
    tell(session, _of_attempts(limits, attempts))
    tell(session, _of_bytes(limits, [*earlier, _EarlierUpload(instant, place.byte_count)]))
    return upload.id


def begin_part(session: Session, upload_id: uuid.UUID, place: Place, limits: Limits) -> None:
    """Let the next part of a resumable upload arrive, or let the upload be validated.

    It is in progress until `end_part`, or until its lease expires.

    Raises:
        LimitedError: too many other uploads are in progress.
    """
    lock_for_transaction(session, "uploads")
    instant = server_time(session)
    # A part that broke off with its process may still have its lease.
    session.execute(update(Upload).where(Upload.id == upload_id).values(lease_expires_at=None))
    size = session.scalars(select(Upload.byte_count).where(Upload.id == upload_id)).one()
    _check_places(session, replace(place, byte_count=size), limits, instant)
    session.execute(
        update(Upload).where(Upload.id == upload_id).values(lease_expires_at=instant + LEASE, address=place.network)
    )


def end_part(session: Session, upload_id: uuid.UUID, *, more_bytes: int = 0) -> None:
    """End what `begin_part` has begun; the announced bytes of the upload still count.

    Args:
        more_bytes: received beyond those that were announced.
    """
    session.execute(
        update(Upload)
        .where(Upload.id == upload_id)
        .values(lease_expires_at=None, byte_count=Upload.byte_count + more_bytes)
    )


def return_bytes(session: Session, upload_id: uuid.UUID, byte_count: int) -> None:
    """Count fewer bytes against the daily limit: those that were announced and will not arrive."""
    session.execute(update(Upload).where(Upload.id == upload_id).values(byte_count=Upload.byte_count - byte_count))


def is_in_progress(session: Session, upload_id: uuid.UUID) -> bool:
    """Whether something is being done with an upload."""
    expires_at = session.scalar(select(Upload.lease_expires_at).where(Upload.id == upload_id))
    return expires_at is not None and expires_at > server_time(session)


def renew(session: Session, upload_id: uuid.UUID, limits: Limits) -> int:
    """Renew the lease of an upload in progress. One that has just ended, in another thread, has none.

    Returns:
        How many bytes per second it has to bring from now on.
    """
    instant = server_time(session)
    has_lease = Upload.id == upload_id, Upload.lease_expires_at.is_not(None)
    session.execute(update(Upload).where(*has_lease).values(lease_expires_at=instant + LEASE))
    in_progress = _in_progress(session, instant)
    own = in_progress.pop(upload_id, None)
    return limits.bytes_per_second if own is None else minimum_rate(own, in_progress.values(), limits)


def count_in_progress(session: Session) -> int:
    """Return the number of uploads that are arriving or being validated."""
    return len(_in_progress(session, server_time(session)))


def end(session: Session, upload_id: uuid.UUID, *, received_bytes: int) -> None:
    """End an upload; its received bytes still count against the daily limit."""
    session.execute(
        update(Upload).where(Upload.id == upload_id).values(lease_expires_at=None, byte_count=received_bytes)
    )


def reject(session: Session, upload_id: uuid.UUID, challenge_id: uuid.UUID, codes: Collection[str]) -> None:
    """Store why the archive of an upload was rejected, for organisers to count. The address is no longer needed."""
    session.execute(
        update(Upload)
        .where(Upload.id == upload_id)
        .values(challenge_id=challenge_id, rejected_for=sorted(set(codes)), address="")
    )


def rejected(session: Session, challenge_id: uuid.UUID, *, kept_for: timedelta) -> Rejected:
    """Count the rejected uploads to a challenge that the viewer organises (the caller checks).

    Args:
        kept_for: how long rejected uploads are kept; older ones do not count, even if they are not deleted yet.
    """
    query = select(Upload.user_id, Upload.rejected_for).where(
        Upload.challenge_id == challenge_id, Upload.created_at > now() - kept_for, Upload.rejected_for.is_not(None)
    )
    rows = session.execute(query).all()
    uploads = Counter(code for row in rows for code in row.rejected_for or ())
    people = Counter(code for _, code in {(row.user_id, code) for row in rows for code in row.rejected_for or ()})
    return Rejected(
        len(rows),
        len({row.user_id for row in rows}),
        tuple(
            (code, count, people[code]) for code, count in sorted(uploads.items(), key=lambda item: (-item[1], item[0]))
        ),
    )


def _forget_old(session: Session, instant: datetime, limits: Limits) -> None:
    is_over = or_(Upload.lease_expires_at.is_(None), Upload.lease_expires_at <= instant)
    is_not_counted = or_(Upload.rejected_for.is_(None), Upload.created_at <= instant - limits.rejected_kept_for)
    session.execute(delete(Upload).where(Upload.created_at <= instant - BYTES_PERIOD, is_over, is_not_counted))


def _earlier_uploads(session: Session, place: Place, instant: datetime) -> Sequence[_EarlierUpload]:
    """Return the uploads of the person that can count, oldest first."""
    query = select(Upload.created_at, Upload.byte_count).where(
        _of_person(place), Upload.created_at > instant - BYTES_PERIOD
    )
    return [_EarlierUpload(*row) for row in session.execute(query.order_by(Upload.created_at))]


def _of_attempts(limits: Limits, counted: Sequence[datetime]) -> Standing:
    remaining = max(0, limits.attempts - len(counted))
    return Standing("uploads", limits.attempts, ATTEMPTS_PERIOD, remaining, counted[0] + ATTEMPTS_PERIOD)


def _of_bytes(limits: Limits, counted: Sequence[_EarlierUpload]) -> Standing:
    remaining = max(0, limits.bytes_per_day - sum(upload.byte_count for upload in counted))
    more_at = counted[0].created_at + BYTES_PERIOD
    return Standing("upload_bytes", limits.bytes_per_day, BYTES_PERIOD, remaining, more_at, "content-bytes")


def _check_attempts(earlier: Sequence[_EarlierUpload], limits: Limits, instant: datetime) -> list[datetime]:
    """Return when the attempts were that count."""
    counted = [upload.created_at for upload in earlier if upload.created_at > instant - ATTEMPTS_PERIOD]
    if len(counted) >= limits.attempts:
        tell_refused(replace(_of_attempts(limits, counted), more_at=counted[-limits.attempts] + ATTEMPTS_PERIOD))
        raise LimitedError(
            f"You have tried to upload {limits.attempts} times within an hour. Rejected and cancelled uploads also "
            f"count.",
            allowed_at=counted[-limits.attempts] + ATTEMPTS_PERIOD,
        )
    return counted


def _check_bytes(earlier: Sequence[_EarlierUpload], place: Place, limits: Limits) -> None:
    if place.byte_count > limits.bytes_per_day:
        raise TooLargeError(f"You may upload {limits.bytes_per_day:,} bytes in any 24 hours.")
    excess = sum(upload.byte_count for upload in earlier) + place.byte_count - limits.bytes_per_day
    allowed_at = None
    for upload in earlier:  # the oldest stop counting first
        if excess <= 0:
            break
        excess -= upload.byte_count
        allowed_at = upload.created_at + BYTES_PERIOD
    if allowed_at is not None:
        tell_refused(replace(_of_bytes(limits, earlier), more_at=allowed_at))
        raise LimitedError(
            f"You may upload {limits.bytes_per_day:,} bytes in any 24 hours. Rejected, cancelled and withdrawn "
            f"uploads also count.",
            allowed_at=allowed_at,
        )


def _check_places(session: Session, place: Place, limits: Limits, instant: datetime) -> None:
    message = refusal(place, _in_progress(session, instant).values(), limits)
    if message is not None:
        raise LimitedError(message, allowed_at=now() + _BUSY_RETRY)


def _in_progress(session: Session, instant: datetime) -> dict[uuid.UUID, Place]:
    query = (
        select(Upload.id, Upload.user_id, Upload.address, Upload.kind, Upload.byte_count, User.created_at)
        .join(User, User.id == Upload.user_id)
        .where(Upload.lease_expires_at > instant)
    )
    return {
        upload_id: Place(user_id, address, kind, byte_count, is_new(created_at))
        for upload_id, user_id, address, kind, byte_count, created_at in session.execute(query)
    }


def _of_person(place: Place) -> ColumnElement[bool]:
    return and_(Upload.user_id == place.user_id, Upload.kind.in_(kinds_with(place.kind)))
