"""Importing a challenge that another server has exported.

An imported challenge is archived, and its scores are the other server's. Its people become accounts that nobody can
sign in to: an archive must not add results to anybody's account, nor tell whether an address has one.
"""

import uuid
from collections import defaultdict
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import Role, User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, Scoring, TruthState, Visibility
from vocboard.app.database import Base, Database, now
from vocboard.app.errors import ForbiddenError, InvalidArchiveError
from vocboard.app.evaluations.models import ClassScore, CompetitionResult, ConfusionShares, Curve, Evaluation, Measure
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry
from vocboard.app.submissions.pruning import hold_archive
from vocboard.app.transfer import reading, records
from vocboard.app.transfer.reading import Contents
from vocboard.app.transfer.records import EvaluationRecord, EventRecord, Person, SubmissionRecord
from vocboard.evaluator.problems import Problem, Severity

NOBODYS_PASSWORD = "!"  # no hash that any password has  # noqa: S105
NOBODYS_DOMAIN = "imported.invalid"  # RFC 2606: no mail ever arrives there
NOT_EVALUATED = "This submission had not been evaluated when its challenge was exported."
ORIGIN = "scored on another server"  # in place of the name of a ground truth's file

_Rows = defaultdict[type[Base], list[dict[str, Any]]]


def import_challenge(
    database: Database, store: ArchiveStore, path: Path, *, user: User, slug: str = "", archive_limit_bytes: int
) -> Challenge:
    """Add the challenge in an archive, as an archived draft of this user.

    Args:
        slug: its URL name here; by default that of the other server.
        archive_limit_bytes: of one submitted archive.

    Raises:
        ForbiddenError: the user may not create challenges.
        InvalidArchiveError: with the first problems of the archive.
        InvalidInputError: the rules or the slug are not valid here.
        ConflictError: the slug is taken.
    """
    if user.role not in {Role.ORGANISER, Role.ADMINISTRATOR}:
        raise ForbiddenError("Only users with the organiser role can import challenges.")
    contents = reading.check(path)
    _store_archives(database, store, path, archive_limit_bytes)
    with database.writing() as session:
        return _add(session, path, contents, user, slug)


def _store_archives(database: Database, store: ArchiveStore, path: Path, archive_limit_bytes: int) -> None:
    """Store the submitted archives first: a row is never without its file. Those of a failed import are pruned."""
    for member in reading.members(path):
        sha256 = member.name.removeprefix(records.ARCHIVES)
        if sha256 == member.name:
            continue
        with store.receive(limit=archive_limit_bytes) as incoming:
            for chunk in member.chunks():
                incoming.write(chunk)
            incoming.finish()
            if incoming.sha256 != sha256:
                message = "The content has another SHA-256 than its name says."
                raise InvalidArchiveError([Problem(reading.CODE, Severity.ERROR, message, member.name, None)])
            with database.writing() as session:
                hold_archive(session, sha256)
                incoming.keep()


def _add(session: Session, path: Path, contents: Contents, user: User, slug: str) -> Challenge:
    header, instant = contents.header, now()
    challenge = challenges.create(
        session,
        organiser=user,
        slug=slug or header.slug,
        edition="" if header.edition_file else header.edition,
        edition_file=header.edition_file,
        rules=header.rules.model_copy(update={"visibility": Visibility.DRAFT}),
        imported_at=instant,
    )
    people = _add_people(session, path)
    scoring = _scoring(session, challenge, header.ground_truth_version)
    methods: dict[tuple[uuid.UUID, str], uuid.UUID] = {}
    for submission in reading.lines_of(path, records.SUBMISSIONS, SubmissionRecord):
        _add_submission(session, challenge, scoring, user_id=people[submission.person], methods=methods, one=submission)
    for event in reading.lines_of(path, records.LOG, EventRecord):
        elsewhere = {"at": event.created_at.isoformat(), "who": event.who, "text": event.text, "action": event.action}
        audit.record(session, actor=None, action="challenge.imported_event", subject=challenge, details=elsewhere)
    details = {"slug": header.slug, "submissions": contents.submissions, "vocboard": header.vocboard}
    audit.record(session, actor=user, action="challenge.import", subject=challenge, details=details)
    return challenge


def _add_people(session: Session, path: Path) -> dict[uuid.UUID, uuid.UUID]:
    """Add accounts that nobody can use; return their ids by those in the archive."""
    ids = {}
    instant = now()
    for person in reading.lines_of(path, records.PEOPLE, Person):
        ids[person.id] = uuid.uuid4()
        session.execute(
            insert(User).values(
                id=ids[person.id],
                created_at=instant,
                email=f"{ids[person.id]}@{NOBODYS_DOMAIN}",
                name=person.name,
                affiliation=person.affiliation,
                password_hash=NOBODYS_PASSWORD,
                role=Role.PARTICIPANT,
                disabled_at=instant,
            )
        )
    return ids


