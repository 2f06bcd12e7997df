"""Statistics of a challenge for its organisers."""

from fastapi import APIRouter

from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas.statistics import BoardStatisticsState, StatisticsStates
from vocboard.app.challenges import service as challenges
from vocboard.app.database import now
from vocboard.app.leaderboards import statistics_states
from vocboard.app.leaderboards.statistics_states import BoardState
from vocboard.app.statistics.explanations import EXPLANATIONS
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep
from vocboard.app.web.identity import OrganisingUser

router = APIRouter(prefix="/challenges/{slug}/statistics", tags=["statistics"])


@router.get("", responses=problem_responses(401, 403, 404))
def get_statistics(database: DatabaseDep, user: OrganisingUser, slug: str) -> StatisticsStates:
    """Which leaderboards have intervals and rank ranges, and if not, why."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        found = statistics_states.states(session, challenge, at=now())
    return StatisticsStates(leaderboards=[_state(one) for one in found])


@router.post("", status_code=202, responses=problem_responses(401, 403, 404, 409))
def compute_statistics(
    database: DatabaseDep, notifier: NotifierDep, user: OrganisingUser, slug: str
) -> StatisticsStates:
    """Have workers try again what failed."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        statistics_states.request_computation(session, challenge=challenge, user=user)
        found = statistics_states.states(session, challenge, at=now())
    notifier.statistics_requested()
    return StatisticsStates(leaderboards=[_state(one) for one in found])


def _state(one: BoardState) -> BoardStatisticsState:
    return BoardStatisticsState(
        phase=one.phase.key,
        competition=one.competition.key,
        methods=one.methods,
        state=one.state,
        failure=one.failure,
        explanation=None if one.failure is None else EXPLANATIONS[one.failure],
    )
