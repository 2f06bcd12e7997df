"""What members of teams are told about their submissions: that they are scored, have failed or are published."""

import itertools
import uuid
from collections.abc import Collection, Iterator, Sequence
from operator import attrgetter
from typing import Any

from sqlalchemy import and_, bindparam, or_, select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge, ChallengePhase
from vocboard.app.notifications.models import NotificationKind
from vocboard.app.notifications.service import notify
from vocboard.app.submissions.models import Method, Submission
from vocboard.app.teams.models import TeamMember
from vocboard.app.webhooks.events import emit
from vocboard.app.webhooks.models import Event

_EVENTS = {
    NotificationKind.SCORED: Event.SCORED,
    NotificationKind.FAILED: Event.FAILED,
    NotificationKind.PUBLISHED: Event.PUBLISHED,
}

# Which members of teams are told about a submission: all, but of a rehearsal only who has made it.
IS_TOLD = and_(
    TeamMember.team_id == Submission.team_id,
    or_(Submission.is_rehearsal.is_(False), TeamMember.user_id == Submission.user_id),
)
_SUBMISSIONS_WITH_MEMBERS = (  # built once: workers execute it with each result
    select(
        Submission.id,
        Submission.failure,
        Submission.is_rehearsal,
        Submission.challenge_id,
        Method.name.label("method"),
        Challenge.title,
        Challenge.slug,
        ChallengePhase.key.label("phase"),
        TeamMember.user_id.label("member"),
    )
    .join(Method, Method.id == Submission.method_id)
    .join(Challenge, Challenge.id == Submission.challenge_id)
    .join(ChallengePhase, ChallengePhase.id == Submission.phase_id)
    .outerjoin(TeamMember, IS_TOLD)
    .where(Submission.id.in_(bindparam("ids", expanding=True)))
    .order_by(Submission.created_at, Submission.id)
)


def scored(session: Session, submission_id: uuid.UUID) -> None:
    """Tell the team that a submission was scored; not the score, which may be hidden."""
    _tell(session, [submission_id], NotificationKind.SCORED, "was scored in")


def failed(session: Session, submission_ids: Collection[uuid.UUID]) -> None:
    """Tell the teams that submissions have failed, and what was stored as the reason for them."""
    _tell(session, submission_ids, NotificationKind.FAILED, "failed in")


def published(session: Session, submission_id: uuid.UUID, *, by: uuid.UUID) -> None:
    """Tell the other members of the team that a member has published a submission."""
    _tell(session, [submission_id], NotificationKind.PUBLISHED, "was published by a member of your team in", but=by)


def published_as_promised(session: Session, submission_id: uuid.UUID) -> None:
    """Tell webhooks alone that a submission was published as soon as it was scored, which people are told."""
    for row, members in _found(session, [submission_id]):
        _emit(session, row, members, Event.PUBLISHED)


def _tell(
    session: Session,
    submission_ids: Collection[uuid.UUID],
    kind: NotificationKind,
    what: str,
    *,
    but: uuid.UUID | None = None,
) -> None:
    for row, members in _found(session, submission_ids):
        _emit(session, row, members, _EVENTS[kind])
        notify(
            session,
            [member for member in members if member != but],
            kind,
            title=f"“{row.method}” {what} “{row.title}”",
            text=(row.failure or "") if kind is NotificationKind.FAILED else "",
            link=f"/submissions/{row.id}",
            challenge_id=row.challenge_id,
        )


def _found(session: Session, submission_ids: Collection[uuid.UUID]) -> Iterator[tuple[Any, Sequence[uuid.UUID]]]:
    """Find what is said of submissions, each with the members of its team."""
    rows = session.execute(_SUBMISSIONS_WITH_MEMBERS, {"ids": list(submission_ids)}).all()
    for _, of_one in itertools.groupby(rows, key=attrgetter("id")):
        same = list(of_one)
        yield same[0], [row.member for row in same if row.member is not None]


def _emit(session: Session, row: Any, members: Collection[uuid.UUID], event: Event) -> None:
    """Tell webhooks about a submission."""
    content = {
        "submission": str(row.id),
        "challenge": row.slug,
        "phase": row.phase,
        "method_name": row.method,
        "is_rehearsal": row.is_rehearsal,
        **({"failure": row.failure} if event is Event.FAILED else {}),
    }
    emit(session, event, [(members, content)], challenge_id=row.challenge_id)
