"""Database queries for challenges and their ground truth."""

import json
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence

from sqlalchemy import ColumnElement, Text, cast, exists, false, func, select, true
from sqlalchemy.orm import Session, aliased, joinedload, selectinload

from vocboard.app.accounts.models import Role, User
from vocboard.app.accounts.people import domain_of
from vocboard.app.challenges.models import (
    OPEN_VISIBILITIES,
    Admission,
    Challenge,
    ChallengeOrganiser,
    ChallengePhase,
    GroundTruthVersion,
    PhaseAdmission,
    Scoring,
    TruthState,
    Visibility,
)
from vocboard.app.errors import NotFoundError

_ANY_PHASE = aliased(ChallengePhase)  # not the one that a query is about


def organised_by(viewer: User | None) -> ColumnElement[bool]:
    """Return the condition that the user organises the challenge or is an administrator.

    Users whose role was changed to participant organise nothing, even if challenges still list them.
    """
    if viewer is None or viewer.role is Role.PARTICIPANT:
        return false()
    if viewer.role is Role.ADMINISTRATOR:
        return true()
    return exists().where(ChallengeOrganiser.challenge_id == Challenge.id, ChallengeOrganiser.user_id == viewer.id)


def admits(viewer: User | None) -> ColumnElement[bool]:
    """Return the condition that a phase of the challenge admits the user by address or by domain.

    Only confirmed addresses count, and only of approved accounts.
    """
    if viewer is None or not (viewer.is_confirmed and viewer.is_approved):
        return false()
    is_listed = exists().where(PhaseAdmission.phase_id == _ANY_PHASE.id, PhaseAdmission.email == viewer.email)
    has_domain = cast(_ANY_PHASE.admission_domains, Text).contains(json.dumps(domain_of(viewer.email)), autoescape=True)
    return exists().where(
        _ANY_PHASE.challenge_id == Challenge.id, is_listed | ((_ANY_PHASE.admission == Admission.DOMAIN) & has_domain)
    )


def admitted(session: Session, challenge: Challenge, people: Iterable[User]) -> Sequence[User]:
    """Return those of many people whom a phase of the challenge admits; for each the same as `admits`."""
    phases = select(ChallengePhase).where(ChallengePhase.challenge_id == challenge.id)
    of_domain = session.scalars(phases.where(ChallengePhase.admission == Admission.DOMAIN))
    domains = {domain for phase in of_domain for domain in phase.admission_domains}
    listed = select(PhaseAdmission.email).join(PhaseAdmission.phase)
    emails = set(session.scalars(listed.where(ChallengePhase.challenge_id == challenge.id)))
    known = (person for person in people if person.is_confirmed and person.is_approved)
    return [person for person in known if person.email in emails or domain_of(person.email) in domains]


def visible_to(viewer: User | None) -> ColumnElement[bool]:
    """Return the condition that the user may see the challenge. Whatever shows challenges asks this."""
    is_open = Challenge.visibility.in_(OPEN_VISIBILITIES)
    if viewer is None:
        return is_open
    return is_open | ((Challenge.visibility == Visibility.PRIVATE) & admits(viewer)) | organised_by(viewer)


def listed_challenges(session: Session, viewer: User | None) -> Sequence[Challenge]:
    """Return public challenges, and private ones and drafts that the user may see, with phases, newest first."""
    return session.scalars(
        select(Challenge)
        .where((Challenge.visibility != Visibility.UNLISTED) | organised_by(viewer), visible_to(viewer))
        .options(selectinload(Challenge.phases))
        .order_by(Challenge.created_at.desc(), Challenge.id)
    ).all()


def organised_challenges(session: Session, organiser: User) -> Sequence[Challenge]:
    """Return the challenges that the user organises, with phases, newest first."""
    return session.scalars(
        select(Challenge)
        .where(organised_by(organiser))
        .options(selectinload(Challenge.phases))
        .order_by(Challenge.created_at.desc(), Challenge.id)
    ).all()


def challenges_by_id(session: Session, ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Challenge]:
    """Return challenges by their id, without phases; those that were deleted are missing."""
    return {one.id: one for one in session.scalars(select(Challenge).where(Challenge.id.in_(ids)))}


