"""Exporting a challenge: everything but its ground truth, as one archive."""

import logging
import shutil
import tempfile
import uuid
import weakref
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath

from sqlalchemy import exists, select
from sqlalchemy.orm import Session, joinedload, selectinload

from vocboard.app.accounts.models import User
from vocboard.app.accounts.people import normalised_email
from vocboard.app.announcements.queries import announcements_of, visible_questions
from vocboard.app.audit import service as audit
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges import terms
from vocboard.app.challenges.bans import bans_of
from vocboard.app.challenges.files import files_of
from vocboard.app.challenges.models import (
    Ban,
    Challenge,
    ChallengeOrganiser,
    EditionVersion,
    GroundTruthVersion,
    Scoring,
)
from vocboard.app.challenges.queries import challenge_as_it_is, truth_of_scoring
from vocboard.app.challenges.rules import rules_of
from vocboard.app.database import Base, Database, now
from vocboard.app.evaluations.models import CompetitionResult, ConfusionShares, Curve, Evaluation, Measure
from vocboard.app.leaderboards import freezing
from vocboard.app.storage.archives import ArchiveStore, DamagedArchiveError
from vocboard.app.submissions.models import State, Submission, SubmissionPerson
from vocboard.app.teams.models import Team, TeamMember
from vocboard.app.teams.queries import people_by_team
from vocboard.app.transfer import records, tar
from vocboard.app.transfer.exporting_phases import further_phases, ground_truth_versions, write_phases
from vocboard.app.transfer.files import README, write_lines, write_log, write_people
from vocboard.app.transfer.record_types import same_fields
from vocboard.app.transfer.records import (
    BanRecord,
    CurveRecord,
    EditionRecord,
    Entry,
    EvaluationRecord,
    Header,
    MeasureRecord,
    Person,
    ResultRecord,
    SubmissionRecord,
    TeamRecord,
)
from vocboard.evaluator.version import VERSION

AT_ONCE = 50  # submissions in memory

_LOGGER = logging.getLogger(__name__)


class Export:
    """An export that is ready to be sent.

    Its temporary files have email addresses and unrounded scores. They are removed when it has been streamed, when it
    is discarded, and when nothing refers to it any more: a stream that is never started does not leave them behind.

    Attributes:
        size: bytes.
    """

    def __init__(self, directory: Path, files: Sequence[tar.File]) -> None:
        """Take over a directory, which is removed with the export, and the files to send."""
        self.size = tar.packed_size(files)
        self._files = files
        self._remove_directory = weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)

    def stream(self) -> Iterator[bytes]:
        """Yield the archive once, then remove its temporary files, even if not all of it is read."""
        try:
            yield from tar.pack(self._files)
        finally:
            self.discard()

    def discard(self) -> None:
        """Remove the temporary files. Idempotent."""
        self._remove_directory()


def begin_export(database: Database, store: ArchiveStore, *, slug: str, user: User) -> Export:
    """Log and prepare the export of a challenge by one of its organisers; stream it, or discard it.

    Raises:
        NotFoundError, ForbiddenError: the user does not organise the challenge.
    """
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        audit.record(session, actor=user, action="challenge.export", subject=challenge)
    return export(database, store, challenge.id)


