"""Statistics of a challenge for its organisers."""

from fastapi import APIRouter
from sqlalchemy.orm import Session

from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.statistics import BoardStatisticsState, FailedDiagnoses, StatisticsStates
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import now
from vocboard.app.evaluations import diagnosis_tasks
from vocboard.app.evaluations.diagnosis_failures import EXPLANATIONS as WHY
from vocboard.app.evaluations.diagnosis_failures import REMEDIES
from vocboard.app.leaderboards import statistics_states
from vocboard.app.leaderboards.statistics_states import BoardState
from vocboard.app.statistics.explanations import EXPLANATIONS
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep
from vocboard.app.web.identity import OrganisingUser

router = APIRouter(prefix="/challenges/{slug}/statistics", tags=["statistics"])


@router.get("", responses=problem_responses(401, 403, 404))
def get_statistics(database: DatabaseDep, user: OrganisingUser, slug: str) -> StatisticsStates:
    """Which leaderboards have intervals and rank ranges, and which submissions diagnoses, and if not, why."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        return _states(session, challenge)


@router.post("", status_code=202, responses=problem_responses(401, 403, 404, 409))
def compute_statistics(
    database: DatabaseDep, notifier: NotifierDep, user: OrganisingUser, slug: str
) -> StatisticsStates:
    """Have workers try again what failed."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        statistics_states.request_computation(session, challenge=challenge, user=user)
        found = _states(session, challenge)
    notifier.statistics_requested()
    return found


def _states(session: Session, challenge: Challenge) -> StatisticsStates:
    found = statistics_states.states(session, challenge, at=now())
    diagnoses = diagnosis_tasks.unknown(session, challenge.id)
    return StatisticsStates(
        leaderboards=[_state(one) for one in found],
        diagnoses_waiting=diagnoses.waiting,
        diagnoses_failed=[
            FailedDiagnoses(failure=reason, submissions=number, explanation=f"{WHY[reason]} {REMEDIES[reason]}")
            for reason, number in diagnoses.failed.items()
        ],
    )


def _state(one: BoardState) -> BoardStatisticsState:
    return BoardStatisticsState(
        phase=one.phase.key,
        competition=one.competition.key,
        methods=one.methods,
        state=one.state,
        failure=one.failure,
        explanation=None if one.failure is None else EXPLANATIONS[one.failure],
    )
