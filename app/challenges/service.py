"""Challenges: who sees which, their rules and their phase. Their ground truth is in `app.challenges.ground_truth`."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.accounts.models import Role, User
from app.audit import service as audit
from app.challenges import queries, rules
from app.challenges.ground_truth import (
    add_ground_truth_version,
    current_image_sets,
    current_truth,
    ground_truth_versions,
    image_sets_json,
)
from app.challenges.models import Challenge, ChallengeCompetition, ChallengeOrganiser, Visibility
from app.errors import ConflictError, ForbiddenError, NotFoundError
from app.fields import FieldChecks
from evaluator import editions
from evaluator.editions import Edition

__all__ = [
    "Phase",
    "add_ground_truth_version",
    "check_accepting",
    "create",
    "current_image_sets",
    "current_truth",
    "edition_of",
    "get_organised",
    "get_visible",
    "ground_truth_versions",
    "image_sets_json",
    "is_organiser",
    "organised_challenges",
    "phase",
    "update",
    "visible_challenges",
]


class Phase(StrEnum):
    """Whether a challenge takes submissions now, and if not, why."""

    NOT_YET_OPEN = "not_yet_open"
    NOT_READY = "not_ready"  # it would be open, but has no ground truth yet
    OPEN = "open"
    CLOSED = "closed"


def phase(challenge: Challenge, now: datetime) -> Phase:
    """Return the phase of a challenge at an instant. It opens at the first instant and is closed from the last one."""
    if challenge.closes_at is not None and challenge.closes_at <= now:
        return Phase.CLOSED
    if challenge.opens_at is not None and now < challenge.opens_at:
        return Phase.NOT_YET_OPEN
    return Phase.OPEN if challenge.current_scoring_id is not None else Phase.NOT_READY


def check_accepting(session: Session, challenge: Challenge, *, at: datetime) -> None:
    """Check, in the transaction of a submission, that the challenge takes submissions.

    Args:
        at: when the upload began: a deadline is met by beginning before it.

    Raises:
        ConflictError: it does not, and why.
    """
    present = queries.challenge_as_it_is(session, challenge.id)
    match phase(present, at):
        case Phase.NOT_YET_OPEN:
            raise ConflictError(f"This challenge opens at {present.opens_at:%Y-%m-%d %H:%M} UTC.")
        case Phase.CLOSED:
            raise ConflictError(f"This challenge closed at {present.closes_at:%Y-%m-%d %H:%M} UTC.")
        case Phase.NOT_READY:
            raise ConflictError("This challenge has no ground truth yet. Its organisers have to upload it first.")


def edition_of(challenge: Challenge) -> Edition:
    """Return the challenge's edition."""
    return editions.load(challenge.edition)


def visible_challenges(session: Session, viewer: User | None) -> Sequence[Challenge]:
    """Return the challenges to list for a person: public ones and those the person organises, the newest first."""
    return queries.listed_challenges(session, viewer)


def organised_challenges(session: Session, user: User) -> Sequence[Challenge]:
    """Return the challenges a person organises, for an administrator all, the newest first."""
    return queries.organised_challenges(session, user)


def get_visible(session: Session, slug: str, viewer: User | None) -> Challenge:
    """Return a challenge, with its competitions.

    Raises:
        NotFoundError: there is none, or it is a draft and the person is not among its organisers.
    """
    return _find(session, slug, viewer)[0]


def get_organised(session: Session, slug: str, user: User) -> Challenge:
    """Return a challenge that the person organises (administrators: any), with its competitions.

    Raises:
        NotFoundError: the person cannot even see it.
        ForbiddenError: the person sees it but does not organise it.
    """
    challenge, organises = _find(session, slug, user)
    if not organises:
        raise ForbiddenError("Only the organisers of this challenge can do this.")
    return challenge


def is_organiser(session: Session, challenge: Challenge, user: User | None) -> bool:
    """Whether a person organises a challenge; administrators do all."""
    return queries.organises(session, user, challenge.id)


