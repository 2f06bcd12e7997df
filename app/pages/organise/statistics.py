"""The statistics of a challenge for its organisers: scores, intervals, agreement of methods."""

import uuid

from fastapi import Depends
from starlette.responses import Response

from vocboard.app.challenges.phases import leaderboard_phase, phase_named
from vocboard.app.database import now
from vocboard.app.errors import ConflictError
from vocboard.app.evaluations import diagnosis_tasks
from vocboard.app.evaluations.diagnosis_failures import EXPLANATIONS as WHY
from vocboard.app.evaluations.diagnosis_failures import REMEDIES
from vocboard.app.leaderboards import statistics_states
from vocboard.app.leaderboards.across_methods import MAX_SEQUENCES, across_methods
from vocboard.app.leaderboards.statistics import EXPLANATIONS, decimals_of
from vocboard.app.organising.score_distributions import score_distributions
from vocboard.app.pages.challenges import edition_argument
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.organise.score_strips import score_strips
from vocboard.app.pages.rendering import render
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.organised import Organised, OrganisedChallenge
from vocboard.app.web.routes import Routes

router = Routes("/organise/{slug}/statistics")
MAX_IN_MATRIX = 50  # methods; more have no room


@router.get("")
def statistics_page(organised: Organised) -> Response:
    """The scores of all submissions, which leaderboards have intervals, and which submissions have no diagnosis."""
    return _page(organised)


@router.post("", dependencies=[Depends(protect_form)])
def compute_statistics(organised: Organised) -> Response:
    """Have them computed again."""
    try:
        organised.change(statistics_states.request_computation)
    except ConflictError as error:
        return _page(organised, errors=FormErrors.of(error))
    return go_to(f"/organise/{organised.slug}/statistics", done="statistics-requested")


@router.get("/{competition}")
def across_page(organised: Organised, competition: str, *, phase: str = "", method: str = "") -> Response:
    """How far the methods of a competition agree, and whether entrants improve."""
    try:
        method_id = uuid.UUID(method)
    except ValueError:
        method_id = None
    with organised.reading() as (session, challenge):
        at = now()
        chosen = phase_named(challenge, phase) if phase else leaderboard_phase(challenge, at)
        found = across_methods(session, challenge, chosen, competition, method_id=method_id, at=at)
    return render(
        organised.request,
        "organise/across.html",
        challenge=challenge,
        edition_argument=edition_argument(challenge),
        image_set=chosen.image_set,
        found=found,
        chosen=next((one for one in found.entrants if one.method_id == method_id), None),
        decimals=found.decimals,
        interval_decimals=decimals_of(found.decimals),
        limit=MAX_SEQUENCES,
        has_matrix=len(found.agreement) <= MAX_IN_MATRIX,
        reasons=EXPLANATIONS,
    )


def _page(organised: OrganisedChallenge, *, errors: FormErrors = NO_ERRORS) -> Response:
    with organised.reading() as (session, challenge):
        boards = statistics_states.states(session, challenge, at=now())
        diagnoses = diagnosis_tasks.unknown(session, challenge.id)
        scores = score_distributions(session, challenge)
    scale, strips = score_strips(scores)
    return render(
        organised.request,
        "organise/statistics.html",
        errors=errors,
        challenge=challenge,
        boards=[(one, strips.get((one.phase.key, one.competition.key))) for one in boards],
        scale=scale,
        has_phases=len({one.phase.key for one in boards}) > 1,
        reasons=EXPLANATIONS,
        diagnoses=diagnoses,
        failures=[(number, f"{WHY[reason]} {REMEDIES[reason]}") for reason, number in diagnoses.failed.items()],
    )
