"""The server: email that could not be sent, workers and their work, storage."""

import uuid
from typing import Annotated

from fastapi import Depends, Form, Request
from starlette.responses import Response

from vocboard.app.administering import storage, work
from vocboard.app.errors import ConflictError
from vocboard.app.jobs.models import Kind
from vocboard.app.messaging import undelivered
from vocboard.app.pages.filters import page_number
from vocboard.app.pages.forms import NO_ERRORS, FormErrors, go_to
from vocboard.app.pages.rendering import render
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import Services, ServicesDep
from vocboard.app.web.identity import Administrator
from vocboard.app.web.routes import Routes

router = Routes("/admin")


@router.get("/mail")
def mail_page(request: Request, services: ServicesDep, _: Administrator) -> Response:
    """Email that could not be sent."""
    return _mail_page(request, services)


@router.post("/mail/retry", dependencies=[Depends(protect_form)])
def retry_mail(
    request: Request,
    services: ServicesDep,
    administrator: Administrator,
    message: Annotated[uuid.UUID | None, Form()] = None,
) -> Response:
    """Let a rejected email be sent again, or all of them."""
    try:
        with services.database.writing() as session:
            if message is None:
                undelivered.retry_all(session, actor=administrator)
            else:
                undelivered.retry(session, message_id=message, actor=administrator)
    except ConflictError as error:
        return _mail_page(request, services, errors=FormErrors.of(error))
    return go_to("/admin/mail", done="mail-retried")


def _mail_page(request: Request, services: Services, *, errors: FormErrors = NO_ERRORS) -> Response:
    with services.database.reading() as session:
        page = undelivered.page_of(session, page=page_number(request))
        retriable = undelivered.retriable(session)
    return render(
        request,
        "admin/mail.html",
        errors=errors,
        page=page,
        retriable=retriable,
    )


@router.get("/queue")
def queue_page(request: Request, services: ServicesDep, _: Administrator) -> Response:
    """Workers, what waits for them, and what has failed."""
    with services.database.reading() as session:
        return render(
            request,
            "admin/queue.html",
            workers=work.workers(session),
            unfinished=work.unfinished(session),
            failed=work.failed(session),
            failed_submissions=work.failed_submissions(session),
        )


@router.post("/queue/retry", dependencies=[Depends(protect_form)])
def retry_jobs(
    services: ServicesDep,
    administrator: Administrator,
    kind: Annotated[Kind, Form()],
    failure: Annotated[str, Form()],
) -> Response:
    """Let workers try jobs that have failed again."""
    with services.database.writing() as session:
        work.retry(session, kind=kind, failure=failure, actor=administrator)
    return go_to("/admin/queue", done="jobs-retried")


@router.get("/storage")
def storage_page(request: Request, services: ServicesDep, _: Administrator) -> Response:
    """What is stored of each challenge."""
    kept_for = services.settings.withdrawn_archives_kept_for
    with services.database.reading() as session:
        found = storage.by_challenge(session, withdrawn_kept_for=kept_for)
        return render(request, "admin/storage.html", stored=found, free_bytes=services.store.free_bytes())
