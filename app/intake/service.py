"""Receives submissions for the API and the pages: checks permissions, streams, validates, stores, notifies workers.

The archive is in the request, or was sent before as a resumable upload (`app.intake.parts`). What follows
is the same.
"""

import hashlib
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial

from anyio import to_thread
from starlette.requests import Request

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.phases import MAX_UPLOAD_DURATION
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError, InvalidArchiveError, InvalidInputError, NotFoundError
from vocboard.app.intake import idempotency, resumable
from vocboard.app.intake.accepting import Acceptance, AcceptedSubmission, ReceivedSubmission, SubmissionRequest
from vocboard.app.intake.checking import adopted, check_submittable
from vocboard.app.intake.fields import (
    ARCHIVE_FIELD,
    DIGEST_FIELD,
    FIELD_LIMITS,
    HASHES_FIELD,
    IDENTICAL_FIELD,
    INCOMPLETE_FIELD,
    KNOWN_FIELDS,
    SUBMITTED_FIELDS,
    WARNINGS_FIELD,
    YES,
    submission_form,
)
from vocboard.app.intake.idempotency import RepeatableRequest
from vocboard.app.intake.in_progress import off_the_loop, upload_in_progress
from vocboard.app.intake.models import ResumableUpload, UploadKind
from vocboard.app.intake.multipart import BeforeFile, Sink, StreamedForm, receive_form
from vocboard.app.intake.pace import Pace
from vocboard.app.intake.resumable import file_name
from vocboard.app.intake.targets import Destination, Target, find_target
from vocboard.app.intake.validation import Validator
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore, IncomingArchive
from vocboard.app.submissions import forms
from vocboard.app.submissions.declarations import needed_by_each
from vocboard.app.submissions.forms import SubmissionForm
from vocboard.app.web.viewer import viewer_now

_Receive = Callable[[Sink | None], Awaitable[StreamedForm]]  # passes the form's file to a sink; None: there is no file


class WrongDigestError(ConflictError):
    """The archive that arrived does not match the checksum that the client sent."""

    code, title = "wrong_digest", "The archive does not match its checksum"


