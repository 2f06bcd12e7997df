"""The statistics of a challenge for its organisers: which leaderboards and submissions have them, across methods."""

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.phases import leaderboard_phase, phase_named
from vocboard.app.database import Database, now
from vocboard.app.errors import ConflictError
from vocboard.app.evaluations import diagnosis_tasks
from vocboard.app.evaluations.diagnosis_failures import EXPLANATIONS as WHY
from vocboard.app.evaluations.diagnosis_failures import REMEDIES
from vocboard.app.leaderboards import statistics_states
from vocboard.app.leaderboards.across_methods import across_methods
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.statistics.boards import decimals_of
from vocboard.app.statistics.explanations import EXPLANATIONS
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep
from vocboard.app.web.identity import Organiser

router = APIRouter(prefix="/organise/{slug}/statistics")
MAX_IN_MATRIX = 50  # methods; more have no room


@router.get("")
def statistics_page(request: Request, database: DatabaseDep, user: Organiser, slug: str) -> Response:
    """Which leaderboards have statistics, and which submissions have no diagnosis."""
    return _page(request, database, user, slug)


@router.post("", dependencies=[Depends(protect_form)])
def compute_statistics(
    request: Request, database: DatabaseDep, notifier: NotifierDep, user: Organiser, slug: str
) -> Response:
    """Have them computed again."""
    try:
        with database.writing() as session:
            challenge = challenges.get_organised(session, slug, user)
            statistics_states.request_computation(session, challenge=challenge, user=user)
    except ConflictError as error:
        return _page(request, database, user, slug, errors=FormErrors.of(error))
    notifier.jobs_added()
    return go_to(f"/organise/{slug}/statistics", done="statistics-requested")


@router.get("/{competition}")
def across_page(
    request: Request,
    database: DatabaseDep,
    user: Organiser,
    slug: str,
    competition: str,
    *,
    phase: str = "",
    method: str = "",
) -> Response:
    """How far the methods of a competition agree, and whether entrants improve."""
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        at = now()
        chosen = phase_named(challenge, phase) if phase else leaderboard_phase(challenge, at)
        found = across_methods(session, challenge, chosen, competition, at=at)
    return render(
        request,
        "organise/across.html",
        challenge=challenge,
        found=found,
        chosen=next((one for one in found.entrants if str(one.method_id) == method), None),
        decimals=found.decimals,
        interval_decimals=decimals_of(found.decimals),
        has_matrix=len(found.agreement) <= MAX_IN_MATRIX,
        reasons=EXPLANATIONS,
    )


def _page(request: Request, database: Database, user: User, slug: str, *, errors: FormErrors = NO_ERRORS) -> Response:
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        found = statistics_states.states(session, challenge, at=now())
        diagnoses = diagnosis_tasks.unknown(session, challenge.id)
    return render(
        request,
        "organise/statistics.html",
        status=errors.status,
        challenge=challenge,
        boards=found,
        has_phases=len({one.phase.key for one in found}) > 1,
        reasons=EXPLANATIONS,
        diagnoses=diagnoses,
        failures=[(number, f"{WHY[reason]} {REMEDIES[reason]}") for reason, number in diagnoses.failed.items()],
        message=errors.message,
        wrong=errors.wrong,
    )
