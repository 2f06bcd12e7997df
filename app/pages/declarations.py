"""Pages about the declarations of a submission: the form to add or correct them, and the list of images."""

import uuid
from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from pydantic import BaseModel
from starlette.responses import PlainTextResponse, Response

from vocboard.app.accounts.models import User
from vocboard.app.challenges import service as challenges
from vocboard.app.database import Database
from vocboard.app.errors import ConflictError, InvalidInputError
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, UploadedHashes, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.submissions import describing
from vocboard.app.submissions.forms import needed_by, read_listed_images
from vocboard.app.submissions.models import Submission
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import SignedIn
from vocboard.evaluator.editions import Declaration

router = APIRouter()


class DeclarationsForm(BaseModel):
    """The declarations form, as entered."""

    training_data: str = ""
    training_annotation: str = ""
    flickr_images: str = ""


@router.get("/submissions/{submission_id}/flickr-images")
def flickr_images(database: DatabaseDep, user: SignedIn, submission_id: uuid.UUID) -> Response:
    """Return the declared hashes of images from flickr, for the owner and the organisers."""
    with database.reading() as session:
        return PlainTextResponse(describing.listed_images(session, submission_id=submission_id, user=user))


@router.get("/submissions/{submission_id}/declarations")
def declarations_page(request: Request, database: DatabaseDep, user: SignedIn, submission_id: uuid.UUID) -> Response:
    """Show the form to add or correct declarations."""
    return _declarations_page(request, database, user, submission_id)


@router.post("/submissions/{submission_id}/declarations", dependencies=[Depends(protect_form)])
def declare(
    request: Request,
    database: DatabaseDep,
    user: SignedIn,
    submission_id: uuid.UUID,
    typed: Annotated[DeclarationsForm, Form()],
    hashes: UploadedHashes,
) -> Response:
    """Add or correct declarations."""
    changes = {**typed.model_dump(), "flickr_image_hashes": read_listed_images(hashes)}
    try:
        with database.writing() as session:
            describing.declare(session, submission_id=submission_id, user=user, changes=changes)
    except (InvalidInputError, ConflictError) as error:
        return _declarations_page(request, database, user, submission_id, form=typed, errors=FormErrors.of(error))
    return go_to(f"/submissions/{submission_id}", done="declared")


def _declarations_page(
    request: Request,
    database: Database,
    user: User,
    submission_id: uuid.UUID,
    *,
    form: DeclarationsForm | None = None,
    errors: FormErrors = NO_ERRORS,
) -> Response:
    with database.reading() as session:
        submission = describing.get_to_change(session, submission_id, user)
    present = DeclarationsForm(
        training_data=submission.training_data,
        training_annotation=submission.training_annotation or "",
        flickr_images=submission.flickr_images or "",
    )
    return render(
        request,
        "declarations.html",
        errors=errors,
        submission=submission,
        needed=needed(submission, [entry.competition for entry in submission.entries]),
        form=(form or present).model_dump(),
    )


def needed(submission: Submission, competitions: Iterable[str]) -> dict[Declaration, list[str]]:
    """Return what competitions of a submission require."""
    known = challenges.edition_of(submission.challenge).competitions
    return needed_by(known[key] for key in competitions)
