"""The organisers' page of a challenge's files."""

import uuid
from functools import partial

from anyio import to_thread
from fastapi import Depends
from starlette.responses import Response

from vocboard.app.challenges import files
from vocboard.app.errors import ConflictError, ForbiddenError, NotFoundError, ServiceError
from vocboard.app.intake.challenge_files import remove_file
from vocboard.app.intake.organisers import take_file
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to, token_verifier
from vocboard.app.pages.rendering import render
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import IntakeDep
from vocboard.app.web.organised import Organised, OrganisedChallenge
from vocboard.app.web.routes import Routes

router = Routes("/organise/{slug}/files")


@router.get("")
def files_page(organised: Organised) -> Response:
    """The files of a challenge."""
    return _page(organised)


@router.post("")
async def upload_file(organised: Organised, intake: IntakeDep) -> Response:
    """Receive a file."""
    request = organised.request
    try:
        await take_file(intake, request, slug=organised.slug, user=organised.user, before_file=token_verifier(request))
    except (ForbiddenError, NotFoundError):
        raise
    except ServiceError as error:
        return await to_thread.run_sync(partial(_page, organised, FormErrors.of(error)))
    return go_to(f"/organise/{organised.slug}/files", done="file-added")


@router.post("/{file_id}/delete", dependencies=[Depends(protect_form)])
def delete_file(organised: Organised, intake: IntakeDep, file_id: uuid.UUID) -> Response:
    """Delete a file."""
    try:
        remove_file(intake.database, intake.store, slug=organised.slug, file_id=file_id, user=organised.user)
    except ConflictError as error:
        return _page(organised, FormErrors.of(error))
    return go_to(f"/organise/{organised.slug}/files", done="file-removed")


def _page(organised: OrganisedChallenge, errors: FormErrors = NO_ERRORS) -> Response:
    with organised.reading() as (session, challenge):
        found = files.files_of(session, challenge.id)
    settings = organised.settings
    return render(
        organised.request,
        "organise/files.html",
        errors=errors,
        challenge=challenge,
        files=found,
        used=sum(one.byte_count for one in found),
        limit=settings.challenge_file_limit_bytes,
        limit_in_all=settings.challenge_files_limit_bytes,
        picture_limit=files.PICTURE_LIMIT_BYTES,
        max_showcase=files.MAX_SHOWCASE_IMAGES,
    )
