"""Every upload is a resource: it is begun, its bytes arrive, its archive is read and checked, and it is submitted.

By the protocol of resumable uploads, each of these is a request. A multipart POST is all of them in one, by the same
steps; nothing is kept of it if it is rejected.
"""

import hashlib
import logging
import uuid
from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial

from anyio import to_thread
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from starlette.requests import Request

from vocboard.app.accounts.models import User
from vocboard.app.accounts.viewer import viewer_now
from vocboard.app.challenges.phases import MAX_UPLOAD_DURATION, edition_of_phase
from vocboard.app.database import Database, is_conflict, now
from vocboard.app.errors import (
    ConflictError,
    InvalidArchiveError,
    InvalidInputError,
    LimitedError,
    NotFoundError,
    ServiceError,
)
from vocboard.app.intake import resumable, submitting
from vocboard.app.intake.accepting import (
    Destination,
    Target,
    classes_not_entered,
    find_target,
    refuse_doubtful,
    refuse_incomplete,
)
from vocboard.app.intake.models import ResumableUpload, UploadKind
from vocboard.app.intake.multipart import (
    ARCHIVE_FIELD,
    DIGEST_FIELD,
    FIELD_LIMITS,
    HASHES_FIELD,
    IDENTICAL_FIELD,
    INCOMPLETE_FIELD,
    NOT_SUBMITTED,
    WARNINGS_FIELD,
    YES,
    BeforeFile,
    FormReader,
    Sink,
    StreamedForm,
    known_fields,
    submission_form,
)
from vocboard.app.intake.receiving import (
    InProgress,
    cancelled_by_disconnect,
    fsynced_at_end,
    removed_at_end,
    upload_in_progress,
)
from vocboard.app.intake.report import Report
from vocboard.app.intake.requests import note_refusal
from vocboard.app.intake.resumable import file_name
from vocboard.app.intake.validation import Validator
from vocboard.app.logs import note
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore, IncomingArchive
from vocboard.app.storage.ground_truth_inbox import GroundTruthInbox
from vocboard.app.submissions import idempotency, queries
from vocboard.app.submissions.forms import missing_from, needed_by, needed_by_each, read_form
from vocboard.app.submissions.idempotency import RepeatableRequest
from vocboard.app.submissions.queries import IdenticalArchiveError
from vocboard.app.submissions.quota import check_quota
from vocboard.evaluator.editions import Edition
from vocboard.evaluator.problems import Severity

_Receive = Callable[[Sink | None], Awaitable[StreamedForm]]  # passes the form's file to a sink; None: there is no file

_log = logging.getLogger(__name__)


class UploadInUseError(ServiceError):
    """Another request writes to the upload, or it is being checked."""

    status, code, title = 423, "locked", "The upload is in use"


class WrongDigestError(ConflictError):
    """The archive that arrived does not match the checksum that the client sent."""

    code, title = "wrong_digest", "The archive does not match its checksum"


@dataclass(frozen=True, slots=True)
class SubmissionRequest:
    """A request to submit.

    Attributes:
        idempotency_key: if a submission of the user was accepted with this key, it is returned, and nothing else
            happens.
        refuses_identical: whether an archive that the user has submitted to the phase before is refused unless the form
            has the field `submit_identical`.
        refuses_incomplete: whether an archive that leaves out classes is refused unless the form has the field
            `submit_incomplete`.

    Warnings about too many of the results are always refused unless the form has the field `accept_warnings`.
    """

    request: Request
    destination: Destination
    user: User
    idempotency_key: str | None = None
    refuses_identical: bool = False
    refuses_incomplete: bool = False


@dataclass(frozen=True, slots=True)
class AcceptedSubmission:
    """An accepted submission.

    Attributes:
        is_repeated: whether an earlier request with the same idempotency key has made it.
    """

    submission_id: uuid.UUID
    is_repeated: bool = False


@dataclass(frozen=True, slots=True)
class CheckedUpload:
    """The result of a check.

    Attributes:
        report: of the validation.
        edition: that it was checked against.
        phase_key: of the phase that it is for.
        identical: why the archive needs a confirmation, if the user has submitted it to the phase before.
        limit: the quota that is used up, if there is any; None as well for archives that are refused anyway.
    """

    report: Report
    edition: Edition
    phase_key: str
    identical: IdenticalArchiveError | None = None
    limit: LimitedError | None = None


