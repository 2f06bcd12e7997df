"""The end of a challenge, and its way to another server: archive, delete, export, import."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import Response, StreamingResponse

from vocboard.app.accounts.models import User
from vocboard.app.challenges import archiving, copying, organisers
from vocboard.app.challenges import service as challenges
from vocboard.app.database import Database
from vocboard.app.errors import ConflictError, InvalidArchiveError, InvalidInputError, ServiceError
from vocboard.app.intake.multipart import StreamedForm
from vocboard.app.intake.organisers import take_challenge
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.pages.reports import by_file
from vocboard.app.transfer.service import begin_export
from vocboard.app.web.csrf import FIELD, ForgedRequestError, protect_form, verify_csrf
from vocboard.app.web.dependencies import DatabaseDep, IntakeDep, SettingsDep, StoreDep
from vocboard.app.web.identity import Creator, Organiser
from vocboard.evaluator.problems import Problem

router = APIRouter(prefix="/organise")


@router.get("/import")
def import_page(request: Request, settings: SettingsDep, _: Creator) -> Response:
    """The form to import a challenge with."""
    return _import_page(request, settings.ground_truth_limit_bytes)


@router.post("/import")
async def import_challenge(request: Request, settings: SettingsDep, intake: IntakeDep, user: Creator) -> Response:
    """Import a challenge that another server has exported."""

    def before_file(form: StreamedForm) -> None:
        verify_csrf(request, form.value(FIELD))

    try:
        slug = await take_challenge(intake, request, user=user, before_file=before_file)
    except ForgedRequestError:
        raise
    except ServiceError as error:
        problems = error.problems if isinstance(error, InvalidArchiveError) else ()
        page = partial(
            _import_page,
            request,
            settings.ground_truth_limit_bytes,
            errors=FormErrors.of(error),
            problems=problems,
        )
        return await to_thread.run_sync(page)
    await to_thread.run_sync(intake.notifier.mail_queued)
    return go_to(f"/organise/{slug}/people", done="imported")


@router.get("/{slug}/archive")
def archive_page(request: Request, database: DatabaseDep, user: Organiser, slug: str) -> Response:
    """Export, archive or delete a challenge."""
    return _page(request, database, user, slug)


@router.post("/{slug}/export", dependencies=[Depends(protect_form)])
def export(database: DatabaseDep, store: StoreDep, user: Organiser, slug: str) -> Response:
    """The whole challenge but its ground truth, as one archive."""
    exported = begin_export(database, store, slug=slug, user=user)
    headers = {
        "Content-Disposition": f'attachment; filename="{slug}.vocboard.tar"',
        "Content-Length": str(exported.size),
    }
    return StreamingResponse(exported.stream(), media_type="application/x-tar", headers=headers)


@router.post("/{slug}/archive", dependencies=[Depends(protect_form)])
def archive(request: Request, database: DatabaseDep, user: Organiser, slug: str) -> Response:
    """Make the challenge read-only."""
    refused = _refused(request, database, user, slug, archiving.archive)
    return refused or go_to(f"/organise/{slug}/archive", done="archived")


@router.post("/{slug}/copy", dependencies=[Depends(protect_form)])
def copy(
    request: Request,
    database: DatabaseDep,
    user: Organiser,
    slug: str,
    new_slug: Annotated[str, Form()] = "",
    title: Annotated[str, Form()] = "",
) -> Response:
    """Make a draft with the rules of the challenge."""
    try:
        with database.writing() as session:
            challenge = challenges.get_organised(session, slug, user)
            copying.copy(session, challenge=challenge, user=user, slug=new_slug.strip(), title=title)
    except (ConflictError, InvalidInputError) as error:
        typed = {"new_slug": new_slug, "title": title}
        return _page(request, database, user, slug, errors=FormErrors.of(error), typed=typed)
    return go_to(f"/organise/{new_slug.strip()}", done="copied")


@router.post("/{slug}/reopen", dependencies=[Depends(protect_form)])
def reopen(request: Request, database: DatabaseDep, user: Organiser, slug: str) -> Response:
    """Let the challenge be changed again."""
    refused = _refused(request, database, user, slug, archiving.reopen)
    return refused or go_to(f"/organise/{slug}/archive", done="reopened")


@router.post("/{slug}/delete", dependencies=[Depends(protect_form)])
def delete(request: Request, database: DatabaseDep, user: Organiser, slug: str) -> Response:
    """Delete a draft without submissions but rehearsals."""
    return _refused(request, database, user, slug, archiving.delete_draft) or go_to("/organise", done="deleted")


def _refused(
    request: Request, database: Database, user: User, slug: str, change: Callable[..., None]
) -> Response | None:
    """Change the challenge; None, or the page with the reason if its state does not allow the change."""
    try:
        with database.writing() as session:
            change(session, challenge=challenges.get_organised(session, slug, user), user=user)
    except ConflictError as error:
        return _page(request, database, user, slug, errors=FormErrors.of(error))
    return None


def _page(
    request: Request,
    database: Database,
    user: User,
    slug: str,
    *,
    errors: FormErrors = NO_ERRORS,
    typed: Mapping[str, str] | None = None,
) -> Response:
    with database.reading() as session:
        challenge = challenges.get_organised(session, slug, user)
        context: dict[str, Any] = {
            "challenge": challenge,
            "has_entries": archiving.has_entries(session, challenge),
            "is_owner": organisers.is_owner(session, challenge, user),
            "typed": typed or {},
            "wrong": errors.wrong,
        }
    return render(request, "organise/archive.html", status=errors.status, message=errors.message, **context)


def _import_page(
    request: Request, limit: int, *, errors: FormErrors = NO_ERRORS, problems: tuple[Problem, ...] = ()
) -> Response:
    return render(
        request,
        "organise/import.html",
        errors=errors,
        problems=by_file(problems),
        upload_limit=limit,
        form={},
    )
