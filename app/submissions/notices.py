"""What owners of submissions are told when these are scored or fail."""

import uuid
from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge
from vocboard.app.notifications.models import NotificationKind
from vocboard.app.notifications.service import notify
from vocboard.app.submissions.models import Method, Submission


def scored(session: Session, submission_id: uuid.UUID) -> None:
    """Tell the owner that a submission was scored; not the score, which may be hidden."""
    _tell(session, [submission_id], NotificationKind.SCORED, "was scored in")


def failed(session: Session, submission_ids: Collection[uuid.UUID]) -> None:
    """Tell the owners that submissions have failed, and what was stored as the reason for them."""
    _tell(session, submission_ids, NotificationKind.FAILED, "failed in")


def _tell(session: Session, submission_ids: Collection[uuid.UUID], kind: NotificationKind, what: str) -> None:
    rows = session.execute(
        select(Submission.id, Submission.user_id, Submission.failure, Method.name, Challenge.id, Challenge.title)
        .join(Method, Method.id == Submission.method_id)
        .join(Challenge, Challenge.id == Submission.challenge_id)
        .where(Submission.id.in_(submission_ids))
        .order_by(Submission.created_at)
    )
    for submission_id, user_id, failure, method, challenge_id, challenge in rows:
        notify(
            session,
            [user_id],
            kind,
            title=f"“{method}” {what} “{challenge}”",
            text=(failure or "") if kind is NotificationKind.FAILED else "",
            link=f"/submissions/{submission_id}",
            challenge_id=challenge_id,
        )
