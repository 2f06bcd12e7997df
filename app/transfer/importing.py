"""Importing a challenge that another server has exported.

An imported challenge is archived, and its scores are the other server's. Its people become accounts that nobody can
sign in to: an archive must not add results to anybody's account, nor tell whether an address has one.
"""

import contextlib
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import Role, User
from vocboard.app.announcements.models import Announcement, Question
from vocboard.app.audit import service as audit
from vocboard.app.challenges import files
from vocboard.app.challenges.models import (
    MAIN_PHASE,
    Challenge,
    ChallengeFile,
    ChallengeTerms,
    FileKind,
    Visibility,
)
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError, ForbiddenError, InvalidArchiveError, InvalidInputError
from vocboard.app.evaluations.origin import IMPORTED
from vocboard.app.organising import challenge_changes
from vocboard.app.storage.archives import ArchiveStore, IncomingArchive
from vocboard.app.submissions.models import Submission
from vocboard.app.submissions.pruning import lock_archives
from vocboard.app.transfer import reading, records, tar
from vocboard.app.transfer.importing_people import add_bans, add_people, check_invited, invite
from vocboard.app.transfer.importing_phases import (
    add_corrections,
    add_edition_versions,
    add_frozen_leaderboards,
    add_ground_truth_versions,
    add_people_of_phases,
    add_phases,
    add_reported_results,
)
from vocboard.app.transfer.importing_submissions import SubmissionImporter
from vocboard.app.transfer.reading import Contents
from vocboard.app.transfer.records import (
    AnnouncementRecord,
    EventRecord,
    FileRecord,
    QuestionRecord,
    SubmissionRecord,
    TermsRecord,
)
from vocboard.app.transfer.staging import Staging
from vocboard.evaluator.byte_sizes import size_text
from vocboard.evaluator.problems import Problem, Severity

Redraw: TypeAlias = Callable[[Path, tuple[int, int], IncomingArchive], None]
"""Re-encodes a picture to the largest width and height. Raises `InvalidInputError` if it is refused."""
_StoredFiles: TypeAlias = Mapping[tuple[str, FileKind], IncomingArchive]  # by SHA-256 in the archive


@dataclass(frozen=True, slots=True)
class _Results:
    """The rows added for the people and submissions of an archive: ids here.

    Attributes:
        people: by the ids in the archive, like `submissions`.
        truths: of ground truth versions, by number.
    """

    people: Mapping[uuid.UUID, uuid.UUID]
    truths: Mapping[int, uuid.UUID]
    submissions: Mapping[uuid.UUID, uuid.UUID]


@dataclass(frozen=True, slots=True)
class _NewChallenge:
    """A challenge whose row is added later: what its events are about.

    Attributes:
        phases: ids of its phases, by key.
    """

    id: uuid.UUID
    phases: Mapping[str, uuid.UUID]
    __tablename__: ClassVar[str] = Challenge.__tablename__


def import_challenge(
    database: Database,
    store: ArchiveStore,
    path: Path,
    *,
    user: User,
    slug: str = "",
    archive_limit_bytes: int,
    files_limit_bytes: int,
    redraw: Redraw,
    invited: Sequence[str] = (),
    site: str = "",
) -> Challenge:
    """Add the challenge in an archive, as an archived draft of this user.

    No other person gets any rights. People who are invited become organisers by accepting.

    Args:
        invited: normalised addresses of organisers of the other server, who are to organise it here, too.
        site: the address of this site, for links in invitations.
        slug: its short name on this server; by default, the one in the archive.
        archive_limit_bytes: of one submitted archive.
        files_limit_bytes: of all files of the challenge.
        redraw: for its pictures.

    Raises:
        ForbiddenError: the user may not create challenges.
        InvalidArchiveError: with the first problems of the archive.
        InvalidInputError: the slug is not valid here, or the archive does not name a person who is invited.
        LimitedError: the user has sent too many invitations.
        ConflictError: the slug is taken, the same archive was imported at the same time, or a file was removed here.
    """
    if user.role not in {Role.ORGANISER, Role.ADMINISTRATOR}:
        raise ForbiddenError("Only users with the organiser role can import challenges.")
    contents = reading.check(path)
    check_invited(contents, invited)
    _check_size(contents.files, files_limit_bytes)
    _store_archives(database, store, path, archive_limit_bytes)
    stored = _store_files(database, store, path, contents.files, redraw)
    keys = [MAIN_PHASE, *(phase.key for phase in contents.header.phases)]
    new = _NewChallenge(uuid.uuid4(), {key: uuid.uuid4() for key in keys})
    with (
        _prepared_results(database, path, contents, new) as add_results,
        database.writing() as session,
    ):
        challenge = _create(session, new, contents, user, slug)
        try:
            results = add_results(session)
        except IntegrityError:
            raise ConflictError("Another import of the same archive has just ended. Import it again.") from None
        _complete(session, challenge, path, contents, user=user, results=results)
        _add_files(session, store, challenge, contents.files, stored)
        invite(session, challenge, user, invited, site=site)
    return challenge