def _scoring(session: Session, challenge: Challenge, number: int | None) -> Scoring:
    """Return the round of scoring that all evaluations belong to; it never becomes the challenge's current one."""
    version = GroundTruthVersion(
        challenge_id=challenge.id, number=number or 1, file_name=ORIGIN, state=TruthState.ELSEWHERE
    )
    session.add(version)
    session.flush()
    scoring = Scoring(challenge_id=challenge.id, ground_truth_version_id=version.id)
    session.add(scoring)
    session.flush()
    return scoring


def _add_submission(
    session: Session,
    challenge: Challenge,
    scoring: Scoring,
    *,
    user_id: uuid.UUID,
    methods: dict[tuple[uuid.UUID, str], uuid.UUID],
    one: SubmissionRecord,
) -> None:
    if (user_id, one.method) not in methods:
        methods[user_id, one.method] = uuid.uuid4()
        values = {"id": methods[user_id, one.method], "challenge_id": challenge.id, "user_id": user_id}
        session.execute(insert(Method).values(**values, name=one.method, created_at=one.created_at))
    # Its own id, so that citations and addresses stay, unless it is taken.
    is_taken = session.scalar(select(Submission.id).where(Submission.id == one.id)) is not None
    submission_id = uuid.uuid4() if is_taken else one.id
    was_waiting = one.state in {State.QUEUED, State.EVALUATING}
    session.execute(
        insert(Submission).values(
            id=submission_id,
            created_at=one.created_at,
            queued_at=one.created_at,
            began_at=one.created_at,
            challenge_id=challenge.id,
            user_id=user_id,
            method_id=methods[user_id, one.method],
            description=one.description,
            contributors=one.contributors,
            affiliation=one.affiliation,
            training_data=one.training_data,
            training_annotation=one.training_annotation,
            flickr_images=one.flickr_images,
            flickr_count=one.flickr_count,
            segmentation_classes=one.segmentation_classes,
            archive_sha256=one.archive_sha256,
            archive_bytes=one.archive_bytes,
            archive_name=one.archive_name,
            warnings=[warning.model_dump(mode="json") for warning in one.warnings],
            state=State.FAILED if was_waiting else one.state,
            failure=NOT_EVALUATED if was_waiting else one.failure,
            finished_at=one.finished_at or now(),
            quota_returned_at=one.quota_returned_at,
            published_at=one.published_at,
            held_back_at=one.held_back_at,
            moderation_reason=one.moderation_reason,
        )
    )
    entries = [
        {"submission_id": submission_id, "position": position, **entry.model_dump()}
        for position, entry in enumerate(one.entries)
    ]
    session.execute(insert(SubmissionEntry), entries)
    if one.evaluation is not None and not was_waiting:
        _add_evaluation(session, submission_id, scoring, one.archive_sha256, one.evaluation)


def _add_evaluation(
    session: Session, submission_id: uuid.UUID, scoring: Scoring, archive_sha256: str, one: EvaluationRecord
) -> None:
    evaluation_id = uuid.uuid4()
    rows: _Rows = defaultdict(list)
    rows[Evaluation].append(
        {
            "id": evaluation_id,
            "submission_id": submission_id,
            "scoring_id": scoring.id,
            "archive_sha256": archive_sha256,
            **one.model_dump(exclude={"results"}),
        }
    )
    for position, result in enumerate(one.results):
        result_id = uuid.uuid4()
        rows[CompetitionResult].append(
            {
                "id": result_id,
                "evaluation_id": evaluation_id,
                "position": position,
                **result.model_dump(exclude={"measures", "curves", "shares"}, mode="json"),
            }
        )
        for number, measure in enumerate(result.measures):
            measure_id = uuid.uuid4()
            dumped = measure.model_dump(exclude={"per_class"})
            rows[Measure].append({"id": measure_id, "result_id": result_id, "position": number, **dumped})
            rows[ClassScore] += [
                {"measure_id": measure_id, "class_name": name, "position": place, "value": value}
                for place, (name, value) in enumerate(measure.per_class.items())
            ]
        rows[Curve] += [
            {"result_id": result_id, "class_name": name, "position": place, **curve.model_dump(mode="json")}
            for place, (name, curve) in enumerate(result.curves.items())
        ]
        if result.shares is not None:
            rows[ConfusionShares].append({"result_id": result_id, "shares": result.shares})
    for table, values in rows.items():
        if values:
            session.execute(insert(table), values)
    session.execute(
        update(Submission)
        .where(Submission.id == submission_id)
        .values(current_evaluation_id=evaluation_id)
        .execution_options(synchronize_session=False)
    )
