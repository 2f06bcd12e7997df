"""What the user was told, and what the user gets by email; also the links in emails that stop them."""

import uuid
from typing import Annotated

from fastapi import Depends, Form, Request
from starlette.responses import Response

from vocboard.app.notifications import queries, service
from vocboard.app.notifications.models import ALWAYS_EMAILED, NotificationKind
from vocboard.app.pages.filters import page_number
from vocboard.app.pages.forms import go_to
from vocboard.app.pages.rendering import render
from vocboard.app.web.csrf import protect_form
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import SignedIn, current_identity
from vocboard.app.web.routes import Routes

router = Routes()


@router.get("/notifications")
def list_of_notifications(request: Request, database: DatabaseDep, user: SignedIn) -> Response:
    """What the user was told, newest first."""
    with database.reading() as session:
        found = queries.page_of(session, user.id, page=page_number(request))
    return render(request, "notifications.html", page=found)


@router.post("/notifications/read", dependencies=[Depends(protect_form)])
def mark_read(
    database: DatabaseDep, user: SignedIn, notification: Annotated[uuid.UUID | None, Form()] = None
) -> Response:
    """Mark a notification as read, or all."""
    with database.writing() as session:
        service.mark_read(session, user.id, None if notification is None else [notification])
    return go_to("/notifications", done="read")


@router.get("/account/notifications")
def settings_page(request: Request, database: DatabaseDep, user: SignedIn) -> Response:
    """What the user gets by email."""
    with database.reading() as session:
        chosen = queries.by_email(session, user.id)
    always = [kind for kind in NotificationKind if kind in ALWAYS_EMAILED]
    return render(request, "notification_settings.html", chosen=chosen, always=always)


@router.post("/account/notifications", dependencies=[Depends(protect_form)])
def choose_emails(
    database: DatabaseDep, user: SignedIn, by_email: Annotated[list[str], Form(default_factory=list)]
) -> Response:
    """Change what the user gets by email."""
    with database.writing() as session:
        chosen = {kind: kind.value in by_email for kind in queries.EMAILED_BY_CHOICE}
        service.choose_emails(session, user.id, chosen)
    return go_to("/account/notifications", done="emails")


@router.get("/unsubscribe", dependencies=[Depends(current_identity)])
def unsubscribe_page(request: Request, database: DatabaseDep, token: str = "") -> Response:
    """Confirmation page: programs that check links of emails open it, so it changes nothing."""
    with database.reading() as session:
        kind = queries.setting_of(session, token).kind
    return render(request, "unsubscribe.html", kind=kind, token=token, is_done=False)


@router.post("/unsubscribe", dependencies=[Depends(current_identity)])
def unsubscribe(request: Request, database: DatabaseDep, token: str = "") -> Response:
    """Stop email of one kind. Mail programs send this without a form (RFC 8058): the token is all that it needs."""
    with database.writing() as session:
        kind = service.unsubscribe(session, token)
    return render(request, "unsubscribe.html", kind=kind, token=token, is_done=True)
