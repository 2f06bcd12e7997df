"""Receiving: attempts in progress and their leases, files that end with a block, and errors of the disk."""

import asyncio
import errno
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import anyio
from anyio import to_thread
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import ClientDisconnect, Request

from vocboard.app.accounts.models import User
from vocboard.app.counters import upload_counted
from vocboard.app.database import Database
from vocboard.app.errors import StorageFullError
from vocboard.app.intake import attempts, resumable
from vocboard.app.intake.body import Pace
from vocboard.app.intake.limits import LEASE, Limits, Place, is_new, limits_of
from vocboard.app.intake.models import UploadKind
from vocboard.app.intake.requests import client_address
from vocboard.app.rate_limits import network
from vocboard.app.settings import Settings
from vocboard.app.storage.local_files import IncomingFile, StoreUnavailableError, reporting_unavailable

END_RETRY_SECONDS = 1.0
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})

_log = logging.getLogger(__name__)
_ending: set[asyncio.Task[None]] = set()  # the event loop only keeps weak references


def disk_is_full() -> StorageFullError:
    """Return the error."""
    return StorageFullError(
        "The server has no disk space left for this upload. Nothing is wrong with your archive, and no quota was used. "
        "Try again later, or tell the operators of this server."
    )


@contextmanager
def reporting_disk_errors() -> Iterator[None]:
    """Raise `StorageFullError` if the disk is full when the block fails, `StoreUnavailableError` if it is damaged."""
    try:
        with reporting_unavailable():
            yield
    except OSError as error:
        if error.errno in _FULL:
            raise disk_is_full() from error
        raise


@dataclass(slots=True)
class InProgress:
    """An upload attempt in progress.

    Attributes:
        place: the upload.
        pace: the minimum pace of the body.
        rejected: the challenge that the archive was rejected for, and the codes of its errors.
    """

    request: Request
    place: Place
    pace: Pace
    rejected: tuple[uuid.UUID, Collection[str]] | None = None


def place_of(request: Request, user: User, kind: UploadKind, byte_count: int) -> Place:
    """Return the place that an upload wants."""
    return Place(user.id, network(client_address(request)), kind, byte_count, is_new(user.created_at))


@asynccontextmanager
async def upload_in_progress(
    request: Request,
    *,
    user: User,
    kind: UploadKind,
    database: Database,
    settings: Settings,
    resumable_id: uuid.UUID | None = None,
) -> AsyncIterator[InProgress]:
    """Record an upload attempt before its body is read, and end it with the block.

    Args:
        resumable_id: the finished resumable upload that is validated. Its first validations belong to the attempt that
            has begun it.

    Raises:
        LimitedError, TooLargeError: as `attempts.begin`.
        StorageFullError: the block fails because the disk is full.
    """
    limits = limits_of(settings, kind)
    place = place_of(request, user, kind, _announced_bytes(request, limits))
    pace = Pace(duration=limits.duration, bytes_per_second=limits.bytes_per_second)

    def begin() -> uuid.UUID:
        with database.writing(durable=False) as session:
            if resumable_id is not None and resumable.begin_validation(session, resumable_id, place, limits):
                return resumable_id
            return attempts.begin(session, place, limits)

    def end() -> None:
        with database.writing(durable=False) as session:
            if upload_id == resumable_id:
                attempts.end_part(session, upload_id, more_bytes=pace.received)
            else:
                attempts.end(session, upload_id, received_bytes=pace.received)
            if upload.rejected is not None:
                attempts.reject(session, upload_id, *upload.rejected)

    upload = InProgress(request, place, pace)
    upload_id = await to_thread.run_sync(begin)
    with upload_counted(kind, lambda: pace.received):
        async with lease_renewed(database, upload_id, limits, pace, end=end):
            yield upload


@asynccontextmanager
async def lease_renewed(
    database: Database, upload_id: uuid.UUID, limits: Limits, pace: Pace, *, end: Callable[[], None]
) -> AsyncIterator[None]:
    """Renew the lease of an upload and its minimum rate, and end it with the block, for any outcome.

    Args:
        end: called in a thread. If the database fails, it is tried again until the lease has expired.

    Raises:
        StorageFullError: the block fails because the disk is full.
    """

    def renew() -> None:
        with database.writing(durable=False) as session:
            pace.bytes_per_second = attempts.renew(session, upload_id, limits)

    async def keep_renewing() -> None:
        while True:
            await asyncio.sleep(LEASE.total_seconds() / 3)
            try:
                await to_thread.run_sync(renew)
            except SQLAlchemyError:
                _log.warning("could not renew the lease of upload %s", upload_id, exc_info=True)

    renewing = asyncio.create_task(keep_renewing())
    try:
        with reporting_disk_errors():
            yield
    finally:
        renewing.cancel()
        with anyio.CancelScope(shield=True):
            try:
                await to_thread.run_sync(end)
            except SQLAlchemyError as error:
                _log.warning("could not end upload %s; retrying in the background: %s", upload_id, error)
                _end_in_background(end, upload_id)


@asynccontextmanager
async def removed_at_end(incoming: IncomingFile) -> AsyncIterator[None]:
    """Remove an incoming file at the end of the block, in a thread because removing a large file takes time.

    Raises:
        StoreUnavailableError: the block fails because the file was lost, as when its directory is.
    """
    try:
        yield
    except FileNotFoundError as error:
        if incoming.path.exists():
            raise
        raise StoreUnavailableError(error.errno, error.strerror, error.filename) from error
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(incoming.remove)


@asynccontextmanager
async def fsynced_at_end(incoming: IncomingFile) -> AsyncIterator[None]:
    """Flush a complete file to disk while the block reads it. The block ends when both are done."""
    finishing = asyncio.create_task(to_thread.run_sync(incoming.finish))
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await asyncio.wait([finishing])
        error = finishing.exception()
    if error is not None:
        raise error


@contextmanager
def cancelled_by_disconnect(request: Request) -> Iterator[None]:
    """Cancel the block when the client disconnects; the body must have been received.

    Raises:
        ClientDisconnect: instead of the cancellation.
    """

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    with anyio.CancelScope() as scope:
        watcher = asyncio.create_task(watch())
        try:
            yield
        finally:
            watcher.cancel()
    if scope.cancelled_caught:
        raise ClientDisconnect


def _end_in_background(end: Callable[[], None], upload_id: uuid.UUID) -> None:
    """Retry until it succeeds or the lease has expired, without delaying the response."""

    async def keep_trying() -> None:
        with anyio.move_on_after(LEASE.total_seconds()):
            while True:
                await asyncio.sleep(END_RETRY_SECONDS)
                try:
                    await to_thread.run_sync(end)
                except SQLAlchemyError:
                    continue
                return
        _log.warning("could not end upload %s; its lease has expired", upload_id)

    task = asyncio.create_task(keep_trying())
    _ending.add(task)
    task.add_done_callback(_ending.discard)


def _announced_bytes(request: Request, limits: Limits) -> int:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and len(length) < 19:
        return int(length)
    return min(limits.file_bytes, limits.bytes_per_day)