def is_visible(slug: ColumnElement[str] | str, viewer: User | None) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that a challenge has this slug and the user may see it."""
    return Challenge.slug == slug, visible_to(viewer)


def is_visible_to(session: Session, challenge_id: uuid.UUID, viewer: User | None) -> bool:
    """Whether the user may see a challenge."""
    return session.scalar(select(Challenge.id).where(Challenge.id == challenge_id, visible_to(viewer))) is not None


def challenge_by_slug(session: Session, slug: str, viewer: User | None) -> tuple[Challenge, bool] | None:
    """Return the challenge with phases if the user may see it, and whether the user organises it."""
    found = session.execute(
        select(Challenge, organised_by(viewer))
        .where(*is_visible(slug, viewer))
        # In one statement: every page of a challenge begins with it.
        .options(joinedload(Challenge.phases))
    )
    row = found.unique().one_or_none()
    return (row[0], bool(row[1])) if row else None


def lock_challenge(session: Session, challenge_id: uuid.UUID) -> None:
    """Lock the challenge on PostgreSQL until the transaction ends; rows that refer to it can still be added.

    Raises:
        NotFoundError: it was deleted after it had been read.
    """
    query = select(Challenge.id).where(Challenge.id == challenge_id)
    if session.scalar(query.with_for_update(key_share=True)) is None:
        raise NotFoundError("This challenge does not exist.")


def challenge_as_it_is(session: Session, challenge_id: uuid.UUID) -> Challenge:
    """Return the current row of the challenge, locked on PostgreSQL until the transaction, which writes, ends."""
    return session.scalars(
        select(Challenge)
        .where(Challenge.id == challenge_id)
        # Refreshing would discard loaded relationships.
        .options(selectinload(Challenge.phases))
        .with_for_update(read=True)
        .execution_options(populate_existing=True)
    ).one()


def challenge_with_phases(session: Session, challenge_id: uuid.UUID) -> Challenge:
    """Return the challenge with its phases, without locking it."""
    return session.scalars(
        select(Challenge).where(Challenge.id == challenge_id).options(selectinload(Challenge.phases))
    ).one()


def organises(session: Session, viewer: User | None, challenge_id: uuid.UUID) -> bool:
    """Whether the user organises a challenge (see `organised_by`)."""
    if viewer is None or viewer.role is Role.PARTICIPANT:
        return False
    return viewer.role is Role.ADMINISTRATOR or session.get(ChallengeOrganiser, (challenge_id, viewer.id)) is not None


def truth_of_scoring(session: Session, scoring_id: uuid.UUID | None) -> GroundTruthVersion | None:
    """The ground truth that a scoring is against."""
    if scoring_id is None:
        return None
    return session.scalar(
        select(GroundTruthVersion)
        .join(Scoring, Scoring.ground_truth_version_id == GroundTruthVersion.id)
        .where(Scoring.id == scoring_id)
    )


def image_sets_of(session: Session, version_id: uuid.UUID) -> bytes | None:
    """Return the stored public part of a ground truth version."""
    return session.scalar(select(GroundTruthVersion.image_sets).where(GroundTruthVersion.id == version_id))


def truth_versions(session: Session, challenge_id: uuid.UUID) -> Sequence[GroundTruthVersion]:
    """Return all ground truth versions of a challenge, newest first; for organisers only."""
    return session.scalars(
        select(GroundTruthVersion)
        .where(GroundTruthVersion.challenge_id == challenge_id)
        .order_by(GroundTruthVersion.number.desc())
    ).all()


def truth_version(session: Session, challenge_id: uuid.UUID, number: int) -> GroundTruthVersion | None:
    """One version of a challenge's ground truth."""
    return session.scalar(
        select(GroundTruthVersion).where(
            GroundTruthVersion.challenge_id == challenge_id, GroundTruthVersion.number == number
        )
    )


def last_truth_number(session: Session, challenge_id: uuid.UUID) -> int:
    """Return the highest version number; 0 if there is none."""
    highest = select(func.max(GroundTruthVersion.number)).where(GroundTruthVersion.challenge_id == challenge_id)
    return session.scalar(highest) or 0


def has_read_truth(session: Session, challenge_id: uuid.UUID) -> bool:
    """Whether any version has been, or is about to be, read by the challenge's edition; those that failed are not."""
    query = select(GroundTruthVersion.id).where(
        GroundTruthVersion.challenge_id == challenge_id, GroundTruthVersion.state != TruthState.FAILED
    )
    return session.scalar(query.limit(1)) is not None


def challenges_with_new_truth(session: Session, challenge_id: uuid.UUID | None = None) -> Sequence[Challenge]:
    """Return challenges with ready ground truth that nothing has been scored with yet, with phases.

    Args:
        challenge_id: only this one.
    """
    is_scored_with = exists().where(Scoring.ground_truth_version_id == GroundTruthVersion.id)
    is_new = exists().where(
        GroundTruthVersion.challenge_id == Challenge.id, GroundTruthVersion.state == TruthState.READY, ~is_scored_with
    )
    query = select(Challenge).where(is_new).options(selectinload(Challenge.phases)).order_by(Challenge.created_at)
    return session.scalars(query if challenge_id is None else query.where(Challenge.id == challenge_id)).all()
