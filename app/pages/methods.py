"""The page of a method, to cite; and the form in which its owner describes it."""

import uuid
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from pydantic import BaseModel
from starlette.responses import Response

from vocboard.app.accounts.models import User
from vocboard.app.database import Database
from vocboard.app.errors import ConflictError, InvalidInputError
from vocboard.app.evaluations.results import incomplete_results, visible_means
from vocboard.app.leaderboards.methods import address, cited_method
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.submissions import describing
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep
from vocboard.app.web.identity import CurrentIdentity, SignedIn

router = APIRouter()


class DescriptionForm(BaseModel):
    """The form, as entered."""

    method_name: str | None = None
    method_description: str = ""
    contributors: str = ""
    affiliation: str = ""
    paper_url: str = ""
    code_url: str = ""
    note: str = ""


@router.get("/methods/{method_id}")
def method_page(
    request: Request, database: DatabaseDep, settings: SettingsDep, identity: CurrentIdentity, method_id: uuid.UUID
) -> Response:
    """Show the published results of a method, and how to cite it."""
    with database.reading() as session:
        cited = cited_method(session, method_id, identity.user, site=settings.public_url)
        means = visible_means(session, cited.versions, for_organisers=False)
        incomplete = incomplete_results(session, cited.versions)
    numbers = {one.id: len(cited.versions) - place for place, one in enumerate(cited.versions)}
    return render(
        request,
        "method.html",
        cited=cited,
        means=means,
        incomplete=incomplete,
        numbers=numbers,
        address=address(settings.public_url, method_id),
    )


@router.get("/submissions/{submission_id}/edit")
def description_page(request: Request, database: DatabaseDep, user: SignedIn, submission_id: uuid.UUID) -> Response:
    """Show the form to describe a submission and its method."""
    return _form(request, database, user, submission_id)


@router.post("/submissions/{submission_id}/edit", dependencies=[Depends(protect_form)])
def describe(
    request: Request,
    database: DatabaseDep,
    user: SignedIn,
    submission_id: uuid.UUID,
    typed: Annotated[DescriptionForm, Form()],
) -> Response:
    """Change what is said about a submission and its method."""
    try:
        with database.writing() as session:
            describing.describe(
                session, submission_id=submission_id, user=user, changes=typed.model_dump(exclude_none=True)
            )
    except (InvalidInputError, ConflictError) as error:
        return _form(request, database, user, submission_id, typed=typed, errors=FormErrors.of(error))
    return go_to(f"/submissions/{submission_id}", done="described")


def _form(
    request: Request,
    database: Database,
    user: User,
    submission_id: uuid.UUID,
    *,
    typed: DescriptionForm | None = None,
    errors: FormErrors = NO_ERRORS,
) -> Response:
    with database.reading() as session:
        submission = describing.get_to_change(session, submission_id, user)
    return render(
        request,
        "describe.html",
        errors=errors,
        submission=submission,
        form=typed.model_dump(exclude_none=True) if typed else describing.description_of(submission),
    )
