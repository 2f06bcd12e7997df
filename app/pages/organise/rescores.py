"""The organisers' pages of re-scores: start, follow, read the report, apply, discard."""

import uuid
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.challenges.ground_truth import UNFINISHED
from vocboard.app.challenges.phases import phase_with_id
from vocboard.app.database import Database
from vocboard.app.errors import ConflictError, InvalidInputError, NotFoundError
from vocboard.app.pages import wording
from vocboard.app.pages.forms import go_to
from vocboard.app.pages.organise.challenges import challenge_page
from vocboard.app.pages.organise.truth_versions import failed_import
from vocboard.app.pages.rendering import render
from vocboard.app.pages.reports import stored
from vocboard.app.rescores import queries, service
from vocboard.app.rescores.attention import attention
from vocboard.app.rescores.models import Rescore, RescoreState
from vocboard.app.rescores.usable import awaits_confirmation, has_unused_truth
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep, SettingsDep
from vocboard.app.web.identity import Organiser

router = APIRouter()

SHOWN_AT_FIRST = 200  # changes of one competition; the API has all


@router.get("/organise/{slug}/rescores/{rescore_id}")
def rescore_page(
    request: Request, database: DatabaseDep, user: Organiser, slug: str, rescore_id: uuid.UUID
) -> Response:
    """One re-score: its progress, and its report."""
    return _page(request, database, user, slug, rescore_id)


@router.post("/organise/{slug}/rescores", dependencies=[Depends(protect_form)])
def start_rescore(
    request: Request,
    database: DatabaseDep,
    settings: SettingsDep,
    notifier: NotifierDep,
    user: Organiser,
    slug: str,
    ground_truth_version: Annotated[int, Form(ge=1, le=2**31 - 1)],
    reason: Annotated[str, Form()] = "",
    confirm_warnings: Annotated[bool, Form()] = False,
) -> Response:
    """Score with a version of the ground truth, whose warnings may be confirmed with it."""
    try:
        with database.writing() as session:
            challenge = challenges.get_organised(session, slug, user)
            rescore = service.start(
                session,
                challenge=challenge,
                user=user,
                ground_truth_version=ground_truth_version,
                reason=reason,
                confirm_warnings=confirm_warnings,
            )
    except (ConflictError, InvalidInputError) as error:
        return challenge_page(request, database, settings, user, slug, refusal=error)
    notifier.jobs_added()
    return go_to(f"/organise/{slug}/rescores/{rescore.id}")


@router.post("/organise/{slug}/rescores/{rescore_id}/apply", dependencies=[Depends(protect_form)])
def apply_rescore(
    request: Request,
    database: DatabaseDep,
    notifier: NotifierDep,
    user: Organiser,
    slug: str,
    rescore_id: uuid.UUID,
    reason: Annotated[str | None, Form()] = None,
    confirm: Annotated[str | None, Form()] = None,
) -> Response:
    """Apply the re-score, with the reason that the form has."""
    apply = partial(service.request_apply, reason=reason, confirm=confirm)
    response = _act(request, database, user, slug, rescore_id, apply, done="applying", reason=reason)
    if response.status_code != HTTPStatus.SEE_OTHER:  # refused
        return response
    notifier.jobs_added()
    if service.wait_until_applied(database, rescore_id):
        return go_to(f"/organise/{slug}/rescores/{rescore_id}", done="applied")
    return response


@router.post("/organise/{slug}/rescores/{rescore_id}/discard", dependencies=[Depends(protect_form)])
def discard_rescore(
    request: Request, database: DatabaseDep, user: Organiser, slug: str, rescore_id: uuid.UUID
) -> Response:
    """Discard the re-score."""
    return _act(request, database, user, slug, rescore_id, service.discard, done="discarded")


def _act(
    request: Request,
    database: Database,
    user: User,
    slug: str,
    rescore_id: uuid.UUID,
    action: Callable[..., Rescore],
    *,
    done: str,
    reason: str | None = None,
) -> Response:
    try:
        with database.writing() as session:
            _check_challenge(queries.get_organised(session, rescore_id, user), slug)
            action(session, rescore_id=rescore_id, user=user)
    except ConflictError as error:
        return _page(request, database, user, slug, rescore_id, message=str(error), status=error.status, reason=reason)
    except InvalidInputError as error:
        message = wording.fields_in_words(error)
        return _page(request, database, user, slug, rescore_id, message=message, status=error.status, reason=reason)
    return go_to(f"/organise/{slug}/rescores/{rescore_id}", done=done)


def _page(
    request: Request,
    database: Database,
    user: User,
    slug: str,
    rescore_id: uuid.UUID,
    *,
    message: str | None = None,
    status: int = 200,
    reason: str | None = None,
) -> Response:
    with database.reading() as session:
        rescore = queries.get_organised(session, rescore_id, user)
        _check_challenge(rescore, slug)
        progress = queries.progress(session, rescore)
        report = rescore.report
        concerned = phase_with_id(rescore.challenge, rescore.ground_truth_version.phase_id)
        current = challenges.current_truth(session, concerned)
    edition = challenges.edition_of(rescore.challenge)
    changes: dict[str, list[dict[str, Any]]] = {}
    for change in report["changes"] if report else ():
        changes.setdefault(change["competition"], []).append(change)
    return render(
        request,
        "organise/rescore.html",
        status=status,
        rescore=rescore,
        challenge=rescore.challenge,
        progress=progress,
        report=report,
        changes=changes,
        shown_at_first=SHOWN_AT_FIRST,
        competitions=edition.competitions,
        current_number=current.number if current else None,
        running=rescore.state is RescoreState.RUNNING
        or (rescore.state is RescoreState.READY and rescore.apply_requested_at is not None),
        message=message,
        reason=rescore.reason if reason is None else reason,
        attention=attention(rescore),
        **_of_unusable_truth(rescore),
    )


def _of_unusable_truth(rescore: Rescore) -> dict[str, Any]:
    """What keeps the ground truth of a re-score from being scored with: of one that was started with the upload."""
    version = rescore.ground_truth_version
    return {
        "is_being_read": version.state in UNFINISHED,
        "to_confirm": stored(version.warnings or ()) if awaits_confirmation(rescore, rescore.challenge) else (),
        "unreadable": failed_import(version.problems) if has_unused_truth(rescore) and version.problems else None,
    }


def _check_challenge(rescore: Rescore, slug: str) -> None:
    if rescore.challenge.slug != slug:
        raise NotFoundError("This re-score does not exist.")
