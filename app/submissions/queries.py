"""Queries for submissions that a viewer may see."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import ColumnElement, ScalarSelect, Select, and_, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session, contains_eager, joinedload, selectinload

from vocboard.app.accounts.models import User
from vocboard.app.accounts.secret_tokens import digest
from vocboard.app.challenges import queries as challenge_queries
from vocboard.app.challenges.models import Challenge, ChallengePhase
from vocboard.app.challenges.phases import Phase, edition_of_phase, phase_with_id
from vocboard.app.challenges.queries import organised_by, organises
from vocboard.app.database import now
from vocboard.app.errors import ConflictError, NotFoundError
from vocboard.app.paging import PER_PAGE, Cursor, Page, paginate_by_time
from vocboard.app.submissions.filters import OwnFilters
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry, SubmissionPerson
from vocboard.app.teams.queries import is_member, teams_of
from vocboard.evaluator.editions import Edition

MAX_COPIES = MAX_REHEARSALS = 20  # that are listed


class IdenticalArchiveError(ConflictError):
    """The person or the team has submitted the same archive before; nothing forbids to do it again.

    Args:
        earlier: that submission.
    """

    code, title = "identical_archive", "The same archive was submitted before"

    def __init__(self, earlier: Submission) -> None:
        super().__init__(
            f"You have submitted exactly this archive before, as “{earlier.method.name}” on "
            f"{earlier.created_at:%Y-%m-%d at %H:%M} UTC. No quota was used now."
        )
        self.submission_id = earlier.id


def get_for(session: Session, submission_id: uuid.UUID, viewer: User | None) -> Submission:
    """Return a submission with its method, user, challenge (with phases) and entries.

    Its team, the challenge's organisers and administrators see every submission, but of a rehearsal's team only who has
    made it does. Everyone who sees the challenge sees
    published ones, unless the phase's leaderboards are still hidden or anonymous.

    Raises:
        NotFoundError: it does not exist, or the viewer may not see it.
    """
    query = complete().where(Submission.id == submission_id, visible_to(viewer))
    submission = session.scalars(query).one_or_none()
    if submission is None:
        raise NotFoundError("This submission does not exist.")
    return submission


@dataclass(frozen=True, slots=True)
class Access:
    """What a viewer is to a submission: by default somebody who sees only what is published.

    Attributes:
        is_own: it is of the viewer's team; of a person alone, and if it is a rehearsal, it is the viewer's.
        is_organised: the viewer organises its challenge, or is an administrator.
    """

    is_own: bool = False
    is_organised: bool = False

    @property
    def is_managed(self) -> bool:
        """Whether the viewer is in its team, or organises its challenge."""
        return self.is_own or self.is_organised


def access_of(session: Session, submission: Submission, viewer: User | None) -> Access:
    """Return what a viewer is to a submission."""
    is_organised = organises(session, viewer, submission.challenge_id)
    return Access(is_own(session, submission, viewer), is_organised)


def is_own(session: Session, submission: Submission, viewer: User | None) -> bool:
    """Whether a submission is of the viewer's team; of a person alone, or if it is a rehearsal, of the viewer."""
    is_others = submission.is_rehearsal and (viewer is None or viewer.id != submission.user_id)
    return not is_others and is_member(session, submission.team_id, viewer)


def owned_by(user: User) -> ColumnElement[bool]:
    """Return the condition that a submission is of one of the person's teams, as `is_own` says of one."""
    is_persons = or_(Submission.is_rehearsal.is_(False), Submission.user_id == user.id)
    return and_(Submission.team_id.in_(teams_of(user)), is_persons)


def visible_competitions(submission: Submission, access: Access) -> list[str]:
    """Return the competitions whose results a viewer of the submission may see, in the order of the edition.

    All for its owner and the organisers; for others those that are published.
    """
    published = submission.published_competitions
    return [entry.competition for entry in submission.entries if access.is_managed or entry.competition in published]


def by_anonymous_token(session: Session, token: str) -> Submission:
    """Return the scored submission of an anonymous link.

    Views must not show the user, the method, contributors or affiliation.

    Raises:
        NotFoundError: the link does not exist or was revoked, or not everyone may see the challenge.
    """
    query = complete().where(
        Submission.anonymous_token_hash == digest(token),
        Submission.state == State.SCORED,
        challenge_queries.visible_to(None),
    )
    submission = session.scalars(query).one_or_none()
    if submission is None:
        raise NotFoundError("This result does not exist.")
    return submission


def mine(
    session: Session,
    *,
    user: User,
    filters: OwnFilters = OwnFilters(),  # noqa: B008  # frozen
    page: int = 1,
    per_page: int = PER_PAGE,
    after: Cursor | None = None,
) -> Page[Submission]:
    """Return the submissions of the user's teams, newest first."""
    query = complete().where(owned_by(user), *filters.conditions())
    keys = (Submission.created_at, Submission.id)
    return paginate_by_time(session, query, keys, page=page, per_page=per_page, after=after)


