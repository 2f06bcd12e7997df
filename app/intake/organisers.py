"""Receives what organisers upload, ground truth and exported challenges: checks permissions, streams, stores."""

import uuid
from dataclasses import dataclass
from functools import partial

from anyio import to_thread
from starlette.requests import Request

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.app.database import Database
from vocboard.app.intake.fields import ARCHIVE_FIELD, REASON_FIELD
from vocboard.app.intake.in_progress import off_the_loop, upload_in_progress
from vocboard.app.intake.models import UploadKind
from vocboard.app.intake.multipart import CSRF_FIELD, BeforeFile, StreamedForm, receive_form
from vocboard.app.messaging.notifier import WorkerNotifier
from vocboard.app.rescores import service as rescores
from vocboard.app.settings import Settings
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.storage.ground_truth_inbox import GroundTruthInbox
from vocboard.app.transfer.importing import import_challenge
from vocboard.app.transfer.importing_people import addresses_in
from vocboard.app.web.viewer import viewer_now


@dataclass(frozen=True, slots=True)
class TakenGroundTruth:
    """Uploaded ground truth, which a worker imports next.

    Attributes:
        version_id: of the new version.
        rescore_id: of the re-score that was started with it, if one was.
    """

    version_id: uuid.UUID
    rescore_id: uuid.UUID | None


@dataclass(frozen=True, slots=True)
class Intake:
    """Takes the uploads of organisers in one web process; see also `app.intake.service`."""

    settings: Settings
    database: Database
    store: ArchiveStore
    ground_truth_inbox: GroundTruthInbox
    notifier: WorkerNotifier

    async def take_ground_truth(
        self,
        request: Request,
        *,
        slug: str,
        user: User,
        phase_key: str = MAIN_PHASE,
        before_file: BeforeFile | None = None,
    ) -> TakenGroundTruth:
        """Receive ground truth in the field `archive` of a request's multipart form, sealed to the worker as it comes.

        With a field `reason`, a re-score with the version is started, too, if somebody has submitted.

        Args:
            phase_key: the phase that it is for.
            before_file: is given the fields that came before the file; what it raises ends the upload at once.

        Raises:
            NotFoundError, ForbiddenError: as `challenges.get_organised`; also if there is no such phase.
            ConflictError: no worker has started yet, the phase has no ground truth of its own, or there is a reason,
                but another re-score has not ended.
            InvalidInputError: there is no file, or the reason is too long.
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

        def check_fields(form: StreamedForm) -> None:
            if before_file is not None:
                before_file(form)
            with self.database.reading() as session:
                challenge = challenges.get_organised(session, slug, user)
                rescores.check_correction(
                    session, challenge=challenge, phase_key=phase_key, reason=form.value(REASON_FIELD)
                )

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
                    request,
                    file_field=ARCHIVE_FIELD,
                    sink=incoming,
                    limit=limit,
                    pace=pace,
                    known_fields=(REASON_FIELD, CSRF_FIELD),
                    before_file=check_fields,
                )

                def announce() -> TakenGroundTruth:
                    with incoming.kept() as version_id, self.database.writing() as session:
                        # Hours later the person may be signed out, or no organiser any more.
                        present = viewer_now(session, request.state.identity) or user
                        challenge = challenges.get_organised(session, slug, present)
                        version = challenges.add_ground_truth_version(
                            session,
                            challenge=challenge,
                            user=present,
                            file_name=received.file_name,
                            version_id=version_id,
                            phase_key=phase_key,
                        )
                        rescore = rescores.start_with_upload(
                            session,
                            challenge=challenge,
                            user=present,
                            version=version,
                            reason=received.value(REASON_FIELD),
                        )
                        return TakenGroundTruth(version.id, None if rescore is None else rescore.id)

                taken = await to_thread.run_sync(announce)
        await to_thread.run_sync(self.notifier.ground_truth_uploaded)
        return taken

    async def take_challenge(self, request: Request, *, user: User, before_file: BeforeFile | None = None) -> str:
        """Receive the export of a challenge in the field `archive` of a request's multipart form, and import it.

        The field `slug`, if there is one, is its URL name here; `organisers` has the addresses of organisers of the
        other server who are to be invited.

        Args:
            before_file: as for `take_ground_truth`.

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
                    request,
                    file_field=ARCHIVE_FIELD,
                    sink=archive,
                    limit=limit,
                    pace=pace,
                    known_fields=("slug", "organisers", CSRF_FIELD),
                    before_file=before_file,
                )

                def add() -> str:
                    archive.finish()
                    invited = addresses_in(received.value("organisers"))
                    with self.database.reading() as session:
                        present = viewer_now(session, request.state.identity) or user
                    return import_challenge(
                        self.database,
                        self.store,
                        archive.path,
                        user=present,
                        slug=received.value("slug").strip(),
                        archive_limit_bytes=self.settings.upload_limit_bytes,
                        invited=invited,
                        site=self.settings.public_url,
                    ).slug

                return await to_thread.run_sync(add)
