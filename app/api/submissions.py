"""Submissions: upload, list, read, publish, withdraw."""

import uuid
from collections.abc import Callable
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session

from app.accounts.models import User
from app.api.paging import DEFAULT_PER_PAGE, FIRST_PAGE, ItemPage, PageNumber, PerPage, item_page
from app.api.problems import UploadProblem, problem_responses
from app.api.schemas.submissions import (
    AnonymousLink,
    Archive,
    Curves,
    Method,
    SubmissionDetails,
    SubmissionSummary,
)
from app.api.scores import curve_points, evaluation_of, scores_of
from app.challenges import service as challenges
from app.database import Database
from app.errors import NotFoundError
from app.evaluations import queries as evaluations
from app.intake import take_submission
from app.security.identity import OrganisingUser, ReadingUser, SubmittingUser, Viewer
from app.settings import Settings
from app.submissions import queries, queue
from app.submissions import service as submissions
from app.submissions.models import Submission

router = APIRouter(tags=["submissions"])

UPLOAD_FORM: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["archive", "method_name"],
                    "properties": {
                        "archive": {
                            "type": "string",
                            "format": "binary",
                            "description": "Result files of one or more competitions: .tar, .tar.gz, .tgz, .tar.xz, "
                            ".tar.bz2 or .zip.",
                        },
                        "method_name": {"type": "string"},
                        "method_description": {"type": "string"},
                        "contributors": {"type": "string"},
                        "affiliation": {"type": "string"},
                        "training_data": {
                            "type": "string",
                            "description": "What the method was trained on, where a competition asks for it.",
                        },
                        "segmentation_classes": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "Classes entered in the segmentation competitions; none for all of them.",
                        },
                    },
                }
            }
        },
    }
}


@router.post(
    "/challenges/{slug}/submissions",
    status_code=201,
    responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422, 429),
    openapi_extra=UPLOAD_FORM,
)
async def create_submission(request: Request, response: Response, user: SubmittingUser, slug: str) -> SubmissionDetails:
    """Upload results. They are checked at once; a valid upload is queued and answered with 201 and its address."""
    submission_id = await take_submission(request, slug=slug, user=user)
    response.headers["Location"] = request.app.url_path_for("get_submission", submission_id=str(submission_id))

    def described() -> SubmissionDetails:
        database: Database = request.app.state.database
        with database.reading() as session:
            return _details(session, queries.get_for(session, submission_id, user), user)

    return await to_thread.run_sync(described)


@router.get("/submissions", responses=problem_responses(401, 403))
def list_submissions(
    request: Request, user: ReadingUser, page: PageNumber = FIRST_PAGE, per_page: PerPage = DEFAULT_PER_PAGE
) -> ItemPage[SubmissionSummary]:
    """The person's own submissions, the latest first."""
    database: Database = request.app.state.database
    with database.reading() as session:
        return item_page(queries.mine(session, user=user, page=page, per_page=per_page), _summary)


@router.get("/challenges/{slug}/submissions", responses=problem_responses(401, 403, 404))
def list_challenge_submissions(
    request: Request,
    user: OrganisingUser,
    slug: str,
    page: PageNumber = FIRST_PAGE,
    per_page: PerPage = DEFAULT_PER_PAGE,
) -> ItemPage[SubmissionSummary]:
    """Everyone's submissions to a challenge, the latest first; for its organisers."""
    database: Database = request.app.state.database
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        listed = queries.of_challenge(session, challenge=challenge, page=page, per_page=per_page)
        return item_page(listed, _organisers_summary)


@router.get("/submissions/{submission_id}", responses=problem_responses(401, 403, 404))
def get_submission(request: Request, viewer: Viewer, submission_id: uuid.UUID) -> SubmissionDetails:
    """One submission: its state, its place in the queue, its scores. Published ones are for everyone to see."""
    database: Database = request.app.state.database
    with database.reading() as session:
        return _details(session, queries.get_for(session, submission_id, viewer), viewer)


@router.get("/submissions/{submission_id}/curves/{competition}", responses=problem_responses(401, 403, 404))
def get_curves(request: Request, viewer: Viewer, submission_id: uuid.UUID, competition: str) -> Curves:
    """The precision/recall curves of one competition, by class."""
    database: Database = request.app.state.database
    with database.reading() as session:
        submission = queries.get_for(session, submission_id, viewer)
        if competition not in {entry.competition for entry in submission.entries}:
            raise NotFoundError("The submission does not enter this competition.")
        found = evaluations.current_curves(session, submission, competition)
        return Curves(competition=competition, curves=curve_points(found, submission.challenge.decimals))