@dataclass(frozen=True, slots=True)
class _Opened:
    """An upload that is to be submitted.

    Attributes:
        progress: its attempt.
        key: the idempotency key, if there is one.
        upload_id: of the resumable upload that has the archive; None if it is in the request.
        upload: the resumable upload; None if another request has submitted it.
        target: None if a submission was accepted with the key.
        began_at: when the upload began.
    """

    sent: SubmissionRequest
    progress: InProgress
    key: str | None
    upload_id: uuid.UUID | None
    upload: ResumableUpload | None
    target: Target | None
    began_at: datetime


@dataclass(frozen=True, slots=True)
class Intake:
    """Takes the uploads of one web process; see also `app.intake.organisers`."""

    settings: Settings
    database: Database
    store: ArchiveStore
    ground_truth_inbox: GroundTruthInbox
    validator: Validator

    def find(self, upload_id: uuid.UUID, user: User) -> ResumableUpload:
        """Return a resumable upload of the person, whose received bytes are on disk.

        Raises:
            NotFoundError: there is none, it is another person's, it has expired, or its file was lost.
        """
        with self.database.reading() as session:
            upload = resumable.get_own(session, upload_id, user)
        if not self.store.unfinished.has(upload.id, upload.received_bytes):
            raise lost(upload)
        return upload

    async def check(self, request: Request, upload_id: uuid.UUID, *, user: User) -> CheckedUpload:
        """Validate a finished resumable upload without submitting it. It uses no quota.

        The first validations belong to the attempt that has begun the upload, further ones count as attempts.

        Raises:
            NotFoundError: there is no such upload, or it is another person's.
            ForbiddenError, LimitedError: as `find_target`; an upload limit is reached.
            ConflictError: the phase does not accept submissions, or the upload is not finished.
            UploadInUseError: the upload still arrives.
            ClientDisconnect: the client disconnected.
        """
        async with self.in_progress(request, user, UploadKind.SUBMISSION, upload_id) as progress:
            upload = await to_thread.run_sync(self.find, upload_id, user)
            destination = Destination(upload.challenge.slug, upload.phase.key, upload.is_rehearsal)
            target = await to_thread.run_sync(self._target_of, upload, destination, user)
            try:
                archive = await to_thread.run_sync(self._adopted, upload)
            except FileNotFoundError as error:
                raise NotFoundError(resumable.NO_UPLOAD) from error
            async with removed_at_end(archive):
                columns = await to_thread.run_sync(self.store.receive_columns, archive)
                async with removed_at_end(columns):
                    report = await self._validate(progress, target, archive, columns)
                sha256 = archive.sha256
        checked = CheckedUpload(report, edition_of_phase(target.challenge, target.phase), target.phase.key)
        if report.refuses:
            return checked
        return await to_thread.run_sync(self._foreseen, checked, user, destination, target, sha256)

    async def submit(
        self, sent: SubmissionRequest, *, upload_id: uuid.UUID | None = None, before_file: BeforeFile | None = None
    ) -> AcceptedSubmission:
        """Receive, validate and queue the submission in a request's multipart form.

        The fields are `archive` (the file) and those of `submission_form`. The body is only read if the user may
        submit, and nothing of a rejected upload is kept. If the client disconnects, validation stops.

        Args:
            upload_id: a finished resumable upload, which has the archive instead of the form. It is kept until the
                archive is accepted or rejected, so that an error of the form does not cost a second upload. Without an
                idempotency key, it is the key.
            before_file: is given the fields that came before the file; what it raises ends the upload immediately.

        Raises:
            NotFoundError: the user can see no such challenge, or it has no such phase; there is no such upload.
            ForbiddenError: the email address is not confirmed, the registration is not approved, or the user is banned
                from the challenge or not admitted to the phase.
            ConflictError: the phase does not accept submissions; the upload is for another one, or is not finished.
            IdenticalArchiveError, IncompleteEntryError: see `SubmissionRequest`.
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
            NotSignedInError: the token or browser session ended during the upload.
            ClientDisconnect: the client disconnected.
        """
        async with self.in_progress(sent.request, sent.user, UploadKind.SUBMISSION, upload_id) as progress:
            opened = await to_thread.run_sync(self._open, sent, progress, upload_id)
            target = opened.target
            # A repeated request has the fields of the first one, or is refused because it differs.
            known = None if target is None else known_fields(edition_of_phase(target.challenge, target.phase))

            async def receive(sink: Sink | None) -> StreamedForm:
                reader = FormReader(
                    None if sink is None else ARCHIVE_FIELD,
                    sink,
                    self.settings.upload_limit_bytes,
                    known_fields=known,
                    before_file=before_file,
                    text_files=(HASHES_FIELD,),
                    field_limits=FIELD_LIMITS,
                )
                return await reader.receive(sent.request, progress.pace)

            if target is None:
                return await self._repeated(opened, receive)
            return await self._submit(opened, target, receive)

    def in_progress(
        self, request: Request, user: User, kind: UploadKind, upload_id: uuid.UUID | None = None
    ) -> AbstractAsyncContextManager[InProgress]:
        """Record an upload attempt as `upload_in_progress` does; with an id, of a finished resumable upload."""
        return upload_in_progress(
            request, user=user, kind=kind, database=self.database, settings=self.settings, resumable_id=upload_id
        )

    def _open(self, sent: SubmissionRequest, progress: InProgress, upload_id: uuid.UUID | None) -> _Opened:
        """Find out what is to be submitted, before the body is read."""
        key, upload = sent.idempotency_key, None
        if upload_id is not None:
            key = key or f"upload {upload_id}"
        with self.database.reading() as session:
            # In this order: another request that submits the upload removes it, and leaves its key.
            if upload_id is not None:
                upload = resumable.find_own(session, upload_id, sent.user.id)
            is_known = key is not None and idempotency.is_known(session, sent.user, key)
        if is_known or upload_id is None:
            began_at = now()
            target = None if is_known else find_target(self.database, sent.destination, sent.user, at=began_at)
            return _Opened(sent, progress, key, upload_id, upload, target, began_at)
        if upload is None:
            raise NotFoundError(resumable.NO_UPLOAD)
        destination = replace(sent.destination, phase_key=sent.destination.phase_key or upload.phase.key)
        target = self._target_of(upload, destination, sent.user)
        return _Opened(sent, progress, key, upload_id, upload, target, _began_at(upload))

    async def _submit(self, opened: _Opened, target: Target, receive: _Receive) -> AcceptedSubmission:
        upload = opened.upload
        self.validator.expect_upload()
        if upload is None:
            archive = await to_thread.run_sync(partial(self.store.receive, limit=self.settings.upload_limit_bytes))
        else:
            try:
                archive = await to_thread.run_sync(self._adopted, upload)
            except FileNotFoundError:  # submitted by another request just now, or lost
                return await self._repeated(opened, receive)
        async with removed_at_end(archive):
            received = await receive(archive if upload is None else None)
            await to_thread.run_sync(archive.flush)
            if upload is not None:
                received.file_name = file_name(upload.client_metadata)
            try:
                accepted = await self._accept(opened, target, received, archive)
            except (InvalidArchiveError, WrongDigestError):
                if upload is not None:
                    await to_thread.run_sync(self._discard, upload)
                raise
        if upload is not None:
            await to_thread.run_sync(self.store.unfinished.remove, upload.id)
        return accepted

    async def _accept(
        self, opened: _Opened, target: Target, received: StreamedForm, archive: IncomingArchive
    ) -> AcceptedSubmission:
        """Validate an archive that has arrived completely, and queue the submission.

        The form is checked before the archive, as far as it does not depend on it, so that all errors are reported
        together.
        """
        _check_digest(received, archive)
        sent = opened.sent
        edition = edition_of_phase(target.challenge, target.phase)
        form, declared, wrong = await to_thread.run_sync(lambda: read_form(submission_form(received), edition))
        if sent.refuses_identical and not _says_yes(received, IDENTICAL_FIELD):
            await to_thread.run_sync(self._refuse_identical, sent, target, archive.sha256)
        columns = await to_thread.run_sync(self.store.receive_columns, archive)
        async with removed_at_end(columns):
            classes = None if "segmentation_classes" in wrong else form.segmentation_classes
            async with fsynced_at_end(archive):
                report = await self._validate(opened.progress, target, archive, columns, classes=classes)
            if report.refuses:
                offered = [edition.competitions[key] for key in target.phase.competitions]
                wrong = {**missing_from(declared, needed_by_each(offered)), **wrong}
                missing = classes_not_entered(report, edition) if sent.refuses_incomplete else None
                raise InvalidArchiveError(report.problems, report.groups, wrong, missing)
            entered = [edition.competitions[entry.competition] for entry in report.entries]
            wrong = {**missing_from(declared, needed_by(entered)), **wrong}
            if wrong:
                raise InvalidInputError(wrong)
            if sent.refuses_incomplete and not _says_yes(received, INCOMPLETE_FIELD):
                refuse_incomplete(report, edition)
            if not _says_yes(received, WARNINGS_FIELD):
                refuse_doubtful(report)
            repeatable = _repeatable(opened, received, archive.sha256)

            def queue() -> AcceptedSubmission:
                if report.has_columns:
                    columns.finish()
                with self.database.writing() as session:
                    viewer_now(session, sent.request.state.identity)  # rejected if signed out during the upload
                    if repeatable is not None:
                        submitting.lock_submitter(session, sent.user)
                        # Another request with the same key may have been faster.
                        earlier = idempotency.earlier_submission(session, sent.user, repeatable)
                        if earlier is not None:
                            return AcceptedSubmission(earlier, is_repeated=True)
                    submission = submitting.submit(
                        session,
                        user=sent.user,
                        challenge=target.challenge,
                        form=form,
                        archive=archive,
                        report=report,
                        columns=columns,
                        began_at=opened.began_at,
                        phase_key=target.phase.key,
                        is_rehearsal=sent.destination.is_rehearsal,
                    )
                    if repeatable is not None:
                        idempotency.remember(session, sent.user, repeatable, submission)
                    # Another request with another key may have submitted it, or its owner removed it.
                    if opened.upload is not None and not resumable.remove(session, opened.upload.id):
                        raise NotFoundError(resumable.NO_UPLOAD)
                    note(submission=submission.id)
                    return AcceptedSubmission(submission.id)

            try:
                return await to_thread.run_sync(queue)
            except DBAPIError as error:  # `RetryConflicts` repeats no request with a large body
                if not is_conflict(error):
                    raise
                return await to_thread.run_sync(queue)

    async def _validate(
        self,
        progress: InProgress,
        target: Target,
        archive: IncomingArchive,
        columns: IncomingArchive,
        *,
        classes: Collection[str] | None = None,
    ) -> Report:
        """Read an archive completely; stop if the client disconnects.

        Args:
            columns: receives what is read.
            classes: declared classes for segmentation; None for all.

        Raises:
            ClientDisconnect: the client disconnected.
        """
        request = progress.request
        with cancelled_by_disconnect(request):
            report = await self.validator.validate(
                archive.path,
                uploader=progress.place,
                edition=edition_of_phase(target.challenge, target.phase),
                image_sets=target.image_sets,
                competitions=target.phase.competitions,
                columns=columns,
                segmentation_classes=classes,
            )
        if report.refuses:
            codes = [problem.code for problem in report.problems if problem.severity is Severity.ERROR]
            if not target.is_rehearsal:
                progress.rejected = (target.challenge.id, codes)
            note_refusal(request, (problem.code for problem in report.problems))
        return report

    async def _repeated(self, opened: _Opened, receive: _Receive) -> AcceptedSubmission:
        """Return the submission that was accepted with the key, if this request repeats the one that made it."""
        digest = _Digest() if opened.upload_id is None else None
        received = await receive(digest)
        repeatable = _repeatable(opened, received, "" if digest is None else digest.sha256)

        def find() -> uuid.UUID | None:
            with self.database.reading() as session:
                viewer_now(session, opened.progress.request.state.identity)
                return (
                    None
                    if repeatable is None
                    else idempotency.earlier_submission(session, opened.sent.user, repeatable)
                )

        earlier = await to_thread.run_sync(find)
        if earlier is None:
            if opened.upload is not None:
                await to_thread.run_sync(self.find, opened.upload.id, opened.sent.user)  # says what has become of it
            raise NotFoundError("The original request is too old or no longer available. Check your submissions.")
        return AcceptedSubmission(earlier, is_repeated=True)

    def _target_of(self, upload: ResumableUpload, destination: Destination, user: User) -> Target:
        """Return what a resumable upload is submitted to.

        Raises:
            ConflictError: it is for something else, or it is not finished.
        """
        target = find_target(self.database, destination, user, at=_began_at(upload))
        if (upload.phase_id, upload.is_rehearsal) != (target.phase.id, destination.is_rehearsal):
            raise ConflictError("This upload is for another challenge or phase. Upload the archive for this one.")
        if not upload.is_finished:
            raise ConflictError(
                f"Only {upload.received_bytes:,} of the {upload.byte_count:,} bytes of the upload have arrived. Send "
                f"the rest first."
            )
        return target

    def _adopted(self, upload: ResumableUpload) -> IncomingArchive:
        """Return a finished resumable upload as an archive.

        Raises:
            UploadInUseError: it still arrives.
            FileNotFoundError: it was submitted by another request just now, or lost.
            NotFoundError: a part of it was lost.
        """
        try:
            archive = self.store.adopt(self.store.unfinished.path(upload.id))
        except BlockingIOError as error:
            raise UploadInUseError("The upload is still in progress. Try again in half a minute.") from error
        if archive.size != upload.byte_count:
            archive.remove()
            raise NotFoundError(resumable.LOST_UPLOAD)
        return archive

    def _discard(self, upload: ResumableUpload) -> None:
        with self.database.writing() as session:
            resumable.remove(session, upload.id)
        self.store.unfinished.remove(upload.id)

    def _foreseen(
        self, checked: CheckedUpload, user: User, destination: Destination, target: Target, sha256: str
    ) -> CheckedUpload:
        """Add what a submission of the archive would be refused for now."""
        with self.database.reading() as session:
            limit, identical = None, _identical(session, user, target, sha256)
            if not destination.is_rehearsal:
                keys = [entry.competition for entry in checked.report.entries]
                try:
                    check_quota(
                        session, user=user, challenge=target.challenge, phase=target.phase, competitions=keys, now=now()
                    )
                except LimitedError as error:
                    limit = error
        return replace(checked, identical=identical, limit=limit)

    def _refuse_identical(self, sent: SubmissionRequest, target: Target, sha256: str) -> None:
        with self.database.reading() as session:
            error = _identical(session, sent.user, target, sha256)
        if error is not None:
            raise error


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