def identical_to(session: Session, *, user: User, phase_id: uuid.UUID, sha256: str) -> Submission | None:
    """Return the team's latest submission of the same archive to a phase; withdrawn and failed ones do not count."""
    query = complete().where(
        owned_by(user),
        Submission.phase_id == phase_id,
        Submission.archive_sha256 == sha256,
        Submission.state.not_in((State.WITHDRAWN, State.FAILED)),
    )
    return session.scalars(latest_first(query).limit(1)).one_or_none()


def phase_of(submission: Submission) -> Phase:
    """Return the phase that a submission with its challenge belongs to."""
    return phase_with_id(submission.challenge, submission.phase_id)


def phase_title_of(submission: Submission) -> str | None:
    """Return the title of the phase that a submission with its challenge belongs to; None if there is no other."""
    return phase_of(submission).title if len(submission.challenge.phases) > 1 else None


def edition_of_submission(submission: Submission) -> Edition:
    """Return the edition that a submission with its challenge was made by: that of its phase."""
    return edition_of_phase(submission.challenge, phase_of(submission))


def disqualified_twin(session: Session, submission: Submission) -> Submission | None:
    """Return a disqualified submission to the challenge of the same method, or of the same people and content.

    A rehearsal is none: it was never on a leaderboard.
    """
    people = select(SubmissionPerson.user_id).where(SubmissionPerson.submission_id == submission.id)
    of_people = select(SubmissionPerson.submission_id).where(SubmissionPerson.user_id.in_(people))
    is_same = or_(
        Submission.method_id == submission.method_id,
        and_(Submission.id.in_(of_people), has_same_content(submission)),  # also by a member who has left the team
    )
    query = (
        select(Submission)
        .where(
            Submission.challenge_id == submission.challenge_id,
            Submission.state == State.DISQUALIFIED,
            Submission.is_rehearsal.is_(False),
            Submission.id != submission.id,
            is_same,
        )
        .order_by(Submission.created_at.desc())
        .limit(1)
    )
    return session.scalars(query).one_or_none()


def has_same_content(submission: Submission) -> ColumnElement[bool]:
    """Return the condition: byte for byte the same archive, or the same results in another one."""
    same = Submission.archive_sha256 == submission.archive_sha256
    if submission.columns_sha256 is None:
        return same
    return or_(same, Submission.columns_sha256 == submission.columns_sha256)


def copies_of(session: Session, submission: Submission) -> Sequence[Submission]:
    """Return submissions of other teams to the challenge with the same content, with person and method.

    Rehearsals have none, and are none: organisers often rehearse with somebody else's archive.
    """
    if submission.is_rehearsal:
        return ()
    query = (
        select(Submission)
        .where(
            Submission.challenge_id == submission.challenge_id,
            Submission.team_id != submission.team_id,
            ~Submission.is_rehearsal,
            has_same_content(submission),
        )
        .options(joinedload(Submission.user), joinedload(Submission.method))
        .order_by(Submission.created_at, Submission.id)
        .limit(MAX_COPIES)
    )
    return session.scalars(query).all()


def last_rehearsal(session: Session, challenge: Challenge) -> Submission | None:
    """Return the latest submission with which an organiser has tried a challenge out."""
    query = select(Submission).where(Submission.challenge_id == challenge.id, Submission.is_rehearsal)
    return session.scalars(query.order_by(Submission.created_at.desc()).limit(1)).one_or_none()


def scored_rehearsals(session: Session, challenge: Challenge) -> Sequence[Submission]:
    """Return the latest scored submissions with which organisers have tried a challenge out."""
    is_one = Submission.challenge_id == challenge.id, Submission.is_rehearsal, Submission.state == State.SCORED
    query = complete().where(*is_one).order_by(Submission.created_at.desc(), Submission.id).limit(MAX_REHEARSALS)
    return session.scalars(query).all()


def any_archive(session: Session) -> bool:
    """Whether any submission has an archive."""
    return session.scalar(select(Submission.id).where(Submission.has_archive).limit(1)) is not None


@cache
def complete() -> Select[Submission]:
    """Return the query of submissions with their method, team, user, challenge (with phases) and entries."""
    return (
        select(Submission)
        .join(Submission.challenge)
        .join(ChallengePhase, ChallengePhase.id == Submission.phase_id)
        .options(
            contains_eager(Submission.challenge).selectinload(Challenge.phases),
            joinedload(Submission.method),
            joinedload(Submission.user),
            joinedload(Submission.team),
            selectinload(Submission.entries),
        )
    )


def latest_first(query: Select[Submission]) -> Select[Submission]:
    """Return a query in the order of the latest submissions."""
    return query.order_by(Submission.created_at.desc(), Submission.id)


