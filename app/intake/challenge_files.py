"""Files of a challenge: who may download them, and removing their contents.

Some are for *admitted* people: those who may submit to one of the challenge's phases, whether or not it is open now,
and have accepted the terms, if there are some; and its organisers. Of phases that everyone may enter, these are all who
have a confirmed account and are not banned.
"""

import uuid
from pathlib import Path

from sqlalchemy.orm import Session

from vocboard.app.accounts.models import User
from vocboard.app.accounts.registration import require_confirmed
from vocboard.app.challenges import files, terms
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.bans import require_not_banned
from vocboard.app.challenges.models import Audience, Challenge, ChallengeFile
from vocboard.app.challenges.phases import phases_of
from vocboard.app.database import Database, now
from vocboard.app.errors import ForbiddenError, NotSignedInError
from vocboard.app.intake.submitting import check_admitted
from vocboard.app.storage.archives import ArchiveStore, DamagedArchiveError
from vocboard.app.submissions.downloading import ArchiveGoneError
from vocboard.app.submissions.pruning import remove_unneeded


def is_admitted(session: Session, challenge: Challenge, viewer: User | None) -> bool:
    """Whether a person may download the files for admitted people.

    Args:
        challenge: with its phases, from `get_visible`.
    """
    try:
        _check_admitted(session, challenge, viewer)
    except (ForbiddenError, NotSignedInError):
        return False
    return True


def file_to_send(
    database: Database, store: ArchiveStore, *, slug: str, file_id: uuid.UUID, viewer: User | None
) -> tuple[ChallengeFile, bool, Path | str]:
    """Return a file, whether everyone who knows its address may have it, and where its content is.

    That is a local path or, unless it is a picture of pages, a link; see `ArchiveStore.link`.

    Raises:
        NotFoundError: the viewer can see no such challenge, or it has no such file.
        NotSignedInError, ForbiddenError: the file is for admitted people.
        ArchiveGoneError: its content is lost.
    """
    with database.reading() as session:
        challenge = challenges.get_visible(session, slug, viewer)
        file = files.get(session, challenge, file_id)
        if file.audience is Audience.ADMITTED:
            _check_admitted(session, challenge, viewer)
        is_public = file.audience is Audience.PUBLIC and challenge.visibility.is_open
    try:
        link = None if file.kind in files.PICTURE_SIZES else store.link(file.sha256, file.name)
        return file, is_public, link or store.file_to_serve(file.sha256)
    except (FileNotFoundError, DamagedArchiveError):
        raise ArchiveGoneError("The content of this file is no longer stored. Tell the organisers.") from None


def remove_file(database: Database, store: ArchiveStore, *, slug: str, file_id: uuid.UUID, user: User) -> None:
    """Remove a file from a challenge, then its content unless something else needs it. Idempotent.

    If the process is killed in between, `app.submissions.pruning` removes the content.

    Raises:
        NotFoundError, ForbiddenError: as `challenges.get_organised`; also if it is another challenge's file.
        ConflictError: the challenge is archived.
    """
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        gone = files.remove(session, challenge=challenge, user=user, file_id=file_id)
    remove_unneeded(database, store, gone)


def _check_admitted(session: Session, challenge: Challenge, viewer: User | None) -> None:
    if viewer is None:
        raise NotSignedInError("This file is for people who may submit. Sign in or send an API token.")
    if challenges.is_organiser(session, challenge, viewer):
        return
    require_confirmed(viewer)
    require_not_banned(session, user_id=viewer.id, challenge_id=challenge.id)
    terms.require_accepted(session, challenge, viewer, at=now())
    refusal: ForbiddenError | None = None
    for phase in phases_of(challenge):
        try:
            check_admitted(session, challenge=challenge, phase=phase, user=viewer)
        except ForbiddenError as error:
            refusal = refusal or error
        else:
            return
    if refusal is not None:
        raise refusal
