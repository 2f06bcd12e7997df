"""What members of teams are told about their submissions: that they are scored, have failed or are published."""

import uuid
from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge
from vocboard.app.notifications.models import NotificationKind
from vocboard.app.notifications.service import notify
from vocboard.app.submissions.models import Method, Submission
from vocboard.app.teams.models import TeamMember


def scored(session: Session, submission_id: uuid.UUID) -> None:
    """Tell the team that a submission was scored; not the score, which may be hidden."""
    _tell(session, [submission_id], NotificationKind.SCORED, "was scored in")


def failed(session: Session, submission_ids: Collection[uuid.UUID]) -> None:
    """Tell the teams that submissions have failed, and what was stored as the reason for them."""
    _tell(session, submission_ids, NotificationKind.FAILED, "failed in")


def published(session: Session, submission_id: uuid.UUID, *, by: uuid.UUID) -> None:
    """Tell the other members of the team that a member has published a submission."""
    _tell(session, [submission_id], NotificationKind.PUBLISHED, "was published by a member of your team in", but=by)


def _tell(
    session: Session,
    submission_ids: Collection[uuid.UUID],
    kind: NotificationKind,
    what: str,
    *,
    but: uuid.UUID | None = None,
) -> None:
    rows = session.execute(
        select(Submission.id, Submission.team_id, Submission.failure, Method.name, Challenge.id, Challenge.title)
        .join(Method, Method.id == Submission.method_id)
        .join(Challenge, Challenge.id == Submission.challenge_id)
        .where(Submission.id.in_(submission_ids))
        .order_by(Submission.created_at)
    )
    for submission_id, team_id, failure, method, challenge_id, challenge in rows.all():
        members = session.scalars(select(TeamMember.user_id).where(TeamMember.team_id == team_id)).all()
        notify(
            session,
            [member for member in members if member != but],
            kind,
            title=f"“{method}” {what} “{challenge}”",
            text=(failure or "") if kind is NotificationKind.FAILED else "",
            link=f"/submissions/{submission_id}",
            challenge_id=challenge_id,
        )