def create(
    session: Session,
    *,
    organiser: User,
    slug: str,
    title: str,
    description: str,
    edition: str,
    competitions: Sequence[str] | None,
    opens_at: datetime | None,
    closes_at: datetime | None,
    quota_count: int,
    quota_period: timedelta,
    visibility: Visibility,
    decimals: int,
) -> Challenge:
    """Make a challenge with this person as its organiser.

    Args:
        slug: its part of the address.
        competitions: keys out of the edition's; None for all of them.
        quota_count: submissions a person may make to a competition in any `quota_period`.
        decimals: places to which scores (fractions) are rounded wherever they are shown.

    Raises:
        ForbiddenError: the person is a participant.
        InvalidInputError: with everything that is wrong, by the names above.
        ConflictError: the slug is taken.
    """
    if organiser.role is Role.PARTICIPANT:
        raise ForbiddenError("Only organisers can make challenges. Ask the operator of this server for that role.")
    checks = FieldChecks()
    rules.check_slug(checks, slug)
    known = rules.known_edition(checks, edition)
    columns = rules.checked_rules(
        checks,
        title=title,
        description=description,
        opens_at=opens_at,
        closes_at=closes_at,
        quota_count=quota_count,
        quota_period=quota_period,
        visibility=visibility,
        decimals=decimals,
    )
    keys = rules.ordered_keys(checks, known, competitions) if known else ()
    checks.finish()
    challenge = Challenge(slug=slug, edition=known.name if known else "", competitions=_rows(keys), **columns)
    try:
        with session.begin_nested():
            session.add(challenge)
            session.flush()
    except IntegrityError:
        raise ConflictError(f"Another challenge has the address {slug!r}. Choose a different one.") from None
    session.add(ChallengeOrganiser(challenge_id=challenge.id, user_id=organiser.id))
    audit.record(session, actor=organiser, action="challenge.create", subject=challenge, details=_logged(challenge))
    return challenge


def update(
    session: Session,
    *,
    challenge: Challenge,
    user: User,
    title: str,
    description: str,
    competitions: Sequence[str] | None,
    opens_at: datetime | None,
    closes_at: datetime | None,
    quota_count: int,
    quota_period: timedelta,
    visibility: Visibility,
    decimals: int,
) -> None:
    """Change the rules of a challenge that `get_organised` gave; slug and edition stay what they are.

    Args: as for `create`.

    Raises:
        InvalidInputError: with everything that is wrong; also competitions that the current ground truth cannot score.
        ConflictError: a competition to be taken away has submissions.
    """
    queries.lock_challenge(session, challenge.id)
    before = _logged(challenge)
    checks = FieldChecks()
    columns = rules.checked_rules(
        checks,
        title=title,
        description=description,
        opens_at=opens_at,
        closes_at=closes_at,
        quota_count=quota_count,
        quota_period=quota_period,
        visibility=visibility,
        decimals=decimals,
    )
    keys = rules.ordered_keys(checks, edition_of(challenge), competitions)
    truth = current_truth(session, challenge)
    if truth is not None and (missing := [key for key in keys if key not in (truth.competitions or ())]):
        checks.fail("competitions", f"The present ground truth cannot score {', '.join(missing)}.")
    checks.finish()
    if removed := sorted({row.key for row in challenge.competitions} - set(keys)):
        entered = queries.entered_competitions(session, challenge.id)
        if kept := [key for key in removed if key in entered]:
            raise ConflictError(f"{', '.join(kept)} cannot be taken away: there are submissions.")
    for name, value in columns.items():
        setattr(challenge, name, value)
    present = {row.key: row for row in challenge.competitions}
    challenge.competitions = [present.get(row.key, row) for row in _rows(keys)]
    for position, row in enumerate(challenge.competitions):
        row.position = position
    session.flush()
    after = _logged(challenge)
    changes = {name: {"from": before[name], "to": after[name]} for name in after if before[name] != after[name]}
    if changes:
        audit.record(session, actor=user, action="challenge.update", subject=challenge, details=changes)


def _find(session: Session, slug: str, viewer: User | None) -> tuple[Challenge, bool]:
    # Anything else is not a slug, and PostgreSQL refuses to be asked for some of it.
    found = queries.challenge_by_slug(session, slug, viewer) if rules.SLUG.fullmatch(slug) else None
    if found is None:
        raise NotFoundError("There is no such challenge.")
    return found


def _rows(keys: Sequence[str]) -> list[ChallengeCompetition]:
    return [ChallengeCompetition(key=key, position=position) for position, key in enumerate(keys)]


def _logged(challenge: Challenge) -> dict[str, object]:
    """What the audit log keeps of a challenge's rules."""
    return {
        "title": challenge.title,
        "description": challenge.description,
        "edition": challenge.edition,
        "competitions": [row.key for row in challenge.competitions],
        "opens_at": challenge.opens_at.isoformat() if challenge.opens_at else None,
        "closes_at": challenge.closes_at.isoformat() if challenge.closes_at else None,
        "quota_count": challenge.quota_count,
        "quota_period_seconds": challenge.quota_period_seconds,
        "visibility": challenge.visibility.value,
        "decimals": challenge.decimals,
    }
