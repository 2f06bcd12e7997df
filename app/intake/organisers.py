"""Receives what organisers upload: ground truth, exported challenges, files of challenges.

Checks permissions, streams, stores.
"""

import uuid
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anyio import from_thread, to_thread
from starlette.requests import Request

from vocboard.app.accounts.models import User
from vocboard.app.accounts.viewer import viewer_now
from vocboard.app.challenges import files
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.ground_truth import add_ground_truth_version, check_phase_of_truth
from vocboard.app.challenges.models import MAIN_PHASE
from vocboard.app.errors import TooLargeError
from vocboard.app.intake.limits import Place
from vocboard.app.intake.models import UploadKind
from vocboard.app.intake.multipart import (
    ARCHIVE_FIELD,
    CSRF_FIELD,
    REASON_FIELD,
    BeforeFile,
    FormReader,
    StreamedForm,
)
from vocboard.app.intake.receiving import removed_at_end
from vocboard.app.intake.service import Intake
from vocboard.app.intake.validation import Validator
from vocboard.app.rescores import service as rescores
from vocboard.app.storage.archives import IncomingArchive
from vocboard.app.submissions.pruning import lock_archives, remove_unneeded
from vocboard.app.transfer.importing import Redraw, import_challenge
from vocboard.app.transfer.importing_people import addresses_in
from vocboard.evaluator.byte_sizes import size_text

FILE_FIELD = "file"
DESCRIBING_FIELDS = ("kind", "audience", "title")  # of a file of a challenge


@dataclass(frozen=True, slots=True)
class TakenGroundTruth:
    """Uploaded ground truth, which a worker imports next.

    Attributes:
        version_id: of the new version.
        rescore_id: of the re-score that was started with it, if one was.
    """

    version_id: uuid.UUID
    rescore_id: uuid.UUID | None