def visible_to(viewer: User | None) -> ColumnElement[bool]:
    """Return the condition that a viewer may see a submission, for `complete`."""
    is_published = and_(
        Submission.published_at.is_not(None),
        Submission.state == State.SCORED,
        challenge_queries.visible_to(viewer),
        _has_come(ChallengePhase.leaderboard_from),
        _has_come(ChallengePhase.anonymous_until),
    )
    if viewer is None:
        return is_published
    return or_(is_published, owned_by(viewer), organised_by(viewer))


def _has_come(date: InstrumentedAttribute[datetime | None]) -> ColumnElement[bool]:
    return or_(date.is_(None), date <= now())


def published_competitors(
    session: Session, submission: Submission, competitions: Collection[str]
) -> Sequence[Submission]:
    """Return the other published submissions of the same method in some of these competitions of the same phase."""
    query = (
        select(Submission)
        .where(
            Submission.method_id == submission.method_id,
            Submission.phase_id == submission.phase_id,
            Submission.id != submission.id,
            Submission.published_at.is_not(None),
            Submission.entries.any(
                and_(SubmissionEntry.competition.in_(competitions), SubmissionEntry.is_private.is_(False))
            ),
        )
        .options(selectinload(Submission.entries))
        .order_by(Submission.id)
    )
    return session.scalars(query).all()


def previous_of(session: Session, submission: Submission, competition: str) -> Submission | None:
    """Return the scored submission of the same method to the same phase and competition before it.

    Rehearsals, which not all of a team see, are compared with each other alone.
    """
    query = (
        complete()
        .where(
            Submission.method_id == submission.method_id,
            Submission.phase_id == submission.phase_id,
            Submission.state == State.SCORED,
            Submission.id != submission.id,
            Submission.is_rehearsal.is_(submission.is_rehearsal),
            Submission.created_at <= submission.created_at,
            Submission.entries.any(SubmissionEntry.competition == competition),
        )
        .order_by(Submission.created_at.desc(), Submission.id)
    )
    return session.scalars(query.limit(1)).one_or_none()


def replaceable_by(session: Session, submission: Submission) -> Sequence[Submission]:
    """Return the published submissions whose place a submission can take where it is not published itself."""
    published = submission.published_competitions
    private = [entry.competition for entry in submission.entries if entry.competition not in published]
    return published_competitors(session, submission, private)


def method_by_id(session: Session, method_id: uuid.UUID) -> Method:
    """Return a method with its challenge.

    Raises:
        NotFoundError: there is none.
    """
    query = select(Method).where(Method.id == method_id).options(joinedload(Method.challenge))
    method = session.scalars(query).one_or_none()
    if method is None:
        raise NotFoundError("This method does not exist, or none of its results is published.")
    return method


def versions_of(session: Session, method: Method, *, owner: User | None) -> Sequence[Submission]:
    """Return the submissions of a method, the latest first.

    Args:
        owner: for whom all of them are returned; None for those that everyone sees.
    """
    query = complete().where(Submission.method_id == method.id)
    query = query.where(visible_to(None) if owner is None else owned_by(owner))
    return session.scalars(latest_first(query)).all()


def is_scored_with_truth_of(
    phase_id: ColumnElement[uuid.UUID] | ScalarSelect[uuid.UUID] | uuid.UUID,
) -> ColumnElement[bool]:
    """Return the condition on submissions that they are scored against the ground truth of a phase."""
    return Submission.phase_id.in_(select(ChallengePhase.id).where(ChallengePhase.truth_phase_id == phase_id))


def entered_competitions(session: Session, *phase_ids: uuid.UUID) -> set[str]:
    """Keys of the competitions that have submissions in any of these phases."""
    return set(
        session.scalars(
            select(SubmissionEntry.competition)
            .join(Submission, Submission.id == SubmissionEntry.submission_id)
            .where(Submission.phase_id.in_(phase_ids))
            .distinct()
        )
    )


def has_submissions(session: Session, phase_id: uuid.UUID) -> bool:
    """Whether anything has been submitted in a phase."""
    return session.scalar(select(Submission.id).where(Submission.phase_id == phase_id).limit(1)) is not None


def has_scored(session: Session, phase_ids: Sequence[uuid.UUID], user_id: uuid.UUID) -> bool:
    """Whether a person has, alone or in a team, a scored submission in one of these phases."""
    of_person = select(SubmissionPerson.submission_id).where(SubmissionPerson.user_id == user_id)
    query = select(Submission.id).where(
        Submission.id.in_(of_person),
        Submission.phase_id.in_(phase_ids),
        Submission.state == State.SCORED,
        Submission.is_rehearsal.is_(False),
    )
    return session.scalar(query.limit(1)) is not None


def has_any_submission(session: Session, challenge_id: uuid.UUID) -> bool:
    """Whether anything has been submitted to a challenge."""
    return session.scalar(select(Submission.id).where(Submission.challenge_id == challenge_id).limit(1)) is not None


def is_submitted_to(session: Session, phase_id: uuid.UUID) -> bool:
    """Whether there are submissions that are scored against the ground truth of a phase."""
    return session.scalar(select(Submission.id).where(is_scored_with_truth_of(phase_id)).limit(1)) is not None
