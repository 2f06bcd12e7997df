"""What organisers do about one submission, from its page."""

import uuid
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import Response

from vocboard.app.moderation import submissions
from vocboard.app.pages.submissions import act
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep
from vocboard.app.web.identity import SignedIn

router = APIRouter(prefix="/submissions/{submission_id}", dependencies=[Depends(protect_form)])

Reason = Annotated[str, Form()]


@router.post("/disqualify")
def disqualify(
    request: Request, database: DatabaseDep, user: SignedIn, submission_id: uuid.UUID, reason: Reason = ""
) -> Response:
    """Take the submission off the leaderboards until an organiser lifts it."""
    return act(request, database, user, submission_id, submissions.disqualify, done="disqualified", reason=reason)


@router.post("/reinstate")
def reinstate(
    request: Request,
    database: DatabaseDep,
    notifier: NotifierDep,
    user: SignedIn,
    submission_id: uuid.UUID,
    reason: Reason = "",
) -> Response:
    """Lift the disqualification."""
    answer = act(request, database, user, submission_id, submissions.reinstate, done="reinstated", reason=reason)
    notifier.submission_queued()  # what the current scoring has not evaluated waits for a worker
    return answer


@router.post("/fail")
def fail(
    request: Request, database: DatabaseDep, user: SignedIn, submission_id: uuid.UUID, reason: Reason = ""
) -> Response:
    """Say that something went wrong on the server's side."""
    return act(request, database, user, submission_id, submissions.fail, done="failed", reason=reason)


@router.post("/allow-publishing")
def allow_publishing(request: Request, database: DatabaseDep, user: SignedIn, submission_id: uuid.UUID) -> Response:
    """Let the owner of a submission that an organiser has unpublished publish it again."""
    return act(request, database, user, submission_id, submissions.allow_publishing, done="allowed")