@dataclass(frozen=True, slots=True)
class SubmissionIntake:
    """Takes the submissions of one web process."""

    settings: Settings
    database: Database
    store: ArchiveStore
    validator: Validator
    notifier: WorkerNotifier

    async def take(
        self, sent: SubmissionRequest, *, upload_id: uuid.UUID | None = None, before_file: BeforeFile | None = None
    ) -> AcceptedSubmission:
        """Receive, validate and queue the submission in a request's multipart form.

        The fields are `archive` (the file) and those of `submission_form`. The body is only read if the user may
        submit, and nothing of a rejected upload is kept. If the client disconnects, validation stops.

        Args:
            upload_id: a finished resumable upload, which has the archive instead of the form. It is kept until the
                archive is accepted or rejected, so that an error of the form does not cost a second upload. Without an
                idempotency key, it is the key.
            before_file: is given the fields that came before the file; what it raises ends the upload at once.

        Raises:
            NotFoundError: the user can see no such challenge, or it has no such phase; there is no such upload.
            ForbiddenError: the email address is not confirmed, the registration is not approved, or the user is banned
                from the challenge or not admitted to the phase.
            ConflictError: the phase does not accept submissions; the upload is for another one, or is not finished.
            IdenticalArchiveError: see `SubmissionRequest`.
            InvalidInputError: fields of the form are invalid.
            InvalidArchiveError: the archive has problems.
            WarningsNotAcceptedError: see `SubmissionRequest`.
            WrongDigestError: the archive does not have the SHA-256 that the form says.
            ReusedKeyError: the idempotency key was used for another submission.
            TooLargeError: the archive is larger than allowed.
            TooSlowError: the body arrives too slowly.
            LimitedError: the quota or an upload limit is reached.
            StorageFullError: the disk is full.
            UploadInUseError: the upload still arrives.
            NotSignedInError: the token or browser session ended while the upload went on.
            ClientDisconnect: the client disconnected.
        """
        async with upload_in_progress(
            sent.request,
            user=sent.user,
            kind=UploadKind.SUBMISSION,
            database=self.database,
            settings=self.settings,
            resumable_id=upload_id,
        ) as pace:
            receive = partial(self._receive, sent.request, pace, before_file)
            if upload_id is None:
                accepted = await self._take_sent(sent, receive)
            else:
                accepted = await self._take_uploaded(sent, receive, upload_id)
            await to_thread.run_sync(self.notifier.submission_queued)  # before the upload ends: a worker can begin
            return accepted

    @property
    def _acceptance(self) -> Acceptance:
        return Acceptance(self.database, self.store, self.validator)

    async def _receive(
        self, request: Request, pace: Pace, before_file: BeforeFile | None, sink: Sink | None
    ) -> StreamedForm:
        return await receive_form(
            request,
            file_field=None if sink is None else ARCHIVE_FIELD,
            sink=sink,
            limit=self.settings.upload_limit_bytes,
            pace=pace,
            known_fields=KNOWN_FIELDS,
            before_file=before_file,
            text_files=(HASHES_FIELD,),
            field_limits=FIELD_LIMITS,
        )

    async def _take_sent(self, sent: SubmissionRequest, receive: _Receive) -> AcceptedSubmission:
        """Take a submission whose archive is in the form."""
        began_at, key = now(), sent.idempotency_key
        if key is not None and await to_thread.run_sync(self._is_known, sent.user, key):
            digest = _Digest()
            received = await receive(digest)
            return await self._repeated(sent, _repeatable(key, sent.destination, received, digest.sha256))
        target = await to_thread.run_sync(self._target, sent, sent.destination, began_at)
        self.validator.expect_upload()
        archive = await to_thread.run_sync(partial(self.store.receive, limit=self.settings.upload_limit_bytes))
        async with off_the_loop(archive):
            received = await receive(archive)
            await to_thread.run_sync(archive.flush)
            _check_digest(received, archive)
            form, wrong = await to_thread.run_sync(_form, received, target)
            submission = ReceivedSubmission(
                form,
                wrong,
                archive,
                began_at,
                None if key is None else _repeatable(key, sent.destination, received, archive.sha256),
                _says_yes(received, IDENTICAL_FIELD),
                _says_yes(received, INCOMPLETE_FIELD),
                _says_yes(received, WARNINGS_FIELD),
            )
            return await self._acceptance.accept(sent, target, submission)

    async def _take_uploaded(
        self, sent: SubmissionRequest, receive: _Receive, upload_id: uuid.UUID
    ) -> AcceptedSubmission:
        """Take a submission whose archive was sent before."""
        key = sent.idempotency_key or f"upload {upload_id}"
        archive_id = f"upload {upload_id}"
        # In this order: another request that submits the upload removes it, and leaves its key.
        upload = await to_thread.run_sync(self._find, upload_id, sent.user)
        if await to_thread.run_sync(self._is_known, sent.user, key):
            received = await receive(None)
            return await self._repeated(sent, _repeatable(key, sent.destination, received, archive_id))
        if upload is None:
            raise NotFoundError(resumable.NO_UPLOAD)
        began_at = max(upload.created_at, now() - MAX_UPLOAD_DURATION)
        destination = replace(sent.destination, phase_key=sent.destination.phase_key or upload.phase_key)
        target = await to_thread.run_sync(self._target, sent, destination, began_at)
        check_submittable(upload, destination, target)
        self.validator.expect_upload()
        received = await receive(None)
        received.file_name = file_name(upload.client_metadata)
        repeatable = _repeatable(key, sent.destination, received, archive_id)
        form, wrong = await to_thread.run_sync(_form, received, target)
        try:
            archive = await to_thread.run_sync(adopted, self.store, upload)
        except FileNotFoundError:  # submitted by another request just now, or lost
            return await self._repeated(sent, repeatable)
        async with off_the_loop(archive):
            try:
                _check_digest(received, archive)
            except WrongDigestError:
                await to_thread.run_sync(self._discard, upload)
                raise
            submission = ReceivedSubmission(
                form,
                wrong,
                archive,
                began_at,
                repeatable,
                _says_yes(received, IDENTICAL_FIELD),
                _says_yes(received, INCOMPLETE_FIELD),
                _says_yes(received, WARNINGS_FIELD),
                upload,
            )
            try:
                accepted = await self._acceptance.accept(sent, target, submission)
            except InvalidArchiveError:
                await to_thread.run_sync(self._discard, upload)
                raise
        await to_thread.run_sync(self.store.unfinished.remove, upload_id)
        return accepted

    def _is_known(self, user: User, key: str) -> bool:
        with self.database.reading() as session:
            return idempotency.is_known(session, user, key)

    async def _repeated(self, sent: SubmissionRequest, repeatable: RepeatableRequest) -> AcceptedSubmission:
        def find() -> uuid.UUID | None:
            with self.database.reading() as session:
                viewer_now(session, sent.request.state.identity)
                return idempotency.earlier_submission(session, sent.user, repeatable)

        earlier = await to_thread.run_sync(find)
        if earlier is None:
            raise NotFoundError("The original request is too old or no longer available. Check your submissions.")
        return AcceptedSubmission(earlier, is_repeated=True)

    def _target(self, sent: SubmissionRequest, destination: Destination, at: datetime) -> Target:
        return find_target(self.database, destination, sent.user, at=at)

    def _find(self, upload_id: uuid.UUID, user: User) -> ResumableUpload | None:
        with self.database.reading() as session:
            return resumable.find_own(session, upload_id, user.id)

    def _discard(self, upload: ResumableUpload) -> None:
        with self.database.writing() as session:
            resumable.remove(session, upload.id)
        self.store.unfinished.remove(upload.id)


class _Digest:
    """Hashes the file of a repeated request without storing it."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def write(self, chunk: memoryview, /) -> None:
        """Add the next chunk."""
        self._hash.update(chunk)

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


def _repeatable(key: str, destination: Destination, received: StreamedForm, archive: str) -> RepeatableRequest:
    fields = {name: values for name, values in received.fields.items() if name in SUBMITTED_FIELDS}
    return RepeatableRequest(key, idempotency.request_sha256(asdict(destination), fields, archive))


def _form(received: StreamedForm, target: Target) -> tuple[SubmissionForm, dict[str, str]]:
    """Return the form, and its errors as far as they do not depend on the archive, to report both at once."""
    edition = challenges.edition_of_phase(target.challenge, target.phase)
    offered = [edition.competitions[key] for key in target.phase.competitions]
    form = submission_form(received)
    try:
        return forms.checked(form, edition=edition, needed=needed_by_each(offered)), {}
    except InvalidInputError as error:
        return form, error.fields


def _says_yes(received: StreamedForm, field: str) -> bool:
    return received.value(field).lower() in YES


def _check_digest(received: StreamedForm, archive: IncomingArchive) -> None:
    """Check that the archive is the file that the client has sent, if the form says which that is.

    Raises:
        WrongDigestError: it is another one.
    """
    expected = received.value(DIGEST_FIELD).strip().lower()
    if expected and expected != archive.sha256:
        raise WrongDigestError(
            f"The archive that has arrived has the SHA-256 {archive.sha256}, not {expected}. It changed on the way, or "
            f"on your disk during the upload. Nothing was submitted. Upload it again."
        )
