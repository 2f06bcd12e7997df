"""Tracks an upload in progress: renews its lease, and ends it for any outcome."""

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio
from anyio import to_thread
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import ClientDisconnect, Request

from vocboard.app.accounts.models import User
from vocboard.app.database import Database
from vocboard.app.intake import attempts as uploads
from vocboard.app.intake import resumable
from vocboard.app.intake.attempts import Attempt
from vocboard.app.intake.disk_errors import reporting_disk_errors
from vocboard.app.intake.limits import LEASE, PersonLimits, ServerLimits, person_limits, server_limits
from vocboard.app.intake.models import UploadKind
from vocboard.app.intake.pace import Pace
from vocboard.app.rate_limits.attempts import network
from vocboard.app.settings import Settings
from vocboard.app.storage.incoming_file import IncomingFile
from vocboard.app.web.client import client_address

END_RETRY_SECONDS = 1.0

_log = logging.getLogger(__name__)
_ending: set[asyncio.Task[None]] = set()  # the event loop only keeps weak references


@asynccontextmanager
async def upload_in_progress(
    request: Request,
    *,
    user: User,
    kind: UploadKind,
    database: Database,
    settings: Settings,
    resumable_id: uuid.UUID | None = None,
) -> AsyncIterator[Pace]:
    """Record an upload attempt before its body is read, and end it with the block.

    Args:
        resumable_id: the finished resumable upload that is validated. Its first validations belong to the attempt that
            has begun it.

    Yields:
        The minimum pace of the body.

    Raises:
        LimitedError, TooLargeError: as `uploads.begin`.
        StorageFullError: the block fails because the disk is full.
    """
    limits = person_limits(settings, kind)
    attempt = Attempt(user.id, network(client_address(request)), kind, _announced_bytes(request, limits))

    server = server_limits(settings)

    def begin() -> uuid.UUID:
        with database.writing(durable=False) as session:
            if resumable_id is not None and resumable.begin_validation(
                session, resumable_id, attempt, person=limits, server=server
            ):
                return resumable_id
            return uploads.begin(session, attempt, person=limits, server=server)

    def end() -> None:
        with database.writing(durable=False) as session:
            if upload_id == resumable_id:
                uploads.end_part(session, upload_id, more_bytes=pace.received)
            else:
                uploads.end(session, upload_id, received_bytes=pace.received)

    upload_id = await to_thread.run_sync(begin)
    pace = Pace(duration=limits.duration, bytes_per_second=limits.bytes_per_second)
    renewing = asyncio.create_task(keep_lease(database, upload_id, pace, person=limits, server=server))
    try:
        with reporting_disk_errors():
            yield pace
    finally:
        renewing.cancel()
        with anyio.CancelScope(shield=True):
            try:
                await to_thread.run_sync(end)
            except SQLAlchemyError as error:
                _log.warning("could not end upload %s; retrying in the background: %s", upload_id, error)
                _end_in_background(end, upload_id)


@asynccontextmanager
async def off_the_loop(incoming: IncomingFile) -> AsyncIterator[None]:
    """Remove an incoming file at the end of the block, in a thread because removing a large file takes time."""
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(incoming.remove)


@asynccontextmanager
async def brought_to_disk(incoming: IncomingFile) -> AsyncIterator[None]:
    """Bring a complete file to disk while the block reads it. The block ends when both are done."""
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


async def keep_lease(
    database: Database, upload_id: uuid.UUID, pace: Pace, *, person: PersonLimits, server: ServerLimits
) -> None:
    """Renew the lease of an upload in progress, and its minimum rate. Never returns; cancel it to stop."""

    def renew() -> None:
        with database.writing(durable=False) as session:
            pace.bytes_per_second = uploads.renew(session, upload_id, person=person, server=server)

    while True:
        await asyncio.sleep(LEASE.total_seconds() / 3)
        try:
            await to_thread.run_sync(renew)
        except SQLAlchemyError:
            _log.warning("could not renew the lease of upload %s", upload_id, exc_info=True)


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


def _announced_bytes(request: Request, limits: PersonLimits) -> int:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and len(length) < 19:
        return int(length)
    return min(limits.file_bytes, limits.bytes_per_day)
