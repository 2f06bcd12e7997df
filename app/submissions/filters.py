"""Which submissions a list shows."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, and_, select

from vocboard.app.challenges.models import Challenge, ChallengePhase
from vocboard.app.submissions.models import Method, State, Submission, SubmissionEntry


class SubmissionKind(StrEnum):
    """A filter for submissions: their state, or whether they are published."""

    QUEUED = "queued"
    EVALUATING = "evaluating"
    SCORED = "scored"
    FAILED = "failed"
    WITHDRAWN = "withdrawn"
    DISQUALIFIED = "disqualified"
    PUBLISHED = "published"
    UNPUBLISHED = "unpublished"  # scored, and on no leaderboard
    HELD_BACK = "held_back"  # unpublished by an organiser


@dataclass(frozen=True, slots=True)
class OwnFilters:
    """Which of a person's own submissions to show; None and empty for all.

    Attributes:
        challenge: its slug.
        archive_sha256: of the only archive that is wanted.
        q: part of a method's name.
        phase: its key, in any challenge.
        since, until: of the upload; `until` itself is left out.
    """

    challenge: str | None = None
    archive_sha256: str | None = None
    q: str = ""
    kind: SubmissionKind | None = None
    competition: str = ""
    phase: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return them for a query with challenges and phases."""
        found = uploaded_between(self.since, self.until)
        if self.challenge is not None:
            found.append(Challenge.slug == searchable(self.challenge))
        if self.archive_sha256 is not None:
            found.append(Submission.archive_sha256 == self.archive_sha256)
        if text := searchable(self.q):
            named = select(Method.id).where(Method.name.icontains(text, autoescape=True))
            found.append(Submission.method_id.in_(named))
        if self.kind is not None:
            found.append(is_of(self.kind))
        if self.competition:
            found.append(Submission.entries.any(SubmissionEntry.competition == searchable(self.competition)))
        if self.phase:
            found.append(ChallengePhase.key == searchable(self.phase))
        return found


def searchable(text: str) -> str:
    """Return what a database can look for: PostgreSQL refuses some characters."""
    return "".join(filter(str.isprintable, text)).strip()


def is_of(kind: SubmissionKind) -> ColumnElement[bool]:
    """Return the condition that a submission is of a kind."""
    match kind:
        case SubmissionKind.PUBLISHED:
            return Submission.published_at.is_not(None)
        case SubmissionKind.UNPUBLISHED:
            return and_(Submission.state == State.SCORED, Submission.published_at.is_(None))
        case SubmissionKind.HELD_BACK:
            return Submission.held_back_at.is_not(None)
    return Submission.state == State(kind.value)


def uploaded_between(since: datetime | None, until: datetime | None) -> list[ColumnElement[bool]]:
    """Return the conditions on when a submission was uploaded."""
    conditions: list[ColumnElement[bool]] = []
    if since is not None:
        conditions.append(Submission.created_at >= since)
    if until is not None:
        conditions.append(Submission.created_at < until)
    return conditions