def _store_archives(database: Database, store: ArchiveStore, path: Path, archive_limit_bytes: int) -> None:
    """Store the submitted archives first: a row is never without its file. Those of a failed import are pruned."""
    for member in reading.members(path):
        if member.name.startswith(records.ARCHIVES):
            with _received(store, member, records.ARCHIVES, limit=archive_limit_bytes) as incoming:
                _keep(database, incoming)


def _store_files(
    database: Database, store: ArchiveStore, path: Path, listed: Sequence[FileRecord], redraw: Redraw
) -> _StoredFiles:
    """Store the contents of the challenge's files, pictures re-encoded, as if they were uploaded here."""
    kinds: defaultdict[str, set[FileKind]] = defaultdict(set)
    for one in listed:
        kinds[one.sha256].add(one.kind)
    stored: dict[tuple[str, FileKind], IncomingArchive] = {}
    for member in reading.members(path):
        sha256 = member.name.removeprefix(records.FILE_CONTENTS)
        if sha256 == member.name or sha256 not in kinds:
            continue
        with _received(store, member, records.FILE_CONTENTS, limit=member.size) as incoming:
            for kind in kinds[sha256] & files.PICTURE_SIZES.keys():
                with store.receive(limit=files.PICTURE_LIMIT_BYTES) as drawn:
                    try:
                        redraw(incoming.path, files.PICTURE_SIZES[kind], drawn)
                    except InvalidInputError as error:
                        raise _refused(member.name, error.fields["file"]) from None
                    drawn.finish()
                    _keep(database, drawn)
                    stored[sha256, kind] = drawn
            if FileKind.DATA in kinds[sha256]:
                _keep(database, incoming)
                stored[sha256, FileKind.DATA] = incoming
    return stored


@contextlib.contextmanager
def _received(store: ArchiveStore, member: tar.Member, folder: str, *, limit: int) -> Iterator[IncomingArchive]:
    """Yield the complete content of a member that is named by its SHA-256 in a folder."""
    with store.receive(limit=limit) as incoming:
        for chunk in member.chunks():
            incoming.write(chunk)
        incoming.finish()
        if folder + incoming.sha256 != member.name:
            raise _refused(member.name, "The content has another SHA-256 than its name says.")
        yield incoming


def _keep(database: Database, incoming: IncomingArchive) -> None:
    with database.writing() as session:
        lock_archives(session, incoming.sha256)
        incoming.keep()


def _check_size(listed: Sequence[FileRecord], limit: int) -> None:
    if sum(one.byte_count for one in listed) > limit:
        raise _refused(records.FILES, f"The files of a challenge may have {size_text(limit)} together on this server.")


def _refused(name: str, message: str) -> InvalidArchiveError:
    return InvalidArchiveError([Problem(reading.CODE, Severity.ERROR, message, name, None)])


@contextlib.contextmanager
def _prepared_results(
    database: Database, path: Path, contents: Contents, new: _NewChallenge
) -> Iterator[Callable[[Session], _Results]]:
    """Return an object that adds the people and submissions, in the transaction of a session.

    On SQLite, others cannot write meanwhile. So there the rows are prepared first.
    """
    if not database.is_sqlite:
        yield lambda session: _add_results(session, session, path, contents, new)
        return
    with Staging(operator=database.operator) as staging:
        with database.reading() as here:
            results = _add_results(staging.session, here, path, contents, new)

        def copy(session: Session) -> _Results:
            staging.copy_to(session)
            return results

        yield copy


