"""How much is stored of each challenge, from what the database knows; no directory is read."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Challenge, ChallengeFile, GroundTruthVersion, TruthState
from vocboard.app.database import now
from vocboard.app.submissions.models import State, Submission


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored of a challenge.

    Attributes:
        archives: number of those of submissions; the same one counts once.
        columns: how many of them have their results as columns, whose size the database does not know.
        ground_truth: number of versions whose tree is here.
        files: number of those for participants.
    """

    challenge: Challenge
    archives: int
    archive_bytes: int
    columns: int
    ground_truth: int
    files: int
    file_bytes: int


def by_challenge(session: Session, *, withdrawn_kept_for: timedelta) -> Sequence[Stored]:
    """Return what is stored of each challenge, that with the largest archives first.

    Args:
        withdrawn_kept_for: archives of submissions that were withdrawn longer ago are not counted.
    """
    is_kept = or_(Submission.state != State.WITHDRAWN, Submission.finished_at > now() - withdrawn_kept_for)
    distinct = (
        select(
            Submission.challenge_id,
            Submission.archive_bytes.label("size"),
            func.max(Submission.columns_sha256).label("columns"),
        )
        .where(Submission.has_archive, is_kept)
        .group_by(Submission.challenge_id, Submission.archive_sha256, Submission.archive_bytes)
        .subquery()
    )
    archives = (
        select(
            distinct.c.challenge_id,
            func.count().label("count"),
            func.sum(distinct.c.size).label("size"),
            func.count(distinct.c.columns).label("columns"),
        )
        .group_by(distinct.c.challenge_id)
        .subquery()
    )
    versions = (
        select(GroundTruthVersion.challenge_id, func.count().label("count"))
        .where(GroundTruthVersion.state.not_in((TruthState.FAILED, TruthState.ELSEWHERE)))
        .group_by(GroundTruthVersion.challenge_id)
        .subquery()
    )
    files = (
        select(
            ChallengeFile.challenge_id, func.count().label("count"), func.sum(ChallengeFile.byte_count).label("size")
        )
        .group_by(ChallengeFile.challenge_id)
        .subquery()
    )
    columns = (archives.c.count, archives.c.size, archives.c.columns, versions.c.count, files.c.count, files.c.size)
    query = select(Challenge, *(func.coalesce(column, 0) for column in columns))
    for part in (archives, versions, files):
        query = query.outerjoin(part, part.c.challenge_id == Challenge.id)
    rows = session.execute(query.order_by(func.coalesce(archives.c.size, 0).desc(), Challenge.title)).all()
    return [Stored(row[0], *(int(number) for number in row[1:])) for row in rows]
