"""Resumable uploads over HTTP: begun, received in parts, and removed. `Intake` checks and submits them."""

import logging
import uuid
from collections.abc import AsyncIterator, Iterable
from functools import partial

from anyio import to_thread
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import ClientDisconnect, Request

from vocboard.app.accounts.models import User
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError, NotFoundError, too_large
from vocboard.app.intake import resumable
from vocboard.app.intake.accepting import Destination, find_target
from vocboard.app.intake.body import Pace, stream_to_thread
from vocboard.app.intake.body_limit import raise_limit
from vocboard.app.intake.limits import limits_of
from vocboard.app.intake.models import ResumableUpload, UploadKind
from vocboard.app.intake.receiving import disk_is_full, lease_renewed, place_of
from vocboard.app.intake.service import Intake, UploadInUseError, lost
from vocboard.app.settings import MEBIBYTE
from vocboard.app.storage.local_files import InUseError, LostFileError, UnfinishedFile

WRITTEN_FROM_BYTES = 64 * 1024  # what is not written yet is lost when the body arrives too slowly
RECORDED_EVERY_BYTES = 16 * MEBIBYTE

_log = logging.getLogger(__name__)


class WrongOffsetError(ConflictError):
    """The part does not begin where the upload ends."""

    code, title = "wrong_offset", "Wrong offset"


def create(
    intake: Intake, request: Request, destination: Destination, *, user: User, client_metadata: str, byte_count: int
) -> ResumableUpload:
    """Begin a resumable upload, before any of its bytes.

    Raises:
        NotFoundError, ForbiddenError, ConflictError, LimitedError: as `find_target`.
        LimitedError: a limit of attempts or bytes is reached.
        TooLargeError: it is larger than allowed.
        StorageFullError: the disk has no room for it.
    """
    limit = intake.settings.upload_limit_bytes
    if byte_count > limit:
        raise too_large(limit)
    target = find_target(intake.database, destination, user, at=now())
    if intake.store.unfinished.free_bytes() < byte_count:
        raise disk_is_full()
    settings = intake.settings
    with intake.database.writing() as session:
        upload_id, removed = resumable.create(
            session,
            place_of(request, user, UploadKind.RESUMABLE, byte_count),
            limits_of(settings, UploadKind.RESUMABLE),
            challenge_id=target.challenge.id,
            phase_id=target.phase.id,
            is_rehearsal=destination.is_rehearsal,
            client_metadata=client_metadata,
            kept=settings.unfinished_uploads,
            kept_for=settings.unfinished_uploads_kept_for,
        )
        created = resumable.get_own(session, upload_id, user)
    for other in removed:
        intake.store.unfinished.remove(other)
    return created


def remove(intake: Intake, upload_id: uuid.UUID, user: User) -> None:
    """Remove a resumable upload with its file.

    Raises:
        NotFoundError: there is none, or it is another person's.
    """
    with intake.database.writing() as session:
        resumable.remove(session, resumable.get_own(session, upload_id, user).id)
    intake.store.unfinished.remove(upload_id)


async def append(intake: Intake, request: Request, upload_id: uuid.UUID, *, user: User, offset: int) -> ResumableUpload:
    """Receive the next part of a resumable upload: the body of the request.

    Returns:
        The upload with what has been received of it.

    Raises:
        NotFoundError: as `find`.
        UploadInUseError: another request writes to it, or it is being checked.
        WrongOffsetError: the part does not begin where the upload ends.
        UploadTooSlowError: its parts have taken too long, or were too many; it is removed.
        TooLargeError: the part is larger than what is missing.
        TooSlowError: the body arrives too slowly.
        LimitedError: too many other uploads are in progress.
        StorageFullError: the disk is full.
        ClientDisconnect: the client disconnected.
    """
    limits = limits_of(intake.settings, UploadKind.RESUMABLE)
    upload, file = await to_thread.run_sync(partial(_begin, intake, request, upload_id, user=user, offset=offset))
    pace = Pace(
        duration=limits.duration,
        bytes_per_second=limits.bytes_per_second,
        spent_seconds=upload.receiving_seconds,
    )
    part = Part(intake.database, upload, file, pace)
    async with lease_renewed(intake.database, upload.id, limits, pace, end=part.end):
        message = "The part is larger than what is missing of the upload."
        raise_limit(request, file=upload.byte_count - offset, fields=0, message=message)
        async with pace.enforced():
            body = pace.stream(part.until_disconnect(request.stream()))
            await stream_to_thread(body, part.feed, batch_bytes=WRITTEN_FROM_BYTES)
        if part.was_disconnected:
            raise ClientDisconnect
    return await to_thread.run_sync(intake.find, upload_id, user)


