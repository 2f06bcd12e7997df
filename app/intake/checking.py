"""Checks resumable uploads that have arrived completely, before they are submitted."""

import uuid
from dataclasses import dataclass, replace
from functools import partial

from anyio import to_thread
from starlette.requests import Request

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.phases import MAX_UPLOAD_DURATION
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, LimitedError, NotFoundError
from vocboard.app.intake import resumable
from vocboard.app.intake.accepting import Acceptance
from vocboard.app.intake.in_progress import off_the_loop, upload_in_progress
from vocboard.app.intake.models import ResumableUpload, UploadKind
from vocboard.app.intake.parts import ResumableIntake, UploadInUseError
from vocboard.app.intake.report import Report
from vocboard.app.intake.targets import Destination, Target, find_target
from vocboard.app.quotas.service import check_quota
from vocboard.app.storage.archives import ArchiveStore, IncomingArchive
from vocboard.app.submissions import queries
from vocboard.app.submissions.queries import IdenticalArchiveError
from vocboard.evaluator.editions import Edition


@dataclass(frozen=True, slots=True)
class CheckedUpload:
    """What a check has found.

    Attributes:
        report: of the validation.
        edition: that it was checked against.
        identical: why the archive needs a confirmation, if the user has submitted it to the phase before.
        limit: the quota that is used up, if there is any; None as well for archives that are refused anyway.
    """

    report: Report
    edition: Edition
    identical: IdenticalArchiveError | None = None
    limit: LimitedError | None = None


@dataclass(frozen=True, slots=True)
class UploadChecks:
    """Checks the resumable uploads of one web process."""

    intake: ResumableIntake
    acceptance: Acceptance

    async def check(self, request: Request, upload_id: uuid.UUID, *, user: User) -> CheckedUpload:
        """Validate a finished upload without submitting it. It uses no quota.

        The first validations belong to the attempt that has begun the upload, further ones count as attempts.

        Raises:
            NotFoundError: there is no such upload, or it is somebody else's.
            ForbiddenError, LimitedError: as `find_target`; an upload limit is reached.
            ConflictError: the phase does not accept submissions, or the upload is not finished.
            UploadInUseError: the upload still arrives.
            ClientDisconnect: the client disconnected.
        """
        store, database, settings = self.intake.store, self.intake.database, self.intake.settings
        async with upload_in_progress(
            request,
            user=user,
            kind=UploadKind.SUBMISSION,
            database=database,
            settings=settings,
            resumable_id=upload_id,
        ):
            upload = await to_thread.run_sync(self.intake.find, upload_id, user)
            destination = Destination(upload.challenge.slug, upload.phase_key, upload.is_rehearsal)
            began_at = max(upload.created_at, now() - MAX_UPLOAD_DURATION)
            target = await to_thread.run_sync(partial(find_target, database, destination, user, at=began_at))
            check_submittable(upload, destination, target)
            try:
                archive = await to_thread.run_sync(adopted, store, upload)
            except FileNotFoundError as error:
                raise NotFoundError(resumable.NO_UPLOAD) from error
            async with off_the_loop(archive):
                columns = await to_thread.run_sync(store.receive_columns, archive)
                async with off_the_loop(columns):
                    report = await self.acceptance.validate(request, user, target, archive, columns=columns)
                    sha256 = archive.sha256
        edition = challenges.edition_of_phase(target.challenge, target.phase)
        if report.refuses:
            return CheckedUpload(report, edition)
        return await to_thread.run_sync(
            self._foreseen, CheckedUpload(report, edition), user, destination, target, sha256
        )

    def _foreseen(
        self, checked: CheckedUpload, user: User, destination: Destination, target: Target, sha256: str
    ) -> CheckedUpload:
        """Add what a submission of the archive would be refused for now."""
        with self.intake.database.reading() as session:
            earlier = queries.identical_to(
                session, user=user, challenge=target.challenge, phase_key=target.phase.key, sha256=sha256
            )
            limit = None
            if not destination.is_rehearsal:
                keys = [entry.competition for entry in checked.report.entries]
                try:
                    check_quota(
                        session, user=user, challenge=target.challenge, phase=target.phase, competitions=keys, now=now()
                    )
                except LimitedError as error:
                    limit = error
            identical = None if earlier is None else IdenticalArchiveError(earlier)
        return replace(checked, identical=identical, limit=limit)


def adopted(store: ArchiveStore, upload: ResumableUpload) -> IncomingArchive:
    """Return a finished upload as an archive.

    Raises:
        UploadInUseError: it still arrives.
        FileNotFoundError: it was submitted by another request just now, or lost.
        NotFoundError: a part of it was lost.
    """
    try:
        archive = store.adopt(store.unfinished.path(upload.id))
    except BlockingIOError as error:
        raise UploadInUseError("The upload is still in progress. Try again in half a minute.") from error
    if archive.size != upload.byte_count:
        archive.remove()
        raise NotFoundError(resumable.LOST_UPLOAD)
    return archive


def check_submittable(upload: ResumableUpload, destination: Destination, target: Target) -> None:
    """Check that an upload can be submitted.

    Raises:
        ConflictError: it is for something else, or it is not finished.
    """
    wanted = (target.challenge.id, target.phase.key, destination.is_rehearsal)
    if (upload.challenge_id, upload.phase_key, upload.is_rehearsal) != wanted:
        raise ConflictError("This upload is for another challenge or phase. Upload the archive for this one.")
    if not upload.is_finished:
        raise ConflictError(
            f"Only {upload.received_bytes:,} of the {upload.byte_count:,} bytes of the upload have arrived. Send the "
            f"rest first."
        )
