"""What organisers do about one submission, from its page."""

import uuid
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import Response

from vocboard.app.errors import ConflictError, InvalidInputError
from vocboard.app.moderation import submissions
from vocboard.app.pages import wording
from vocboard.app.pages.forms import go_to
from vocboard.app.pages.submissions import act, show
from vocboard.app.rescores import service as rescores
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep, SettingsDep
from vocboard.app.web.identity import Organiser, SignedIn

router = APIRouter(prefix="/submissions/{submission_id}")

Reason = Annotated[str, Form()]


@router.post("/disqualify", dependencies=[Depends(protect_form)])
def disqualify(
    request: Request,
    database: DatabaseDep,
    notifier: NotifierDep,
    settings: SettingsDep,
    user: SignedIn,
    submission_id: uuid.UUID,
    reason: Reason = "",
) -> Response:
    """Take the submission off the leaderboards until an organiser lifts it."""
    change = partial(submissions.disqualify, site=settings.public_url)
    answer = act(request, database, user, submission_id, change, done="disqualified", reason=reason)
    notifier.mail_queued()
    return answer


@router.post("/reinstate", dependencies=[Depends(protect_form)])
def reinstate(
    request: Request,
    database: DatabaseDep,
    notifier: NotifierDep,
    settings: SettingsDep,
    user: SignedIn,
    submission_id: uuid.UUID,
    reason: Reason = "",
) -> Response:
    """Lift the disqualification."""
    change = partial(submissions.reinstate, site=settings.public_url)
    answer = act(request, database, user, submission_id, change, done="reinstated", reason=reason)
    notifier.mail_queued()
    notifier.jobs_added()  # what the current scoring has not evaluated waits for a worker
    return answer


@router.post("/fail", dependencies=[Depends(protect_form)])
def fail(
    request: Request, database: DatabaseDep, user: SignedIn, submission_id: uuid.UUID, reason: Reason = ""
) -> Response:
    """Say that something went wrong on the server's side."""
    return act(request, database, user, submission_id, submissions.fail, done="failed", reason=reason)


@router.post("/allow-publishing", dependencies=[Depends(protect_form)])
def allow_publishing(request: Request, database: DatabaseDep, user: SignedIn, submission_id: uuid.UUID) -> Response:
    """Let the owner of a submission that an organiser has unpublished publish it again."""
    return act(request, database, user, submission_id, submissions.allow_publishing, done="allowed")


@router.post("/evaluate-again", dependencies=[Depends(protect_form)])
def evaluate_again(
    request: Request,
    database: DatabaseDep,
    notifier: NotifierDep,
    user: Organiser,
    submission_id: uuid.UUID,
    reason: Reason = "",
) -> Response:
    """Evaluate the submission again."""
    try:
        with database.writing() as session:
            submission, rescore = rescores.evaluate_again(
                session, submission_id=submission_id, user=user, reason=reason
            )
    except InvalidInputError as error:
        return show(request, database, user, submission_id, message=wording.fields_in_words(error), status=error.status)
    except ConflictError as error:
        return show(request, database, user, submission_id, message=str(error), status=error.status)
    if rescore is None:
        notifier.jobs_added()
        return go_to(f"/submissions/{submission_id}", done="queued-again")
    notifier.jobs_added()
    return go_to(f"/organise/{submission.challenge.slug}/rescores/{rescore.id}")
