"""Submits an archive: sends it, however often that is interrupted, and then the form. Nothing is submitted twice."""

from collections.abc import Callable, Mapping

from vocboard.client.archive import OutgoingArchive
from vocboard.client.connection import Answer, Connection, FieldValue
from vocboard.client.errors import (
    ChangedArchiveError,
    InvalidArchiveError,
    NetworkError,
    RefusedError,
    UnexpectedAnswerError,
    WarningsNotAcceptedError,
)
from vocboard.client.paths import path
from vocboard.client.resumable import ResumableUpload, UploadListener
from vocboard.client.retry_policy import RetryPolicy
from vocboard.client.upload_states import UploadStates

MAX_UPLOADS = 2  # of one archive: the server may lose a finished upload
REUSED_KEY, CONFLICT = "idempotency_key_reused", "conflict"


def submit(
    connection: Connection,
    challenge: str,
    archive: OutgoingArchive,
    fields: Mapping[str, FieldValue],
    phase: Mapping[str, str] | None = None,
    *,
    sha256: str | None = None,
    listener: UploadListener | None = None,
    uploaded: Callable[[], object] = lambda: None,
    states: UploadStates | None = None,
) -> Answer:
    """Send an archive to a challenge, continuing an interrupted upload of it, and return the submission.

    Args:
        phase: the parameter that names the phase, from `phase_parameter`; by default, the current one.
        sha256: of the archive, if it is known already.
        listener: is told how the upload goes on.
        uploaded: called when all bytes have arrived, before the server validates them.

    Raises:
        InvalidArchiveError: the archive has problems.
        WarningsNotAcceptedError: the field `accept_warnings` is needed.
        ChangedArchiveError: the file changed during the upload.
        ClientError: see `client.errors`.
    """
    digest = sha256 or archive.sha256()
    listener = listener or UploadListener()
    upload = ResumableUpload(
        connection, archive, challenge=challenge, phase=phase, sha256=digest, states=states, listener=listener
    )
    for attempt in range(1, MAX_UPLOADS + 1):
        try:
            upload_id = upload.send()
            archive.check_unchanged()
        except ChangedArchiveError:
            upload.forget()
            raise
        uploaded()
        try:
            where = {**(phase or {}), "upload": upload_id}
            answer = _submit(connection, challenge, where, {**fields, "archive_sha256": digest}, listener)
        except WarningsNotAcceptedError:  # the same archive may be submitted with them
            raise
        except InvalidArchiveError:
            upload.forget()
            raise
        except RefusedError as error:
            # Lost, or begun by an earlier run for a phase that has closed since.
            is_over = error.status == 404 or (upload.was_begun and error.code == CONFLICT)
            if is_over or error.code in (REUSED_KEY, CONFLICT):
                upload.forget()
            if not is_over or attempt == MAX_UPLOADS:
                raise
        else:
            upload.forget()
            return answer
    raise UnexpectedAnswerError(f"{connection.address} has lost the upload")  # never reached


def _submit(
    connection: Connection,
    challenge: str,
    where: Mapping[str, str],
    fields: Mapping[str, FieldValue],
    listener: UploadListener,
) -> Answer:
    """Submit a finished upload. It can be repeated, because the server submits an upload once."""
    retry_policy = RetryPolicy(connection.sleep, listener.waiting)
    while True:
        try:
            return connection.submit(path("challenges", challenge, "submissions"), where, fields)
        except NetworkError as error:
            retry_policy.wait(
                error, "the archive has arrived; run the same command again to continue, which submits it only once"
            )
        except RefusedError as error:
            if not retry_policy.waits_for(error):
                raise