@router.post("/submissions/{submission_id}/publish", responses=problem_responses(401, 403, 404, 409))
def publish(request: Request, user: SubmittingUser, submission_id: uuid.UUID) -> SubmissionDetails:
    """Put a scored submission on the leaderboards of its competitions."""
    return _changed(request, submissions.publish, submission_id, user)


@router.post("/submissions/{submission_id}/unpublish", responses=problem_responses(401, 403, 404))
def unpublish(request: Request, user: SubmittingUser, submission_id: uuid.UUID) -> SubmissionDetails:
    """Take a submission off the leaderboards."""
    return _changed(request, submissions.unpublish, submission_id, user)


@router.post("/submissions/{submission_id}/withdraw", responses=problem_responses(401, 403, 404, 409))
def withdraw(request: Request, user: SubmittingUser, submission_id: uuid.UUID) -> SubmissionDetails:
    """Take a submission back for good; while it is still queued, its quota is given back."""
    return _changed(request, submissions.withdraw, submission_id, user)


@router.post(
    "/submissions/{submission_id}/anonymous-link",
    status_code=201,
    responses=problem_responses(401, 403, 404, 409),
)
def create_anonymous_link(request: Request, user: SubmittingUser, submission_id: uuid.UUID) -> AnonymousLink:
    """Make an address that shows the result without names, for double-blind papers."""
    database: Database = request.app.state.database
    settings: Settings = request.app.state.settings
    with database.writing() as session:
        token = submissions.create_anonymous_link(session, submission_id=submission_id, user=user)
    return AnonymousLink(url=settings.public_url.rstrip("/") + request.app.url_path_for("anonymous_page", token=token))


@router.delete(
    "/submissions/{submission_id}/anonymous-link", status_code=204, responses=problem_responses(401, 403, 404)
)
def revoke_anonymous_link(request: Request, user: SubmittingUser, submission_id: uuid.UUID) -> None:
    """End the anonymous address."""
    database: Database = request.app.state.database
    with database.writing() as session:
        submissions.revoke_anonymous_link(session, submission_id=submission_id, user=user)


def _changed(
    request: Request, change: Callable[..., Submission], submission_id: uuid.UUID, user: User
) -> SubmissionDetails:
    database: Database = request.app.state.database
    with database.writing() as session:
        change(session, submission_id=submission_id, user=user)
        return _details(session, queries.get_for(session, submission_id, user), user)


def _summary(submission: Submission) -> SubmissionSummary:
    return SubmissionSummary(**_common(submission), submitted_by=None)


def _organisers_summary(submission: Submission) -> SubmissionSummary:
    return SubmissionSummary(**_common(submission), submitted_by=submission.user.name)


def _common(submission: Submission) -> dict[str, Any]:
    return {
        "id": submission.id,
        "challenge": submission.challenge.slug,
        "state": submission.state,
        "method_name": submission.method.name,
        "entered": {entry.competition: entry.classes for entry in submission.entries},
        "created_at": submission.created_at,
        "published_at": submission.published_at,
    }


def _details(session: Session, submission: Submission, viewer: User | None) -> SubmissionDetails:
    managed = queries.is_managed_by(session, submission, viewer)
    evaluation = evaluations.current(session, submission)
    return SubmissionDetails(
        **_common(submission),
        submitted_by=submission.user.name if managed else None,
        method=Method(
            name=submission.method.name,
            description=submission.description,
            contributors=submission.contributors,
            affiliation=submission.affiliation,
            training_data=submission.training_data,
        ),
        segmentation_classes=submission.segmentation_classes,
        queue_position=queue.queue_position(session, submission),
        finished_at=submission.finished_at,
        failure=submission.failure,
        archive=Archive(name=submission.archive_name, bytes=submission.archive_bytes, sha256=submission.archive_sha256)
        if managed
        else None,
        warnings=[UploadProblem(**warning) for warning in submission.warnings] if managed else None,
        evaluation=evaluation_of(evaluation) if evaluation and managed else None,
        competitions=scores_of(evaluation, submission.challenge.decimals) if evaluation else {},
    )
