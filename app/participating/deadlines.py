"""Reminds people that a phase closes which they have submitted to: once three days, and once a day before."""

from datetime import timedelta

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Ban, Challenge, ChallengePhase, Visibility
from vocboard.app.database import now
from vocboard.app.notifications.models import Notification, NotificationKind
from vocboard.app.notifications.service import notify
from vocboard.app.submissions.models import Submission
from vocboard.app.teams.models import TeamMember

BEFORE = (timedelta(hours=24), timedelta(hours=72))


def remind(session: Session) -> None:
    """Tell teams that had submitted to a phase when one of the times above came; if it was missed, until the next.

    Each person is told once for each time, phase and closing date; if organisers move the date, again.
    """
    at = now()
    closing = (
        select(ChallengePhase, Challenge)
        .join(Challenge, Challenge.id == ChallengePhase.challenge_id)
        .where(
            ChallengePhase.closes_at > at,
            ChallengePhase.closes_at <= at + max(BEFORE),
            Challenge.archived_at.is_(None),
            Challenge.visibility != Visibility.DRAFT,
        )
    )
    for phase, challenge in session.execute(closing).all():
        if phase.closes_at is None:
            continue
        before = next(each for each in BEFORE if phase.closes_at - at <= each)
        once_key = f"closes:{phase.id}:{before.total_seconds():.0f}:{phase.closes_at:%Y-%m-%dT%H:%M}"
        # Not `exists()`, which selects all columns: workers may read these.
        known = select(Notification.user_id).where(Notification.once_key == once_key)
        told = known.where(Notification.user_id == TeamMember.user_id).exists()
        of_this = or_(Ban.challenge_id == challenge.id, Ban.challenge_id.is_(None))
        banned = select(Ban.id).where(Ban.user_id == TeamMember.user_id, of_this).exists()
        entrants = select(TeamMember.user_id).join(Submission, Submission.team_id == TeamMember.team_id)
        entrants = entrants.where(
            Submission.phase_id == phase.id,
            Submission.is_rehearsal.is_(False),
            Submission.created_at <= phase.closes_at - before,
            ~told,
            ~banned,
        )
        name = f"“{challenge.title}”{f', {phase.title},' if phase.title else ''}"
        notify(
            session,
            session.scalars(entrants.distinct()).all(),
            NotificationKind.DEADLINE,
            title=f"{name} closes on {phase.closes_at:%-d %b %Y, %H:%M} UTC",
            text="You can submit until then.",
            link=f"/challenges/{challenge.slug}/submit?phase={phase.key}",  # another phase may be the current one
            challenge_id=challenge.id,
            once_key=once_key,
        )
