"""The end of a challenge, and its way to another server: archive, delete, export, import."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated

from anyio import to_thread
from fastapi import Depends, Form, Request
from starlette.responses import Response

from vocboard.app.challenges import organisers
from vocboard.app.errors import ConflictError, InvalidArchiveError, InvalidInputError, ServiceError
from vocboard.app.intake.organisers import take_challenge
from vocboard.app.organising import archiving, copying
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to, token_verifier
from vocboard.app.pages.rendering import render
from vocboard.app.pages.reports import by_file
from vocboard.app.transfer.exporting import begin_export
from vocboard.app.web.attachments import exported_challenge
from vocboard.app.web.csrf import ForgedRequestError, protect_form
from vocboard.app.web.dependencies import IntakeDep, SettingsDep, StoreDep
from vocboard.app.web.identity import Creator
from vocboard.app.web.organised import Organised, OrganisedChallenge
from vocboard.app.web.routes import Routes

router = Routes("/organise")


@router.get("/import")
def import_page(request: Request, settings: SettingsDep, _: Creator) -> Response:
    """The form to import a challenge with."""
    return _import_page(request, settings.ground_truth_limit_bytes)


@router.post("/import")
async def import_challenge(request: Request, settings: SettingsDep, intake: IntakeDep, user: Creator) -> Response:
    """Import a challenge that another server has exported."""
    try:
        slug = await take_challenge(intake, request, user=user, before_file=token_verifier(request))
    except ForgedRequestError:
        raise
    except ServiceError as error:
        return await to_thread.run_sync(_import_page, request, settings.ground_truth_limit_bytes, error)
    return go_to(f"/organise/{slug}/people", done="imported")


@router.get("/{slug}/archive")
def archive_page(organised: Organised) -> Response:
    """Export, archive or delete a challenge."""
    return _page(organised)


@router.post("/{slug}/export", dependencies=[Depends(protect_form)])
def export(organised: Organised, store: StoreDep) -> Response:
    """The whole challenge but its ground truth, as one archive."""
    exported = begin_export(organised.database, store, slug=organised.slug, user=organised.user)
    return exported_challenge(exported, organised.slug)


@router.post("/{slug}/archive", dependencies=[Depends(protect_form)])
def archive(organised: Organised) -> Response:
    """Make the challenge read-only."""
    refused = _refused(organised, archiving.archive)
    return refused or go_to(f"/organise/{organised.slug}/archive", done="archived")


@router.post("/{slug}/copy", dependencies=[Depends(protect_form)])
def copy(organised: Organised, new_slug: Annotated[str, Form()] = "", title: Annotated[str, Form()] = "") -> Response:
    """Make a draft with the rules of the challenge."""
    try:
        organised.change(copying.copy, slug=new_slug.strip(), title=title)
    except (ConflictError, InvalidInputError) as error:
        errors = FormErrors.of(error)
        wrong = {"new_slug" if name == "slug" else name: text for name, text in errors.wrong.items()}
        return _page(organised, errors=replace(errors, wrong=wrong), typed={"new_slug": new_slug, "title": title})
    return go_to(f"/organise/{new_slug.strip()}", done="copied")


@router.post("/{slug}/reopen", dependencies=[Depends(protect_form)])
def reopen(organised: Organised) -> Response:
    """Let the challenge be changed again."""
    refused = _refused(organised, archiving.reopen)
    return refused or go_to(f"/organise/{organised.slug}/archive", done="reopened")


@router.post("/{slug}/delete", dependencies=[Depends(protect_form)])
def delete(organised: Organised) -> Response:
    """Delete a draft without submissions but rehearsals."""
    return _refused(organised, archiving.delete_draft) or go_to("/organise", done="deleted")


def _refused(organised: OrganisedChallenge, change: Callable[..., None]) -> Response | None:
    """Change the challenge; None, or the page with the reason if its state does not allow the change."""
    try:
        organised.change(change)
    except ConflictError as error:
        return _page(organised, errors=FormErrors.of(error))
    return None


def _page(
    organised: OrganisedChallenge, *, errors: FormErrors = NO_ERRORS, typed: Mapping[str, str] | None = None
) -> Response:
    with organised.reading() as (session, challenge):
        return render(
            organised.request,
            "organise/archive.html",
            errors=errors,
            challenge=challenge,
            has_entries=archiving.has_entries(session, challenge),
            is_owner=organisers.is_owner(session, challenge, organised.user),
            typed=typed or {},
        )


def _import_page(request: Request, limit: int, error: ServiceError | None = None) -> Response:
    return render(
        request,
        "organise/import.html",
        errors=FormErrors.of(error) if error else NO_ERRORS,
        problems=by_file(error.problems if isinstance(error, InvalidArchiveError) else ()),
        upload_limit=limit,
        form={},
    )
