"""When the statistics of a challenge are out of date.

Triggers add the job of a challenge in the transaction that changes its leaderboards
(`migrations.leaderboard_revisions`). Storing statistics is itself such a change: the next job then finds that nothing
is left to do.
"""

from sqlalchemy import and_, delete, exists, or_, select
from sqlalchemy.orm import Session

from vocboard.app.challenges.models import Scoring
from vocboard.app.database import now
from vocboard.app.evaluations.models import CompetitionResult, Evaluation, SecretEvidence
from vocboard.app.jobs import service as jobs
from vocboard.app.jobs.models import Job, Kind
from vocboard.app.jobs.service import Claim
from vocboard.app.leaderboards.models import OPEN, LeaderboardRevision, Rescore, SecretReplicates, StatisticsUpdate
from vocboard.app.leaderboards.queries import revision_number
from vocboard.app.submissions.models import State, Submission

VERSION = 8  # of the computation: increase it when statistics of the same results would be others


def add_outdated(session: Session) -> None:
    """Add jobs for challenges whose leaderboards, or the computation, have changed since."""
    is_current = and_(StatisticsUpdate.revision == LeaderboardRevision.revision, StatisticsUpdate.version >= VERSION)
    outdated = (
        select(LeaderboardRevision.challenge_id)
        .outerjoin(StatisticsUpdate, StatisticsUpdate.challenge_id == LeaderboardRevision.challenge_id)
        .where(or_(StatisticsUpdate.challenge_id.is_(None), ~is_current))
        .order_by(StatisticsUpdate.updated_at.asc().nulls_first(), LeaderboardRevision.challenge_id)
    )
    jobs.add_all(session, Kind.STATISTICS, [(key, None) for key in session.scalars(outdated)])


def finish(
    session: Session, claim: Claim, *, revision: int, has_computed: bool = True, failure: str | None = None
) -> None:
    """Record up to which revision everything is computed.

    Args:
        revision: read before the leaderboards were; 0 if the challenge has been deleted.
        has_computed: whether there was anything to compute; otherwise, the last failure stays.
        failure: what could not be computed and why, for the operator.

    Raises:
        LostClaimError: nothing may be stored.
    """
    if revision:
        stored = session.get(StatisticsUpdate, claim.key) or StatisticsUpdate(challenge_id=claim.key)
        stored.revision, stored.version, stored.updated_at = revision, VERSION, now()
        if has_computed:
            stored.failure = failure
        session.add(stored)
        session.flush()
    jobs.finish(session, claim)
    if revision != revision_number(session, claim.key):
        jobs.add(session, Kind.STATISTICS, claim.key)


def remove_unneeded(session: Session) -> None:
    """Remove evidence and replicates that nothing needs any more; both can be had again from the archives.

    These are of withdrawn submissions, and of evaluations that a re-score has replaced or not made count. A frozen
    leaderboard may show them, so they stay while statistics of their challenge are to be computed.
    """
    is_awaited = exists().where(
        Job.kind == Kind.STATISTICS, Job.key == Submission.challenge_id, Job.finished_at.is_(None)
    )
    is_in_open_rescore = exists().where(
        Rescore.state.in_(OPEN),
        or_(Rescore.scoring_id == Scoring.id, Rescore.scoring_id == Scoring.begun_with_id),
    )
    is_replaced = Submission.current_evaluation_id.is_distinct_from(Evaluation.id) & ~is_in_open_rescore
    for table in (SecretEvidence, SecretReplicates):
        unneeded = (
            select(table.result_id)
            .join(CompetitionResult, CompetitionResult.id == table.result_id)
            .join(Evaluation, Evaluation.id == CompetitionResult.evaluation_id)
            .join(Scoring, Scoring.id == Evaluation.scoring_id)
            .join(Submission, Submission.id == Evaluation.submission_id)
            .where(or_(Submission.state == State.WITHDRAWN, is_replaced), ~is_awaited)
        )
        session.execute(delete(table).where(table.result_id.in_(unneeded)).execution_options(synchronize_session=False))