def _add_results(session: Session, here: Session, path: Path, contents: Contents, new: _NewChallenge) -> _Results:
    """Add people, ground truth versions, submissions with their scores, and the log of the other server.

    Args:
        here: reads which submissions there are on this server.
    """

    def is_taken(submission_id: uuid.UUID) -> bool:
        return here.scalar(select(Submission.id).where(Submission.id == submission_id)) is not None

    people = add_people(session, path)
    versions = add_ground_truth_versions(session, new.id, new.phases, contents.header.ground_truth_versions)
    importer = SubmissionImporter(session, new.id, new.phases, people, versions, is_taken)
    importer.add_teams(contents.header.teams)
    ids = {one.id: importer.add(one) for one in reading.lines_of(path, records.SUBMISSIONS, SubmissionRecord)}
    for event in reading.lines_of(path, records.LOG, EventRecord):
        elsewhere = {"at": event.created_at, "who": event.who, "text": event.text, "action": event.action}
        audit.record(session, actor=None, action="challenge.imported_event", subject=new, details=elsewhere)
    return _Results(people, versions.versions, ids)


def _create(session: Session, new: _NewChallenge, contents: Contents, user: User, slug: str) -> Challenge:
    header = contents.header
    with reading.rules_at("rules"):
        challenge = challenge_changes.create(
            session,
            organiser=user,
            slug=slug or header.slug,
            edition="" if header.edition_file else header.edition,
            edition_file=header.edition_file,
            rules=header.rules.model_copy(update={"visibility": Visibility.DRAFT}),
            edition_version=header.edition_version,
            challenge_id=new.id,
            phase_id=new.phases[MAIN_PHASE],
            imported_at=now(),
        )
    if header.label_key is not None:
        challenge.label_key = bytes.fromhex(header.label_key)
    add_edition_versions(session, challenge, header.edition_versions)
    add_phases(session, challenge, header.phases, new.phases, user)
    return challenge


def _complete(
    session: Session, challenge: Challenge, path: Path, contents: Contents, *, user: User, results: _Results
) -> None:
    """Add what refers to people and submissions, and archive the challenge."""
    header = contents.header
    bans = add_bans(session, challenge, path, people=results.people, user=user)
    add_people_of_phases(session, challenge, path)
    add_frozen_leaderboards(session, challenge, path, results.submissions)
    add_reported_results(session, challenge, path)
    add_corrections(session, challenge, path, versions=results.truths, submissions=results.submissions)
    for version in reading.lines_of(path, records.TERMS, TermsRecord):
        session.add(ChallengeTerms(challenge_id=challenge.id, **version.model_dump()))
    for said in reading.lines_of(path, records.ANNOUNCEMENTS, AnnouncementRecord):
        session.add(Announcement(challenge_id=challenge.id, **said.model_dump()))
    for asked in reading.lines_of(path, records.QUESTIONS, QuestionRecord):
        session.add(Question(challenge_id=challenge.id, is_public=True, **asked.model_dump()))
    details = {
        "slug": header.slug,
        "submissions": contents.submissions,
        "vocboard": header.vocboard,
        "bans": bans,
        "organisers": [{"name": one.name, "email": one.email.lower()} for one in contents.organisers],
    }
    audit.record(session, actor=user, action=IMPORTED, subject=challenge, details=details)
    challenge.archived_at = challenge.imported_at
    session.flush()


def _add_files(
    session: Session, store: ArchiveStore, challenge: Challenge, listed: Sequence[FileRecord], stored: _StoredFiles
) -> None:
    for one in listed:
        content = stored[one.sha256, one.kind]
        description = files.described(name=one.name, title=one.title, kind=one.kind, audience=one.audience)
        lock_archives(session, content.sha256)  # so that it is not removed as unneeded while its row is added
        if not (store.restore(content.sha256) or store.has(content.sha256)):
            raise ConflictError("The last challenge here with one of these files has just removed it. Import it again.")
        session.add(
            ChallengeFile(
                challenge_id=challenge.id,
                created_at=one.created_at,
                kind=one.kind,
                audience=one.audience,
                name=description.name,
                title=description.title,
                byte_count=content.size,
                sha256=content.sha256,
                media_type=description.media_type,
            )
        )
