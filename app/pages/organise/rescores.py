"""The organisers' pages of re-scores: start, follow, read the report, apply, discard."""

import uuid
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Form
from sqlalchemy.orm import Session
from starlette.responses import Response

from vocboard.app.challenges.ground_truth import UNFINISHED, current_truth
from vocboard.app.challenges.phases import edition_of_phase, phase_with_id
from vocboard.app.errors import ConflictError, InvalidInputError, NotFoundError, ServiceError
from vocboard.app.leaderboards.models import Rescore, RescoreState
from vocboard.app.pages import wording
from vocboard.app.pages.forms import go_to
from vocboard.app.pages.organise.challenge import challenge_page
from vocboard.app.pages.organise.ground_truth import failed_import
from vocboard.app.pages.rendering import render
from vocboard.app.pages.reports import stored
from vocboard.app.pages.slopes import slope_chart
from vocboard.app.rescores import queries, service
from vocboard.app.rescores.queries import attention
from vocboard.app.rescores.rounds import awaits_confirmation, has_unused_truth
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.organised import Organised, OrganisedChallenge
from vocboard.app.web.routes import Routes

router = Routes()


@router.get("/organise/{slug}/rescores/{rescore_id}")
def rescore_page(organised: Organised, rescore_id: uuid.UUID) -> Response:
    """One re-score: its progress, and its report."""
    return _page(organised, rescore_id)


@router.post("/organise/{slug}/rescores", dependencies=[Depends(protect_form)])
def start_rescore(
    organised: Organised,
    ground_truth_version: Annotated[int, Form(ge=1, le=2**31 - 1)],
    reason: Annotated[str, Form()] = "",
    confirm_warnings: Annotated[bool, Form()] = False,
) -> Response:
    """Score with a version of the ground truth, whose warnings may be confirmed with it."""
    try:
        rescore = organised.change(
            service.start, ground_truth_version=ground_truth_version, reason=reason, confirm_warnings=confirm_warnings
        )
    except (ConflictError, InvalidInputError) as error:
        return challenge_page(organised, refusal=error)
    return go_to(f"/organise/{organised.slug}/rescores/{rescore.id}")


@router.post("/organise/{slug}/rescores/{rescore_id}/apply", dependencies=[Depends(protect_form)])
def apply_rescore(
    organised: Organised,
    rescore_id: uuid.UUID,
    reason: Annotated[str | None, Form()] = None,
    confirm: Annotated[str | None, Form()] = None,
) -> Response:
    """Apply the re-score, with the reason that the form has."""
    apply = partial(service.request_apply, reason=reason, confirm=confirm)
    response = _act(organised, rescore_id, apply, done="applying", reason=reason)
    if response.status_code != HTTPStatus.SEE_OTHER:  # refused
        return response
    if service.wait_until_applied(organised.database, rescore_id):
        return go_to(f"/organise/{organised.slug}/rescores/{rescore_id}", done="applied")
    return response


@router.post("/organise/{slug}/rescores/{rescore_id}/discard", dependencies=[Depends(protect_form)])
def discard_rescore(organised: Organised, rescore_id: uuid.UUID) -> Response:
    """Discard the re-score."""
    return _act(organised, rescore_id, service.discard, done="discarded")


def _act(
    organised: OrganisedChallenge,
    rescore_id: uuid.UUID,
    action: Callable[..., Rescore],
    *,
    done: str,
    reason: str | None = None,
) -> Response:
    try:
        with organised.database.writing() as session:
            _find(session, organised, rescore_id)
            action(session, rescore_id=rescore_id, user=organised.user)
    except (ConflictError, InvalidInputError) as error:
        return _page(organised, rescore_id, refusal=error, reason=reason)
    return go_to(f"/organise/{organised.slug}/rescores/{rescore_id}", done=done)


def _page(
    organised: OrganisedChallenge,
    rescore_id: uuid.UUID,
    *,
    refusal: ServiceError | None = None,
    reason: str | None = None,
) -> Response:
    with organised.database.reading() as session:
        rescore = _find(session, organised, rescore_id)
        progress = queries.progress(session, rescore)
        report, version = queries.summary(rescore), rescore.ground_truth_version
        phase = phase_with_id(rescore.challenge, version.phase_id)
        current = current_truth(session, phase)
    shown = report["shown"] if report else {}
    return render(
        organised.request,
        "organise/rescore.html",
        status=refusal.status if refusal else HTTPStatus.OK,
        rescore=rescore,
        challenge=rescore.challenge,
        progress=progress,
        report=report,
        shown=shown,
        charts={key: slope_chart(found["ranks"]) for key, found in shown.items()},
        competitions=edition_of_phase(rescore.challenge, phase).competitions,
        current_number=current.number if current else None,
        running=rescore.state is RescoreState.RUNNING
        or (rescore.state is RescoreState.READY and rescore.apply_requested_at is not None),
        message=wording.in_words(refusal) if refusal else None,
        reason=rescore.reason if reason is None else reason,
        attention=attention(rescore),
        # What keeps ground truth that was uploaded with a reason from being scored with.
        is_being_read=version.state in UNFINISHED,
        to_confirm=stored(version.warnings or ()) if awaits_confirmation(rescore, rescore.challenge) else (),
        unreadable=failed_import(version.problems) if has_unused_truth(rescore) and version.problems else None,
    )


def _find(session: Session, organised: OrganisedChallenge, rescore_id: uuid.UUID) -> Rescore:
    found = queries.get_organised(session, rescore_id, organised.user)
    if found.challenge.slug != organised.slug:
        raise NotFoundError("This re-score does not exist.")
    return found
