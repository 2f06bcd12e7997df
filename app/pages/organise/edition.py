"""The edition file of a challenge: replaced before there is ground truth, changed by a re-score afterwards."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import Response

from vocboard.app.challenges import queries
from vocboard.app.challenges import service as challenges
from vocboard.app.errors import ConflictError, ForbiddenError, NotFoundError, ServiceError
from vocboard.app.pages.forms import FormErrors, UploadedEdition, go_to
from vocboard.app.pages.organise.challenges import challenge_page
from vocboard.app.rescores import service as rescores
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep, NotifierDep, SettingsDep
from vocboard.app.web.identity import Organiser

router = APIRouter(prefix="/organise")


@router.post("/{slug}/edition", dependencies=[Depends(protect_form)])
def change_edition(
    request: Request,
    database: DatabaseDep,
    settings: SettingsDep,
    notifier: NotifierDep,
    user: Organiser,
    slug: str,
    edition_file: UploadedEdition,
    reason: Annotated[str, Form()] = "",
) -> Response:
    """Replace the edition file; once there is ground truth, start a re-score by the changed one."""
    rescore = None
    try:
        with database.writing() as session:
            challenge = challenges.get_organised(session, slug, user)
            if queries.has_read_truth(session, challenge.id):
                rescore = rescores.start(
                    session, challenge=challenge, user=user, reason=reason, edition_file=edition_file
                )
            else:
                challenges.replace_edition_file(session, challenge=challenge, user=user, edition_file=edition_file)
    except (ForbiddenError, NotFoundError):
        raise
    except ConflictError as error:
        return challenge_page(request, database, settings, user, slug, refusal=error)
    except ServiceError as error:
        return challenge_page(request, database, settings, user, slug, errors=FormErrors.of(error), reason=reason)
    if rescore is None:
        return go_to(f"/organise/{slug}", done="edition")
    notifier.jobs_added()
    return go_to(f"/organise/{slug}/rescores/{rescore.id}")
