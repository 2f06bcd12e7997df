"""Importing a challenge that another server has exported.

An imported challenge is archived, and its scores are the other server's. Its people become accounts that nobody can
sign in to: an archive must not add results to anybody's account, nor tell whether an address has one.
"""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import Role, User
from vocboard.app.audit import service as audit
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge, Visibility
from vocboard.app.database import Base, Database, now
from vocboard.app.errors import ForbiddenError, InvalidArchiveError
from vocboard.app.evaluations.models import ClassScore, CompetitionResult, ConfusionShares, Curve, Evaluation, Measure
from vocboard.app.storage.archives import ArchiveStore
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry
from vocboard.app.submissions.pruning import hold_archive
from vocboard.app.transfer import reading, records
from vocboard.app.transfer.exported_submission import SAME
from vocboard.app.transfer.importing_people import IMPORTED, add_bans, add_people, check_invited, invite
from vocboard.app.transfer.importing_phases import (
    ScoredWith,
    add_corrections,
    add_edition_versions,
    add_frozen_leaderboards,
    add_ground_truth_versions,
    add_people_of_phases,
    add_phases,
)
from vocboard.app.transfer.reading import Contents
from vocboard.app.transfer.records import EvaluationRecord, EventRecord, SubmissionRecord
from vocboard.evaluator.problems import Problem, Severity

WAITING = frozenset({State.QUEUED, State.EVALUATING})
NOT_EVALUATED = "This submission had not been evaluated when its challenge was exported."

_Rows = defaultdict[type[Base], list[dict[str, Any]]]


def import_challenge(
    database: Database,
    store: ArchiveStore,
    path: Path,
    *,
    user: User,
    slug: str = "",
    archive_limit_bytes: int,
    invited: Sequence[str] = (),
    site: str = "",
) -> Challenge:
    """Add the challenge in an archive, as an archived draft of this user.

    Nobody else gets any right by it. Who is invited becomes an organiser by accepting; after that, the caller calls
    `WorkerNotifier.mail_queued`.

    Args:
        invited: normalised addresses of organisers of the other server, who are to organise it here, too.
        site: the address of this site, for links in invitations.
        slug: its URL name here; by default that of the other server.
        archive_limit_bytes: of one submitted archive.

    Raises:
        ForbiddenError: the user may not create challenges.
        InvalidArchiveError: with the first problems of the archive.
        InvalidInputError: the slug is not valid here, or the archive does not name somebody who is invited.
        LimitedError: the user has sent too many invitations.
        ConflictError: the slug is taken.
    """
    if user.role not in {Role.ORGANISER, Role.ADMINISTRATOR}:
        raise ForbiddenError("Only users with the organiser role can import challenges.")
    contents = reading.check(path)
    check_invited(contents, invited)
    _store_archives(database, store, path, archive_limit_bytes)
    with database.writing() as session:
        return _add(session, path, contents, user, slug, invited=invited, site=site)


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


def _add(
    session: Session, path: Path, contents: Contents, user: User, slug: str, *, invited: Sequence[str], site: str
) -> Challenge:
    header, instant = contents.header, now()
    with reading.rules_at("rules"):
        challenge = challenges.create(
            session,
            organiser=user,
            slug=slug or header.slug,
            edition="" if header.edition_file else header.edition,
            edition_file=header.edition_file,
            rules=header.rules.model_copy(update={"visibility": Visibility.DRAFT}),
            edition_version=header.edition_version,
            imported_at=instant,
        )
    if header.label_key is not None:
        challenge.label_key = bytes.fromhex(header.label_key)
    add_edition_versions(session, challenge, header.edition_versions)
    add_phases(session, challenge, header.phases, user)
    people = add_people(session, path)
    bans = add_bans(session, challenge, path, people=people, user=user)
    versions = add_ground_truth_versions(session, challenge, header.ground_truth_versions)
    adding = _Adding(session, challenge, people, versions)
    ids = {one.id: adding.add(one) for one in reading.lines_of(path, records.SUBMISSIONS, SubmissionRecord)}
    add_people_of_phases(session, challenge, path)
    add_frozen_leaderboards(session, challenge, path, ids)
    add_corrections(session, challenge, path, versions=versions.versions, submissions=ids)
    for event in reading.lines_of(path, records.LOG, EventRecord):
        elsewhere = {"at": event.created_at, "who": event.who, "text": event.text, "action": event.action}
        audit.record(session, actor=None, action="challenge.imported_event", subject=challenge, details=elsewhere)
    details = {
        "slug": header.slug,
        "submissions": contents.submissions,
        "vocboard": header.vocboard,
        "bans": bans,
        "organisers": [{"name": one.name, "email": one.email.lower()} for one in contents.organisers],
    }
    audit.record(session, actor=user, action=IMPORTED, subject=challenge, details=details)
    invite(session, challenge, user, invited, site=site)
    challenge.archived_at = instant
    session.flush()
    return challenge


