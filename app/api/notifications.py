"""What the user was told, and what the user gets by email."""

import uuid
from functools import partial
from typing import Annotated

from fastapi import Query, Request
from pydantic import Field

from vocboard.app.api.paging import ItemPage, PagingByTime
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.values import FromObject, Given, Instant
from vocboard.app.notifications import queries, service
from vocboard.app.notifications.models import NotificationKind
from vocboard.app.paging import MAX_PER_PAGE
from vocboard.app.participating.locking import lock_person
from vocboard.app.web.dependencies import DatabaseDep
from vocboard.app.web.identity import ReadingUser, SubmittingUser
from vocboard.app.web.preconditions import require_match

router = ApiRoutes()


class ShownNotification(FromObject):
    """Something that the user was told."""

    id: uuid.UUID
    created_at: Instant
    kind: NotificationKind
    title: str = Field(description="One sentence.")
    text: str = Field(description="Further lines; may be empty.")
    link: str = Field(description="Path of the page about it.")
    read_at: Instant | None = Field(description="null if it is unread.")


class ReadNotifications(Given):
    """Notifications to mark as read."""

    ids: list[uuid.UUID] | None = Field(None, max_length=MAX_PER_PAGE, description="By default, all.")


@router.get("/notifications", responses=problem_responses(401, 403), tags=["account"])
def list_notifications(
    database: DatabaseDep,
    user: ReadingUser,
    paging: PagingByTime,
    unread: Annotated[bool, Query(description="Only unread ones.")] = False,
) -> ItemPage[ShownNotification]:
    """List what the user was told, newest first."""
    with database.reading() as session:
        found = queries.page_of(session, user.id, unread=unread, **paging.chosen)
        return paging.page_of(found, ShownNotification.model_validate)


@router.post("/notifications/read", status_code=204, responses=problem_responses(400, 401, 403, 422), tags=["account"])
def mark_notifications_read(database: DatabaseDep, user: SubmittingUser, read: ReadNotifications) -> None:
    """Mark notifications as read. Ids of other people's are ignored. Tokens need the scope `submit`."""
    with database.writing() as session:
        service.mark_read(session, user.id, read.ids)


@router.get("/account/emails", responses=problem_responses(401, 403), tags=["account"])
def chosen_emails(database: DatabaseDep, user: ReadingUser) -> dict[str, bool]:
    """Return which kinds of notifications the user also gets by email."""
    with database.reading() as session:
        return {kind.value: chosen for kind, chosen in queries.by_email(session, user.id).items()}


@router.patch("/account/emails", responses=problem_responses(400, 401, 403, 422), tags=["account"])
def choose_emails(
    request: Request, database: DatabaseDep, user: SubmittingUser, chosen: dict[NotificationKind, bool]
) -> dict[str, bool]:
    """Change which kinds of notifications the user also gets by email. Tokens need the scope `submit`."""
    with database.writing() as session:
        require_match(request, session, partial(lock_person, session, user.id))
        service.choose_emails(session, user.id, chosen)
        return {kind.value: is_chosen for kind, is_chosen in queries.by_email(session, user.id).items()}
