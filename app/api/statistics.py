"""Statistics of a challenge for its organisers."""

from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy.orm import Session

from vocboard.app.api.problems import problem_responses
from vocboard.app.api.schemas import across
from vocboard.app.api.schemas.statistics import BoardStatisticsState, FailedDiagnoses, StatisticsStates
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.models import Challenge
from vocboard.app.challenges.phases import leaderboard_phase, phase_named
from vocboard.app.database import now
from vocboard.app.evaluations import diagnosis_tasks
from vocboard.app.evaluations.diagnosis_failures import EXPLANATIONS as WHY
from vocboard.app.evaluations.diagnosis_failures import REMEDIES
from vocboard.app.evaluations.rounding import rounded
from vocboard.app.leaderboards import statistics_states
from vocboard.app.leaderboards.across_methods import AcrossMethods, EntrantSequence, across_methods
from vocboard.app.leaderboards.image_sets import OnBothImageSets
from vocboard.app.leaderboards.statistics_states import BoardState
from vocboard.app.statistics.explanations import EXPLANATIONS
from vocboard.app.statistics.sequences import Change
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep
from vocboard.app.web.identity import OrganisingUser

router = APIRouter(prefix="/challenges/{slug}/statistics", tags=["statistics"])


@router.get("", responses=problem_responses(401, 403, 404))
def get_statistics(database: DatabaseDep, user: OrganisingUser, slug: str) -> StatisticsStates:
    """Return which leaderboards have intervals and rank ranges, how many diagnoses are missing, and why."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        return _states(session, challenge)


@router.post("", status_code=202, responses=problem_responses(401, 403, 404, 409))
def compute_statistics(
    database: DatabaseDep, notifier: NotifierDep, user: OrganisingUser, slug: str
) -> StatisticsStates:
    """Retry statistics and diagnoses that have failed. Workers do this; the response shows the current states."""
    with database.writing() as session:
        challenge = challenges.get_organised(session, slug, user)
        statistics_states.request_computation(session, challenge=challenge, user=user)
        found = _states(session, challenge)
    notifier.jobs_added()
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


@router.get("/{competition}", responses=problem_responses(401, 403, 404))
def get_statistics_across_methods(
    database: DatabaseDep,
    user: OrganisingUser,
    slug: str,
    competition: str,
    phase: Annotated[
        str | None, Query(description="Key of a phase; by default, the one whose leaderboards are shown first.")
    ] = None,
) -> across.AcrossMethods:
    """Return how far the methods of a competition agree, what combinations score, and whether entrants improve."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        at = now()
        chosen = leaderboard_phase(challenge, at) if phase is None else phase_named(challenge, phase)
        return _across(across_methods(session, challenge, chosen, competition, at=at))


def _across(found: AcrossMethods) -> across.AcrossMethods:
    return across.AcrossMethods(
        phase=found.phase.key,
        competition=found.competition.key,
        is_wanted=found.is_wanted,
        is_being_computed=found.is_being_computed,
        failure=found.failure,
        agreement=[
            across.AgreeingMethod(
                submission=one.entry.submission_id,
                method=one.entry.method,
                found=one.found,
                correlations=list(one.with_others),
            )
            for one in found.agreement
        ],
        combinations=[
            across.Combination(
                methods=one.methods,
                score=one.score,
                difference=rounded(one.difference, found.decimals),
                change=_change(one.change),
            )
            for one in found.combinations
        ],
        image_sets=[_image_set(one, found.decimals) for one in found.image_sets],
        entrants=[_entrant(one, found.decimals) for one in found.entrants],
    )


def _image_set(one: OnBothImageSets, decimals: int) -> across.OnBothImageSets:
    return across.OnBothImageSets(
        competitions=[one.first.key, one.second.key],
        image_sets=[one.first.image_set, one.second.image_set],
        methods=[
            across.MethodOnBoth(
                submission=each.first.submission_id,
                method=each.first.method,
                means=[rounded(each.first.mean, decimals), rounded(each.second.mean, decimals)],
                difference=rounded(each.difference, decimals),
                change=_change(each.change),
            )
            for each in one.methods
        ],
        is_compared=one.is_compared,
        pairs=one.pairs,
        swapped=one.swapped,
        same=one.same if one.is_compared else None,
        reversed=one.reversed if one.is_compared else None,
    )


def _entrant(one: EntrantSequence, decimals: int) -> across.EntrantSequence:
    return across.EntrantSequence(
        user=one.user.id,
        name=one.user.name,
        method=one.method,
        submissions=one.submissions,
        steps=[
            across.SequenceStep(
                submission=step.member.submission_id,
                method=step.member.method,
                submitted_at=step.member.submitted_at,
                mean=rounded(step.member.mean, decimals),
                difference=rounded(step.difference, decimals),
                change=_change(step.change),
            )
            for step in one.steps
        ],
        difference=rounded(one.difference, decimals),
        change=_change(one.overall),
        verdict=one.verdict,
        failure=one.failure,
    )


def _change(one: Change | None) -> across.Change | None:
    return None if one is None else across.Change(low=one.low, high=one.high, is_significant=one.is_significant)


def _state(one: BoardState) -> BoardStatisticsState:
    return BoardStatisticsState(
        phase=one.phase.key,
        competition=one.competition.key,
        methods=one.methods,
        state=one.state,
        failure=one.failure,
        explanation=None if one.failure is None else EXPLANATIONS[one.failure],
    )
