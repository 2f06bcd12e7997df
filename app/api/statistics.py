"""Statistics of a challenge for its organisers."""

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.across import AcrossMethods
from vocboard.app.api.schemas.values import CompetitionKey, Count, FromObject
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import leaderboard_phase, phase_named
from vocboard.app.database import now
from vocboard.app.evaluations import diagnosis_tasks
from vocboard.app.evaluations.diagnosis_failures import EXPLANATIONS as WHY
from vocboard.app.evaluations.diagnosis_failures import REMEDIES, DiagnosisFailure
from vocboard.app.leaderboards import statistics_states
from vocboard.app.leaderboards.across_methods import across_methods
from vocboard.app.leaderboards.statistics import EXPLANATIONS, Failure
from vocboard.app.leaderboards.statistics_states import StatisticsState
from vocboard.app.web.organised import OrganisedByToken

router = ApiRoutes("/challenges/{slug}/statistics", tags=["statistics"])


class BoardStatisticsState(FromObject):
    """Whether a leaderboard has intervals and rank ranges."""

    phase: str = Field(description="Key of the phase.")
    competition: CompetitionKey
    methods: Count = Field(description="Number of methods that the leaderboard shows.")
    state: StatisticsState
    failure: Failure | None = Field(description="Why there are no statistics; null unless `state` is `failed`.")
    explanation: str | None = Field(description="`failure` in words, and what to do about it.")


class FailedDiagnoses(BaseModel):
    """Number of submissions whose diagnosis failed for one reason."""

    failure: DiagnosisFailure
    submissions: Count = Field(description="Number of submissions.")
    explanation: str = Field(description="`failure` in words, and what to do about it.")


class StatisticsStates(BaseModel):
    """The statistics of a challenge, and the diagnoses of its submissions."""

    leaderboards: list[BoardStatisticsState]
    diagnoses_waiting: Count = Field(
        description="Number of submissions that will be diagnosed when nothing else is waiting."
    )
    diagnoses_failed: list[FailedDiagnoses] = Field(description="Failed diagnoses by reason.")


@router.get("", responses=problem_responses(401, 403, 404))
def get_statistics(organised: OrganisedByToken) -> StatisticsStates:
    """Return which leaderboards have intervals and rank ranges, how many diagnoses are missing, and why."""
    with organised.reading() as (session, challenge):
        return _states(session, challenge)


@router.post("", status_code=202, responses=problem_responses(401, 403, 404, 409))
def compute_statistics(organised: OrganisedByToken) -> StatisticsStates:
    """Retry statistics and diagnoses that have failed. Workers do this; the response shows the current states."""
    with organised.writing() as (session, challenge):
        statistics_states.request_computation(session, challenge=challenge, user=organised.user)
        return _states(session, challenge)


def _states(session: Session, challenge: Challenge) -> StatisticsStates:
    diagnoses = diagnosis_tasks.unknown(session, challenge.id)
    return StatisticsStates(
        leaderboards=[
            BoardStatisticsState.of(
                one,
                phase=one.phase.key,
                competition=one.competition.key,
                explanation=None if one.failure is None else EXPLANATIONS[one.failure],
            )
            for one in statistics_states.states(session, challenge, at=now())
        ],
        diagnoses_waiting=diagnoses.waiting,
        diagnoses_failed=[
            FailedDiagnoses(failure=reason, submissions=number, explanation=f"{WHY[reason]} {REMEDIES[reason]}")
            for reason, number in diagnoses.failed.items()
        ],
    )


@router.get("/{competition}", responses=problem_responses(401, 403, 404))
def get_statistics_across_methods(
    organised: OrganisedByToken,
    competition: str,
    phase: Annotated[
        str | None, Query(description="Key of a phase; by default, the one whose leaderboards are shown first.")
    ] = None,
) -> AcrossMethods:
    """Return how far the methods of a competition agree, what combinations score, and whether entrants improve."""
    with organised.reading() as (session, challenge):
        at = now()
        chosen = leaderboard_phase(challenge, at) if phase is None else phase_named(challenge, phase)
        found = across_methods(session, challenge, chosen, competition, at=at)
        return AcrossMethods.model_validate(found, context={"decimals": found.decimals})