@dataclass(slots=True)
class _Adding:
    """Adds submissions to an imported challenge.

    Attributes:
        people: ids of accounts, by the ids of people in the archive.
        versions: what evaluations refer to.
        methods: ids of methods, by account and name.
    """

    session: Session
    challenge: Challenge
    people: Mapping[uuid.UUID, uuid.UUID]
    versions: ScoredWith
    methods: dict[tuple[uuid.UUID, str], uuid.UUID] = field(default_factory=dict)

    def add(self, one: SubmissionRecord) -> uuid.UUID:
        """Add a submission with its scores, and return its id here."""
        user_id = self.people[one.person]
        submission_id = _add_submission(self.session, self.challenge, user_id, self._method(user_id, one), one)
        if one.evaluation is not None and one.state not in WAITING:
            scoring_id = self.versions.scoring_id(one.evaluation.ground_truth_version, one.evaluation.edition_version)
            _add_evaluation(self.session, submission_id, scoring_id, one.archive_sha256, one.evaluation)
        return submission_id

    def _method(self, user_id: uuid.UUID, one: SubmissionRecord) -> uuid.UUID:
        key = user_id, one.method
        if key not in self.methods:
            self.methods[key] = uuid.uuid4()
            values = {"id": self.methods[key], "challenge_id": self.challenge.id, "user_id": user_id}
            self.session.execute(insert(Method).values(**values, **self._described(one)))
        return self.methods[key]

    def _described(self, one: SubmissionRecord) -> dict[str, Any]:
        return {
            "name": one.method,
            "created_at": one.created_at,
            "paper_url": one.paper_url,
            "code_url": one.code_url,
        }


def _add_submission(
    session: Session, challenge: Challenge, user_id: uuid.UUID, method_id: uuid.UUID, one: SubmissionRecord
) -> uuid.UUID:
    # Its own id, so that citations and addresses stay, unless it is taken.
    is_taken = session.scalar(select(Submission.id).where(Submission.id == one.id)) is not None
    submission_id = uuid.uuid4() if is_taken else one.id
    was_waiting = one.state in WAITING
    session.execute(
        insert(Submission).values(
            **{name: getattr(one, name) for name in SAME},
            id=submission_id,
            queued_at=one.created_at,
            challenge_id=challenge.id,
            phase_key=one.phase,
            user_id=user_id,
            method_id=method_id,
            has_archive=one.has_archive,  # checked: the archive was in the import, and has this hash
            warnings=[warning.model_dump(mode="json") for warning in one.warnings],
            state=State.FAILED if was_waiting else one.state,
            failure=NOT_EVALUATED if was_waiting else one.failure,
            finished_at=one.finished_at or now(),
        )
    )
    entries = [
        {"submission_id": submission_id, "position": position, **entry.model_dump()}
        for position, entry in enumerate(one.entries)
    ]
    session.execute(insert(SubmissionEntry), entries)
    return submission_id


def _add_evaluation(
    session: Session, submission_id: uuid.UUID, scoring_id: uuid.UUID, archive_sha256: str, one: EvaluationRecord
) -> None:
    evaluation_id = uuid.uuid4()
    rows: _Rows = defaultdict(list)
    rows[Evaluation].append(
        {
            "id": evaluation_id,
            "submission_id": submission_id,
            "scoring_id": scoring_id,
            "archive_sha256": archive_sha256,
            **one.model_dump(exclude={"results", "ground_truth_version", "edition_version"}),
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
            dumped = measure.model_dump(exclude={"per_class"}, mode="json")
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