async def take_ground_truth(
    intake: Intake,
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
        before_file: is given the fields that came before the file; what it raises ends the upload immediately.

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

    def check() -> tuple[uuid.UUID, uuid.UUID]:
        with intake.database.reading() as session:
            challenge = challenges.get_organised(session, slug, user)
            return challenge.id, check_phase_of_truth(challenge, phase_key).id

    def check_fields(form: StreamedForm) -> None:
        if before_file is not None:
            before_file(form)
        with intake.database.reading() as session:
            challenge = challenges.get_organised(session, slug, user)
            rescores.check_correction(session, challenge=challenge, phase_id=phase_id, reason=form.value(REASON_FIELD))

    challenge_id, phase_id = await to_thread.run_sync(check)
    limit = intake.settings.ground_truth_limit_bytes
    async with intake.in_progress(request, user, UploadKind.GROUND_TRUTH) as upload:
        incoming = await to_thread.run_sync(
            partial(intake.ground_truth_inbox.receive, challenge_id=challenge_id, limit=limit)
        )
        async with removed_at_end(incoming):
            reader = FormReader(
                ARCHIVE_FIELD, incoming, limit, known_fields=(REASON_FIELD, CSRF_FIELD), before_file=check_fields
            )
            received = await reader.receive(request, upload.pace)

            def announce() -> TakenGroundTruth:
                with incoming.kept() as version_id, intake.database.writing() as session:
                    # Hours later the person may be signed out, or no organiser any more.
                    present = viewer_now(session, request.state.identity) or user
                    challenge = challenges.get_organised(session, slug, present)
                    version = add_ground_truth_version(
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

            return await to_thread.run_sync(announce)


async def take_challenge(intake: Intake, request: Request, *, user: User, before_file: BeforeFile | None = None) -> str:
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
    limit = intake.settings.ground_truth_limit_bytes
    async with intake.in_progress(request, user, UploadKind.CHALLENGE) as upload:
        archive = await to_thread.run_sync(partial(intake.store.receive, limit=limit))
        async with removed_at_end(archive):
            reader = FormReader(
                ARCHIVE_FIELD, archive, limit, known_fields=("slug", "organisers", CSRF_FIELD), before_file=before_file
            )
            received = await reader.receive(request, upload.pace)

            def add() -> str:
                archive.finish()
                invited = addresses_in(received.value("organisers"))
                with intake.database.reading() as session:
                    present = viewer_now(session, request.state.identity) or user
                return import_challenge(
                    intake.database,
                    intake.store,
                    archive.path,
                    user=present,
                    slug=received.value("slug").strip(),
                    archive_limit_bytes=intake.settings.upload_limit_bytes,
                    files_limit_bytes=intake.settings.challenge_files_limit_bytes,
                    redraw=redraw_from_thread(intake.validator, upload.place),
                    invited=invited,
                    site=intake.settings.public_url,
                ).slug

            return await to_thread.run_sync(add)


def redraw_from_thread(validator: Validator, uploader: Place) -> Redraw:
    """Return a function for threads of an event loop that re-encodes a picture in a confined process."""

    def redraw(path: Path, size: tuple[int, int], drawn: IncomingArchive) -> None:
        from_thread.run(partial(validator.redraw, path, uploader=uploader, size=size, drawn=drawn))

    return redraw


async def take_file(
    intake: Intake, request: Request, *, slug: str, user: User, before_file: BeforeFile | None = None
) -> uuid.UUID:
    """Receive a file of a challenge in the field `file` of a request's multipart form, and store it.

    The fields before it say what it is: `kind`, `audience`, `title`. Pictures are re-encoded.

    Args:
        before_file: as for `take_ground_truth`.

    Returns:
        The id of the file.

    Raises:
        NotFoundError, ForbiddenError: as `challenges.get_organised`.
        ConflictError: the challenge is archived, or has as many files or bytes of them as it may have.
        InvalidInputError: there is no file, a field is invalid, or the picture is refused.
        TooLargeError: the file is larger than allowed, or than what is left for the challenge.
        TooSlowError: the body arrives too slowly.
        LimitedError: an upload limit is reached.
        NotSignedInError: the token or browser session ended while the upload went on.
    """
    limits = intake.settings
    in_all = limits.challenge_files_limit_bytes

    def check() -> int:
        with intake.database.reading() as session:
            return files.bytes_left(session, challenges.get_organised(session, slug, user), limit=in_all)

    def described(form: StreamedForm) -> files.FileDescription:
        given = {name: form.value(name) for name in DESCRIBING_FIELDS}
        return files.described(name=form.file_name, **given)

    def keep(content: IncomingArchive, description: files.FileDescription) -> uuid.UUID:
        content.finish()
        with intake.database.writing() as session:
            present = viewer_now(session, request.state.identity) or user
            file, replaced = files.add(
                session,
                challenge=challenges.get_organised(session, slug, present),
                user=present,
                description=description,
                sha256=content.sha256,
                byte_count=content.size,
                limit=in_all,
            )
            lock_archives(session, content.sha256)
            content.keep()  # last: a row always has its content
        remove_unneeded(intake.database, intake.store, replaced)
        return file.id

    left = await to_thread.run_sync(check)
    limit = min(limits.challenge_file_limit_bytes, left)
    async with intake.in_progress(request, user, UploadKind.CHALLENGE_FILE) as upload:
        incoming = await to_thread.run_sync(partial(intake.store.receive, limit=limit))

        def check_fields(form: StreamedForm) -> None:
            if before_file is not None:
                before_file(form)
            if form.file_name and described(form).kind in files.PICTURE_SIZES:
                incoming.limit = min(limit, files.PICTURE_LIMIT_BYTES)

        async with removed_at_end(incoming):
            try:
                reader = FormReader(
                    FILE_FIELD, incoming, limit, known_fields=(*DESCRIBING_FIELDS, CSRF_FIELD), before_file=check_fields
                )
                received = await reader.receive(request, upload.pace)
            except TooLargeError:
                if left < limits.challenge_file_limit_bytes and incoming.limit == limit:
                    raise files.no_room(left, in_all) from None  # which would say less
                raise TooLargeError(f"This file may have at most {size_text(incoming.limit)}.") from None
            description = described(received)
            size = files.PICTURE_SIZES.get(description.kind)
            if size is None:
                return await to_thread.run_sync(keep, incoming, description)
            await to_thread.run_sync(incoming.flush)
            drawn = await to_thread.run_sync(partial(intake.store.receive, limit=files.PICTURE_LIMIT_BYTES))
            async with removed_at_end(drawn):
                await intake.validator.redraw(incoming.path, uploader=upload.place, size=size, drawn=drawn)
                return await to_thread.run_sync(keep, drawn, description)