def _begin(
    intake: Intake, request: Request, upload_id: uuid.UUID, *, user: User, offset: int
) -> tuple[ResumableUpload, UnfinishedFile]:
    """Lock the upload's file, then check the offset, which no other request changes from now on."""
    found = intake.find(upload_id, user)
    _check_offset(found, offset)
    try:
        file = intake.store.unfinished.open(upload_id, may_create=offset == 0)
    except InUseError as error:
        raise UploadInUseError(
            "Another request is sending this upload. If its connection was lost, try again in half a minute."
        ) from error
    except LostFileError as error:
        raise lost(found) from error
    try:
        with intake.database.writing() as session:
            upload = resumable.get_own(session, upload_id, user)
            _check_offset(upload, offset)
            file.begin_at(offset)
            resumable.begin_part(
                session,
                upload,
                place_of(request, user, UploadKind.RESUMABLE, 0),
                limits_of(intake.settings, UploadKind.RESUMABLE),
            )
    except BaseException as error:
        file.close()
        if isinstance(error, LostFileError):
            raise lost(found) from error
        if isinstance(error, resumable.UploadTooSlowError) and not found.is_finished:
            remove(intake, upload_id, user)  # or a client would find it, and try to continue it
        raise
    return upload, file


class Part:
    """Writes a part of a resumable upload, in threads, one at a time.

    It is recorded every `RECORDED_EVERY_BYTES` and at its end, however it ends: its client disconnects, it arrives too
    slowly, the disk is full. What has been received since then is lost, and sent again, if the process is killed or
    the database fails.

    Attributes:
        was_disconnected: whether the client disconnected before the end of the part.
    """

    def __init__(self, database: Database, upload: ResumableUpload, file: UnfinishedFile, pace: Pace) -> None:
        self._database = database
        self._upload = upload
        self._file = file
        self._pace = pace
        self._recorded = file.size
        self._is_removed = False
        self.was_disconnected = False

    async def until_disconnect(self, body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Yield the chunks of a body; end it where the client disconnects, so that what has arrived is written."""
        try:
            async for piece in body:
                yield piece
        except ClientDisconnect:
            self.was_disconnected = True

    def feed(self, pieces: Iterable[bytes]) -> None:
        """Write the next chunks."""
        for piece in pieces:
            self._file.write(piece)
            if self._file.size - self._file.synced >= RECORDED_EVERY_BYTES:
                self._record()

    def end(self) -> None:
        """Record what has been written, end the part, and release the file.

        It cannot be done again when the database fails: the next part can begin as soon as the file is released.
        """
        try:
            if self._file.synced < self._file.size:
                self._record()
        except SQLAlchemyError as error:
            _log.warning("could not record the end of a part of upload %s: %s", self._upload.id, error)
        finally:
            uncounted = self._file.size - self._recorded if self._is_removed else 0
            try:
                with self._database.writing() as session:
                    resumable.end_part(
                        session, self._upload.id, seconds=self._pace.waited_seconds, uncounted_bytes=uncounted
                    )
            except SQLAlchemyError as error:  # the lease expires by itself
                _log.warning("could not end a part of upload %s: %s", self._upload.id, error)
            finally:
                self._file.close()  # last: the lease of the next part would end with this one

    def _record(self) -> None:
        size = self._file.sync()
        try:
            with self._database.writing() as session:
                resumable.record(session, self._upload.id, size)
        except NotFoundError:
            self._is_removed = True
            raise
        self._recorded = size


def _check_offset(upload: ResumableUpload, offset: int) -> None:
    if upload.received_bytes != offset:
        raise WrongOffsetError(f"The upload has {upload.received_bytes:,} bytes; the part begins at {offset:,}.")