def export(database: Database, store: ArchiveStore, challenge_id: uuid.UUID) -> Export:
    """Write everything but submitted archives and contents of files to temporary files, as of one moment.

    No transaction is open while the export is sent. At most `AT_ONCE` submissions are in memory at any time.
    What is lost or damaged in the store is left out: an export that is being sent could only break off.
    """
    directory = Path(tempfile.mkdtemp(prefix="vocboard-export-"))
    try:
        at = now()
        with database.writing() as session:
            freezing.freeze_due(session, challenge_as_it_is(session, challenge_id), at=at)
        with database.reading() as session:
            needed = {
                *_needed_archives(session, challenge_id),
                *(one.sha256 for one in files_of(session, challenge_id)),
            }
        damaged = _damaged(store, needed)
        with database.snapshot() as session:
            challenge = session.scalars(
                select(Challenge).where(Challenge.id == challenge_id).options(selectinload(Challenge.phases))
            ).one()
            contents = _write_tables(session, store, challenge, directory, damaged, at=at)
        write_log(database, challenge_id, directory)
        first = [records.HEADER, *records.LINES]  # import reads the header before everything else
        names = sorted(
            (path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()),
            key=lambda name: (first.index(name) if name in first else len(first), name),
        )
        files = [tar.File.at(directory / name, name) for name in names]
        files += [
            tar.File(name, size, partial(store.open, PurePosixPath(name).name)) for name, size in contents.items()
        ]
        return Export(directory, files)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def _write_tables(
    session: Session,
    store: ArchiveStore,
    challenge: Challenge,
    directory: Path,
    damaged: Container[str],
    *,
    at: datetime,
) -> dict[str, int]:
    """Write all but the log; return what to add from the store: sizes by name in the export, `PREFIX/SHA-256`.

    Args:
        damaged: SHA-256 of what is left out.
    """
    from vocboard.app.transfer.tables import ScoreTables  # noqa: PLC0415  # pyarrow takes 30 MiB; few processes export

    (directory / "README.txt").write_text(README, encoding="utf-8")
    truth = truth_of_scoring(session, challenge.main_phase.current_scoring_id)
    header = _header(session, challenge, truth)
    (directory / records.HEADER).write_text(header.model_dump_json(indent=2), encoding="utf-8")
    listed = _people(session, challenge.id)
    write_lines(directory / records.PEOPLE, listed)
    write_people(directory / "people.csv", listed)
    names = {person.id: person.name for person in listed}
    needed = _needed_archives(session, challenge.id)
    files = files_of(session, challenge.id)
    wanted = needed.keys() | {one.sha256 for one in files}
    present = {sha256 for sha256 in store.stored() if sha256 in wanted and sha256 not in damaged}
    archives = {sha256: size for sha256, size in needed.items() if sha256 in present}
    files = [one for one in files if one.sha256 in present]
    with (
        (directory / records.SUBMISSIONS).open("w", encoding="utf-8") as file,
        ScoreTables(directory / "scores.csv", directory / "scores.parquet") as tables,
    ):
        for submissions in _submissions(session, challenge, archives):
            tables.add(submissions, names)
            for one in submissions:
                file.write(one.model_dump_json() + "\n")
    write_lines(directory / records.BANS, _bans(session, challenge.id))
    rows: dict[str, Iterable[Base]] = {
        records.TERMS: reversed(terms.versions(session, challenge.id)),
        records.ANNOUNCEMENTS: session.scalars(announcements_of(challenge)),
        # What visitors see: neither private answers nor who has asked.
        records.QUESTIONS: session.scalars(visible_questions(challenge, None, organises=False)),
        records.FILES: files,
    }
    for name, found in rows.items():
        kind = records.LINES[name]
        write_lines(directory / name, (kind(**same_fields(kind, one)) for one in found))
    write_phases(session, challenge, directory, at=at)
    return {records.ARCHIVES + sha256: size for sha256, size in archives.items()} | {
        records.FILE_CONTENTS + one.sha256: one.byte_count for one in files
    }


def _needed_archives(session: Session, challenge_id: uuid.UUID) -> dict[str, int]:
    """Return the bytes of the archives by SHA-256, except archives of withdrawn submissions.

    These may be removed at any moment.
    """
    query = select(Submission.archive_sha256, Submission.archive_bytes).where(
        Submission.challenge_id == challenge_id,
        Submission.state != State.WITHDRAWN,
        Submission.has_archive,
        ~Submission.is_rehearsal,
    )
    return {row.archive_sha256: row.archive_bytes for row in session.execute(query)}


def _damaged(store: ArchiveStore, contents: Iterable[str]) -> set[str]:
    """Read contents of the store, and return the SHA-256 of the lost and damaged ones."""
    damaged = set()
    for sha256 in contents:
        try:
            with store.open(sha256):
                pass
        except (DamagedArchiveError, OSError) as error:
            _LOGGER.error("The content %s is left out of an export: %s", sha256, error)
            damaged.add(sha256)
    return damaged


def _header(session: Session, challenge: Challenge, truth: GroundTruthVersion | None) -> Header:
    return Header(
        format=records.FORMAT,
        vocboard=VERSION,
        exported_at=now(),
        **same_fields(Header, challenge) | {"label_key": challenge.label_key.hex()},
        teams=_teams(session, challenge.id),
        edition_versions=_edition_versions(session, challenge),
        rules=rules_of(challenge),
        phases=further_phases(session, challenge),
        ground_truth_version=truth.number if truth else None,
        ground_truth_versions=ground_truth_versions(session, challenge),
    )


def _teams(session: Session, challenge_id: uuid.UUID) -> list[TeamRecord]:
    named = session.scalars(select(Team).where(Team.challenge_id == challenge_id, Team.name != "").order_by(Team.name))
    teams = named.all()
    people = people_by_team(session, [team.id for team in teams])
    return [TeamRecord(id=one.id, name=one.name, members=[each.id for each in people[one.id]]) for one in teams]


def _edition_versions(session: Session, challenge: Challenge) -> list[EditionRecord]:
    query = select(EditionVersion).where(EditionVersion.challenge_id == challenge.id).order_by(EditionVersion.number)
    return [EditionRecord(**same_fields(EditionRecord, one)) for one in session.scalars(query)]


def _submissions(session: Session, challenge: Challenge, archives: Container[str]) -> Iterator[list[SubmissionRecord]]:
    keys = {row.id: row.key for row in challenge.phases}
    ids = session.scalars(
        select(Submission.id)
        .where(Submission.challenge_id == challenge.id, ~Submission.is_rehearsal)
        .order_by(Submission.created_at, Submission.id)
    ).all()
    for first in range(0, len(ids), AT_ONCE):
        query = (
            select(Submission)
            .where(Submission.id.in_(ids[first : first + AT_ONCE]))
            .options(
                joinedload(Submission.method),
                joinedload(Submission.team),
                selectinload(Submission.people),
                selectinload(Submission.entries),
            )
            .order_by(Submission.created_at, Submission.id)
        )
        found = session.scalars(query).all()
        evaluations = _evaluations(session, [one.current_evaluation_id for one in found if one.current_evaluation_id])
        yield [
            _submission(one, keys[one.phase_id], evaluations.get(one.current_evaluation_id), archives) for one in found
        ]
        session.expunge_all()


