"""What waits for the organisers of challenges, and how much has been submitted to them."""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import Integer, cast, func, select
from sqlalchemy.orm import Session, aliased

from vocboard.app.announcements.queries import open_questions
from vocboard.app.challenges.admission_requests import count_open
from vocboard.app.challenges.ground_truth import needs_confirmation
from vocboard.app.challenges.models import ChallengePhase, GroundTruthVersion, Scoring, TruthState
from vocboard.app.leaderboards.models import Rescore, RescoreState
from vocboard.app.organising.recent import LARGE, Recent
from vocboard.app.submissions.models import State, Submission


@dataclass(slots=True)
class Waiting:
    """Numbers of one challenge.

    Attributes:
        people: who have submitted.
        questions: without an answer.
        requests: to be admitted, to be decided.
        failed: submissions that could not be evaluated, or that organisers marked as failed.
        to_confirm: versions of the ground truth with warnings that nobody has confirmed, newer than the current one.
        rescores: ready to be applied or discarded.
    """

    submissions: int = 0
    people: int = 0
    questions: int = 0
    requests: int = 0
    failed: int = 0
    to_confirm: int = 0
    rescores: int = 0

    @property
    def is_any(self) -> bool:
        """Whether something waits."""
        return bool(self.questions or self.requests or self.failed or self.to_confirm or self.rescores)


def waiting(session: Session, challenge_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Waiting]:
    """Return the numbers of these challenges; how many have submitted can be a minute old if these are very many."""
    found = {one: Waiting() for one in challenge_ids}
    for challenge_id, numbers in _submitted(session, frozenset(challenge_ids)).items():
        one = found[challenge_id]
        one.submissions, one.people, one.failed = numbers
    for challenge_id, questions in open_questions(session, challenge_ids).items():
        found[challenge_id].questions = questions
    for challenge_id, requests in count_open(session, challenge_ids).items():
        found[challenge_id].requests = requests
    current = aliased(GroundTruthVersion)
    versions = (
        select(GroundTruthVersion)
        .join(ChallengePhase, ChallengePhase.id == GroundTruthVersion.phase_id)
        .outerjoin(Scoring, Scoring.id == ChallengePhase.current_scoring_id)
        .outerjoin(current, current.id == Scoring.ground_truth_version_id)
        .where(
            GroundTruthVersion.challenge_id.in_(challenge_ids),
            GroundTruthVersion.state == TruthState.READY,
            GroundTruthVersion.confirmed_at.is_(None),
            current.number.is_(None) | (GroundTruthVersion.number > current.number),
        )
    )
    for version in session.scalars(versions):
        found[version.challenge_id].to_confirm += needs_confirmation(version)
    ready = select(Rescore.challenge_id).where(
        Rescore.challenge_id.in_(challenge_ids),
        Rescore.state == RescoreState.READY,
        Rescore.apply_requested_at.is_(None),
    )
    for challenge_id in session.scalars(ready):
        found[challenge_id].rescores += 1
    return found


_Numbers = Mapping[uuid.UUID, tuple[int, int, int]]
_recent: Recent[_Numbers] = Recent()


def _submitted(session: Session, challenge_ids: frozenset[uuid.UUID]) -> _Numbers:
    """Count submissions, people and failed submissions of challenges that have any."""
    if (kept := _recent.get(challenge_ids)) is not None:
        return kept
    failed = func.count().filter(Submission.state == State.FAILED).label("failed")
    people = (  # quicker than to sort all submissions for a count of distinct people
        select(Submission.challenge_id, func.count().label("submissions"), failed)
        .where(Submission.challenge_id.in_(challenge_ids))
        .group_by(Submission.challenge_id, Submission.user_id)
        .subquery()
    )
    total, all_failed = (cast(func.sum(column), Integer) for column in (people.c.submissions, people.c.failed))
    submissions = select(people.c.challenge_id, total, func.count(), all_failed).group_by(people.c.challenge_id)
    found = {row[0]: (row[1], row[2], row[3]) for row in session.execute(submissions)}
    if sum(count for count, _, _ in found.values()) > LARGE:
        _recent.keep(challenge_ids, found)
    return found