def _identical(session: Session, user: User, target: Target, sha256: str) -> IdenticalArchiveError | None:
    earlier = queries.identical_to(session, user=user, phase_id=target.phase.id, sha256=sha256)
    return None if earlier is None else IdenticalArchiveError(earlier)


def _began_at(upload: ResumableUpload) -> datetime:
    return max(upload.created_at, now() - MAX_UPLOAD_DURATION)


def lost(upload: ResumableUpload) -> NotFoundError:
    """Log that the file of a resumable upload is shorter than what was received; return the error."""
    _log.warning("the file of upload %s has less than the %d bytes received", upload.id, upload.received_bytes)
    return NotFoundError(resumable.LOST_UPLOAD)


def _repeatable(opened: _Opened, received: StreamedForm, sha256: str) -> RepeatableRequest | None:
    """Return how a repetition of the request is recognised; None if it has no key.

    Args:
        sha256: of the archive, which identifies it if it is in the request.
    """
    if opened.key is None:
        return None
    fields = {name: values for name, values in received.fields.items() if name not in NOT_SUBMITTED}
    archive = sha256 if opened.upload_id is None else f"upload {opened.upload_id}"
    target = asdict(opened.sent.destination)
    if opened.sent.refuses_incomplete:
        target["refuses_incomplete"] = True
    return RepeatableRequest(opened.key, idempotency.request_sha256(target, fields, archive))


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