def _submission(
    one: Submission, phase: str, evaluation: EvaluationRecord | None, archives: Container[str]
) -> SubmissionRecord:
    """Return a submission with its method and entries as a record, without its owner's private note.

    Args:
        phase: its key.
        archives: SHA-256 of the exported archives.
    """
    return SubmissionRecord(
        **same_fields(SubmissionRecord, one) | {"has_archive": one.has_archive and one.archive_sha256 in archives},
        phase=phase,
        person=one.user_id,
        team=one.team_id if one.team.name else None,
        people=[person.user_id for person in one.people],
        method=one.method.name,
        paper_url=one.method.paper_url,
        code_url=one.method.code_url,
        has_technical_reason=one.failure_detail is not None,
        entries=[Entry(**same_fields(Entry, entry)) for entry in one.entries],
        evaluation=evaluation,
    )


def _evaluations(session: Session, ids: Sequence[uuid.UUID]) -> Mapping[uuid.UUID | None, EvaluationRecord]:
    versions = {
        row.id: row
        for row in session.execute(
            select(Evaluation.id, GroundTruthVersion.number, Scoring.edition_version)
            .join(Scoring, Scoring.id == Evaluation.scoring_id)
            .join(GroundTruthVersion, GroundTruthVersion.id == Scoring.ground_truth_version_id)
            .where(Evaluation.id.in_(ids))
        )
    }
    measures = selectinload(Evaluation.results).selectinload(CompetitionResult.measures)
    query = select(Evaluation).where(Evaluation.id.in_(ids)).options(measures.selectinload(Measure.class_scores))
    found = session.scalars(query).all()
    of_results = [result.id for evaluation in found for result in evaluation.results]
    curves: defaultdict[uuid.UUID, dict[str, CurveRecord]] = defaultdict(dict)
    for curve in session.scalars(select(Curve).where(Curve.result_id.in_(of_results)).order_by(Curve.position)):
        curves[curve.result_id][curve.class_name] = CurveRecord(**same_fields(CurveRecord, curve))
    rows = session.scalars(select(ConfusionShares).where(ConfusionShares.result_id.in_(of_results)))
    shares = {row.result_id: row for row in rows}
    return {
        evaluation.id: EvaluationRecord(
            **same_fields(EvaluationRecord, evaluation),
            ground_truth_version=versions[evaluation.id].number,
            edition_version=versions[evaluation.id].edition_version,
            results=[_result(result, curves[result.id], shares.get(result.id)) for result in evaluation.results],
        )
        for evaluation in found
    }


def _result(
    result: CompetitionResult, curves: Mapping[str, CurveRecord], confusion: ConfusionShares | None
) -> ResultRecord:
    return ResultRecord(
        **same_fields(ResultRecord, result),
        measures=[
            MeasureRecord(
                **same_fields(MeasureRecord, measure),
                per_class={score.class_name: score.value for score in measure.class_scores},
            )
            for measure in result.measures
        ],
        curves=dict(curves),
        shares=None if confusion is None else confusion.shares,
        steps=None if confusion is None else confusion.steps,
    )


def _people(session: Session, challenge_id: uuid.UUID) -> list[Person]:
    """Return the people whom the records of a challenge refer to, and its organisers, by name."""
    is_organiser = exists().where(
        ChallengeOrganiser.challenge_id == challenge_id, ChallengeOrganiser.user_id == User.id
    )
    has_submitted = exists().where(
        Submission.challenge_id == challenge_id,
        SubmissionPerson.submission_id == Submission.id,
        SubmissionPerson.user_id == User.id,
    )
    is_member = exists().where(TeamMember.challenge_id == challenge_id, TeamMember.user_id == User.id)
    is_banned = exists().where(Ban.challenge_id == challenge_id, Ban.user_id == User.id)
    query = (
        select(User, is_organiser)
        .where(is_organiser | has_submitted | is_member | is_banned)
        .order_by(User.name, User.id)
    )
    return [
        Person(**same_fields(Person, user), is_organiser=bool(organises)) for user, organises in session.execute(query)
    ]


def _bans(session: Session, challenge_id: uuid.UUID) -> Iterator[BanRecord]:
    """Yield the bans from a challenge, with the address that each holds for elsewhere.

    Those of deleted accounts hold for nobody elsewhere, as they have no address any more.
    """
    for ban in bans_of(session, challenge_id):
        email = ban.email or ban.user.email
        if normalised_email(email) is None:
            continue
        yield BanRecord(**same_fields(BanRecord, ban) | {"email": email}, person=ban.user_id)
