"""Receives uploads for the API and the pages: checks permissions, streams, validates, stores, notifies workers."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from anyio import to_thread
from starlette.requests import Request

from vocboard.app.accounts.models import User
from vocboard.app.accounts.registration import require_confirmed
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.bans import require_not_banned
from vocboard.app.challenges.models import MAIN_PHASE, Challenge
from vocboard.app.challenges.phases import Phase
from vocboard.app.database import Database, now
from vocboard.app.errors import InvalidArchiveError
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.quotas.service import check_any_quota_left
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore, columns_limit
from vocboard.app.storage.ground_truth_inbox import GroundTruthInbox
from vocboard.app.submissions import forms
from vocboard.app.submissions import service as submissions
from vocboard.app.submissions.declarations import needed_by_each
from vocboard.app.submissions.validation import Validator
from vocboard.app.transfer.importing import import_challenge
from vocboard.app.uploads.fields import ARCHIVE_FIELD, FIELD_LIMITS, HASHES_FIELD, submission_form
from vocboard.app.uploads.in_progress import cancelled_by_disconnect, off_the_loop, upload_in_progress
from vocboard.app.uploads.models import UploadKind
from vocboard.app.uploads.multipart import StreamedForm, receive_form
from vocboard.app.web.viewer import viewer_now
from vocboard.evaluator.image_sets import ImageSets

BeforeFile = Callable[[StreamedForm], None]


@dataclass(frozen=True, slots=True)
class _Target:
    """The data that an upload is validated against."""

    challenge: Challenge
    phase: Phase
    image_sets: ImageSets


@dataclass(frozen=True, slots=True)
class Intake:
    """Takes the uploads of one web process."""

    settings: Settings
    database: Database
    store: ArchiveStore
    ground_truth_inbox: GroundTruthInbox
    validator: Validator
    notifier: WorkerNotifier

    async def take_submission(
        self,
        request: Request,
        *,
        slug: str,
        user: User,
        phase_key: str | None = None,
        is_rehearsal: bool = False,
        before_file: BeforeFile | None = None,
    ) -> uuid.UUID:
        """Receive, validate and queue the submission in a request's multipart form.

        The fields are `archive` (the file) and those of `submission_form`. The body is only read if the user may
        submit, and nothing of a rejected upload is kept. If the client disconnects, validation stops.

        Args:
            phase_key: the phase that it is for; by default the one that is current when the upload begins.
            is_rehearsal: whether an organiser tries the challenge out.
            before_file: is given the fields that came before the file; what it raises ends the upload at once.

        Returns:
            The new submission's id.

        Raises:
            NotFoundError: the user can see no such challenge, or it has no such phase.
            ForbiddenError: the e-mail address is not confirmed, the registration is not approved, or the user is banned
                from the challenge or not admitted to the phase.
            ConflictError: the phase does not accept submissions.
            InvalidInputError: fields of the form are invalid.
            InvalidArchiveError: the archive has problems.
            TooLargeError: the archive is larger than allowed.
            TooSlowError: the body arrives too slowly.
            LimitedError: the quota or an upload limit is reached.
            NotSignedInError: the token or browser session ended while the upload went on.
            ClientDisconnect: the client disconnected.
        """
        began_at = now()
        async with upload_in_progress(
            request, user=user, kind=UploadKind.SUBMISSION, database=self.database, settings=self.settings
        ) as pace:
            find = partial(
                _target, self.database, slug, user, at=began_at, phase_key=phase_key, is_rehearsal=is_rehearsal
            )
            target = await to_thread.run_sync(find)
            edition = challenges.edition_of_phase(target.challenge, target.phase)
            self.validator.expect_upload()
            archive = await to_thread.run_sync(partial(self.store.receive, limit=self.settings.upload_limit_bytes))
            async with off_the_loop(archive):
                received = await receive_form(
                    request,
                    file_field=ARCHIVE_FIELD,
                    sink=archive,
                    limit=self.settings.upload_limit_bytes,
                    pace=pace,
                    before_file=before_file,
                    text_files=(HASHES_FIELD,),
                    field_limits=FIELD_LIMITS,
                )
                await to_thread.run_sync(archive.finish)
                offered = [edition.competitions[key] for key in target.phase.competitions]
                needed = needed_by_each(offered)
                form = await to_thread.run_sync(
                    lambda: forms.checked(submission_form(received), edition=edition, needed=needed)
                )
                columns = await to_thread.run_sync(partial(self.store.receive, limit=columns_limit(archive.size)))
                async with off_the_loop(columns):
                    with cancelled_by_disconnect(request):
                        report = await self.validator.validate(
                            archive.path,
                            owner=user.id,
                            edition=edition,
                            image_sets=target.image_sets,
                            competitions=[competition.key for competition in offered],
                            columns=columns,
                            segmentation_classes=form.segmentation_classes,
                        )
                    if report.refuses:
                        raise InvalidArchiveError(report.problems, report.groups)

                    def queue() -> uuid.UUID:
                        if report.has_columns:
                            columns.finish()
                        with self.database.writing() as session:
                            viewer_now(
                                session, request.state.identity
                            )  # rejected if the user was signed out in the meantime
                            return submissions.submit(
                                session,
                                user=user,
                                challenge=target.challenge,
                                form=form,
                                archive=archive,
                                report=report,
                                columns=columns,
                                began_at=began_at,
                                phase_key=target.phase.key,
                                is_rehearsal=is_rehearsal,
                            ).id

                    submission_id = await to_thread.run_sync(queue)
        await to_thread.run_sync(self.notifier.submission_queued)
        return submission_id

    async def take_ground_truth(
        self,
        request: Request,
        *,
        slug: str,
        user: User,
        phase_key: str = MAIN_PHASE,
        before_file: BeforeFile | None = None,
    ) -> uuid.UUID:
        """Receive ground truth in the field `archive` of a request's multipart form, sealed to the worker as it comes.

        Args:
            phase_key: the phase that it is for.
            before_file: as for `take_submission`.

        Returns:
            The id of the new version, which a worker imports next.

        Raises:
            NotFoundError, ForbiddenError: as `challenges.get_organised`; also if there is no such phase.
            ConflictError: no worker has started yet, or the phase has no ground truth of its own.
            InvalidInputError: there is no file.
            TooLargeError: it is larger than allowed.
            TooSlowError: the body arrives too slowly.
            LimitedError: an upload limit is reached.
            NotSignedInError: the token or browser session ended while the upload went on.
        """

        def check() -> uuid.UUID:
            with self.database.reading() as session:
                challenge = challenges.get_organised(session, slug, user)
                challenges.check_phase_of_truth(challenge, phase_key)
                return challenge.id

        challenge_id = await to_thread.run_sync(check)
        limit = self.settings.ground_truth_limit_bytes
        async with upload_in_progress(
            request, user=user, kind=UploadKind.GROUND_TRUTH, database=self.database, settings=self.settings
        ) as pace:
            incoming = await to_thread.run_sync(
                partial(self.ground_truth_inbox.receive, challenge_id=challenge_id, limit=limit)
            )
            async with off_the_loop(incoming):
                received = await receive_form(
                    request, file_field=ARCHIVE_FIELD, sink=incoming, limit=limit, pace=pace, before_file=before_file
                )

                def announce() -> uuid.UUID:
                    version_id = incoming.keep()
                    try:
                        with self.database.writing() as session:
                            # Hours later the person may be signed out, or no organiser any more.
                            present = viewer_now(session, request.state.identity) or user
                            return challenges.add_ground_truth_version(
                                session,
                                challenge=challenges.get_organised(session, slug, present),
                                user=present,
                                file_name=received.file_name,
                                version_id=version_id,
                                phase_key=phase_key,
                            ).id
                    except BaseException:
                        self.ground_truth_inbox.discard(version_id)
                        raise

                version_id = await to_thread.run_sync(announce)
        await to_thread.run_sync(self.notifier.ground_truth_uploaded)
        return version_id

    async def take_challenge(self, request: Request, *, user: User, before_file: BeforeFile | None = None) -> str:
        """Receive the export of a challenge in the field `archive` of a request's multipart form, and import it.

        The field `slug`, if there is one, is its URL name here.

        Args:
            before_file: as for `take_submission`.

        Returns:
            The slug of the new challenge.

        Raises:
            ForbiddenError, InvalidArchiveError, InvalidInputError, ConflictError: as `import_challenge`.
            TooLargeError: it is larger than ground truth may be; `vocboard admin import-challenge` takes it.
            TooSlowError: the body arrives too slowly.
            LimitedError: an upload limit is reached.
            NotSignedInError: the token or browser session ended while the upload went on.
        """
        limit = self.settings.ground_truth_limit_bytes
        async with upload_in_progress(
            request, user=user, kind=UploadKind.CHALLENGE, database=self.database, settings=self.settings
        ) as pace:
            archive = await to_thread.run_sync(partial(self.store.receive, limit=limit))
            async with off_the_loop(archive):
                received = await receive_form(
                    request, file_field=ARCHIVE_FIELD, sink=archive, limit=limit, pace=pace, before_file=before_file
                )

                def add() -> str:
                    archive.finish()
                    with self.database.reading() as session:
                        present = viewer_now(session, request.state.identity) or user
                    return import_challenge(
                        self.database,
                        self.store,
                        archive.path,
                        user=present,
                        slug=received.value("slug").strip(),
                        archive_limit_bytes=self.settings.upload_limit_bytes,
                    ).slug

                return await to_thread.run_sync(add)


def _target(
    database: Database, slug: str, user: User, *, at: datetime, phase_key: str | None, is_rehearsal: bool
) -> _Target:
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, user)
        require_confirmed(user)
        require_not_banned(session, user_id=user.id, challenge_id=challenge.id)
        phase = submissions.check_may_submit(
            session, user=user, challenge=challenge, at=at, phase_key=phase_key, is_rehearsal=is_rehearsal
        )
        if not is_rehearsal:
            check_any_quota_left(session, user=user, challenge=challenge, phase=phase, now=now())
        return _Target(challenge, phase, challenges.current_image_sets(session, phase))
