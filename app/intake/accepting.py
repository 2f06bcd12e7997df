"""Accepts submissions that have arrived completely: validates the archive and queues the submission."""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from anyio import to_thread
from sqlalchemy.exc import DBAPIError
from starlette.requests import Request

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.database import Database, is_conflict
from vocboard.app.errors import InvalidArchiveError, NotFoundError
from vocboard.app.intake import idempotency, resumable
from vocboard.app.intake.confirmations import classes_not_entered, refuse_doubtful, refuse_incomplete
from vocboard.app.intake.idempotency import RepeatableRequest
from vocboard.app.intake.in_progress import brought_to_disk, cancelled_by_disconnect, off_the_loop
from vocboard.app.intake.limits import is_new
from vocboard.app.intake.models import ResumableUpload
from vocboard.app.intake.report import Report
from vocboard.app.intake.targets import Destination, Target
from vocboard.app.intake.turns import Uploader
from vocboard.app.intake.validation import Validator
from vocboard.app.rate_limits.attempts import network
from vocboard.app.storage.archives import ArchiveStore, IncomingArchive
from vocboard.app.submissions import forms, queries
from vocboard.app.submissions import service as submissions
from vocboard.app.submissions.declarations import needed_by
from vocboard.app.submissions.forms import SubmissionForm
from vocboard.app.submissions.queries import IdenticalArchiveError
from vocboard.app.web.access_log import note_refusal
from vocboard.app.web.client import client_address
from vocboard.app.web.viewer import viewer_now


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
class ReceivedSubmission:
    """A submission that has arrived completely.

    Attributes:
        wrong: errors of the form, by field, that do not depend on the archive.
        began_at: when its upload began.
        upload: the resumable upload that the archive is of, if there was one.
    """

    form: SubmissionForm
    wrong: Mapping[str, str]
    archive: IncomingArchive
    began_at: datetime
    repeatable: RepeatableRequest | None
    submit_identical: bool
    submit_incomplete: bool
    accept_warnings: bool
    upload: ResumableUpload | None = None


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Accepts the submissions of one web process."""

    database: Database
    store: ArchiveStore
    validator: Validator

    async def accept(self, sent: SubmissionRequest, target: Target, received: ReceivedSubmission) -> AcceptedSubmission:
        """Validate a submission, and queue it; the caller notifies the workers.

        Raises:
            IdenticalArchiveError, IncompleteEntryError, InvalidArchiveError, InvalidInputError, ReusedKeyError,
                WarningsNotAcceptedError, ForbiddenError: as `SubmissionIntake.take`.
            ConflictError, LimitedError, NotSignedInError, ClientDisconnect: as `SubmissionIntake.take`.
            NotFoundError: the upload was submitted or removed in the meantime.
        """
        archive = received.archive
        if sent.refuses_identical and not received.submit_identical:
            await to_thread.run_sync(self._refuse_identical, sent, target, archive.sha256)
        columns = await to_thread.run_sync(self.store.receive_columns, archive)
        async with off_the_loop(columns):
            declared = None if "segmentation_classes" in received.wrong else received.form.segmentation_classes
            async with brought_to_disk(archive):
                report = await self.validate(
                    sent.request, sent.user, target, archive, columns=columns, segmentation_classes=declared
                )
            edition = challenges.edition_of_phase(target.challenge, target.phase)
            if report.refuses:
                missing = classes_not_entered(report, edition) if sent.refuses_incomplete else None
                raise InvalidArchiveError(report.problems, report.groups, received.wrong, missing)
            entered = [edition.competitions[entry.competition] for entry in report.entries]
            forms.checked(received.form, edition=edition, needed=needed_by(entered))
            if sent.refuses_incomplete and not received.submit_incomplete:
                refuse_incomplete(report, edition)
            if not received.accept_warnings:
                refuse_doubtful(report)
            queue = partial(self._queue, sent, target, received, report, columns)
            try:
                return await to_thread.run_sync(queue)
            except DBAPIError as error:  # `RetryConflicts` repeats no request with a large body
                if not is_conflict(error):
                    raise
                return await to_thread.run_sync(queue)

    async def validate(
        self,
        request: Request,
        user: User,
        target: Target,
        archive: IncomingArchive,
        *,
        columns: IncomingArchive,
        segmentation_classes: Collection[str] | None = None,
    ) -> Report:
        """Read an archive completely; stop if the client disconnects.

        Args:
            columns: receives what is read.
            segmentation_classes: those that were declared; None for all.

        Raises:
            ClientDisconnect: the client disconnected.
        """
        with cancelled_by_disconnect(request):
            report = await self.validator.validate(
                archive.path,
                uploader=Uploader(user.id, network(client_address(request)), is_new(user.created_at)),
                edition=challenges.edition_of_phase(target.challenge, target.phase),
                image_sets=target.image_sets,
                competitions=target.phase.competitions,
                columns=columns,
                segmentation_classes=segmentation_classes,
            )
        if report.refuses:
            note_refusal(request, (problem.code for problem in report.problems))
        return report

    def _queue(
        self,
        sent: SubmissionRequest,
        target: Target,
        received: ReceivedSubmission,
        report: Report,
        columns: IncomingArchive,
    ) -> AcceptedSubmission:
        if report.has_columns:
            columns.finish()
        with self.database.writing() as session:
            viewer_now(session, sent.request.state.identity)  # rejected if the user was signed out in the meantime
            if received.repeatable is not None:
                submissions.lock_submitter(session, sent.user)
                # Another request with the same key may have been faster.
                earlier = idempotency.earlier_submission(session, sent.user, received.repeatable)
                if earlier is not None:
                    return AcceptedSubmission(earlier, is_repeated=True)
            submission = submissions.submit(
                session,
                user=sent.user,
                challenge=target.challenge,
                form=received.form,
                archive=received.archive,
                report=report,
                columns=columns,
                began_at=received.began_at,
                phase_key=target.phase.key,
                is_rehearsal=sent.destination.is_rehearsal,
            )
            if received.repeatable is not None:
                idempotency.remember(session, sent.user, received.repeatable, submission)
            # Another request with another key may have submitted it, or its owner removed it.
            if received.upload is not None and not resumable.remove(session, received.upload.id):
                raise NotFoundError(resumable.NO_UPLOAD)
            return AcceptedSubmission(submission.id)

    def _refuse_identical(self, sent: SubmissionRequest, target: Target, sha256: str) -> None:
        with self.database.reading() as session:
            earlier = queries.identical_to(
                session, user=sent.user, challenge=target.challenge, phase_key=target.phase.key, sha256=sha256
            )
        if earlier is not None:
            raise IdenticalArchiveError(earlier)
