"""The whole server, for administrators: people, email that could not be sent, workers and their work."""

import uuid
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, Field

from vocboard.app.accounts import administration
from vocboard.app.accounts.models import Role, User
from vocboard.app.administering import people, work
from vocboard.app.administering.people import AccountState
from vocboard.app.api.paging import ItemPage, Paging
from vocboard.app.api.problems import problem_responses
from vocboard.app.api.router import ApiRoutes
from vocboard.app.api.schemas.values import Count, FromObject, Instant
from vocboard.app.forms import FilterInstant
from vocboard.app.jobs.models import Kind
from vocboard.app.messaging import undelivered
from vocboard.app.messaging.outbox import MailFailure
from vocboard.app.web.dependencies import DatabaseDep, SettingsDep
from vocboard.app.web.identity import ApiAdministrator

router = ApiRoutes(tags=["administration"])
READING = problem_responses(401, 403)
CHANGING = problem_responses(401, 403, 404, 409)


class PersonOfServer(FromObject):
    """A person with an account."""

    id: uuid.UUID
    email: str
    name: str
    affiliation: str
    role: Role
    state: AccountState
    registered_at: Instant = Field(validation_alias="created_at")


class UndeliveredEmail(FromObject):
    """An email that could not be sent."""

    id: uuid.UUID
    created_at: Instant
    recipient: str
    subject: str
    failure: MailFailure = Field(description="`rejected` and `expired` messages are not tried again by themselves.")
    error: str | None = Field(description="The mail server's answer.")
    attempts: Count
    next_attempt_at: Instant | None = Field(description="null if it is given up.")
    can_be_retried: bool = Field(description="Whether it can be sent again: it was rejected, and is not too old.")


class WorkerOfServer(FromObject):
    """A worker process."""

    host: str
    kind: str
    started_at: Instant
    looked_at: Instant = Field(description="When it last looked for work.")
    is_silent: bool = Field(description="Whether that is too long ago.")


class UnfinishedJobs(FromObject):
    """The unfinished jobs of one kind."""

    kind: Kind
    due: Count = Field(description="Number of jobs that wait for a worker.")
    due_since: Instant | None = Field(description="Since when the first of them waits.")
    running: Count
    later: Count = Field(description="Number of jobs that are not due yet.")


class FailedJobs(FromObject):
    """Failed jobs of one kind, other than email."""

    kind: Kind
    failure: str
    count: Count
    latest_at: Instant


class ServerStatus(BaseModel):
    """Workers, and what they have to do."""

    workers: list[WorkerOfServer]
    unfinished: list[UnfinishedJobs]
    failed: list[FailedJobs]
    undelivered: Count = Field(description="Number of emails that could not be sent.")


@router.get("/people", responses=READING)
def list_people(
    database: DatabaseDep,
    _: ApiAdministrator,
    paging: Paging,
    q: Annotated[str, Query(max_length=200, description="Part of a name, an affiliation or an email address.")] = "",
    role: Role | None = None,
    state: AccountState | None = None,
    since: FilterInstant | None = None,
    until: FilterInstant | None = None,
) -> ItemPage[PersonOfServer]:
    """List everybody with an account, by name; with `since` and `until`, those who have registered then.

    Only administrators can do this.
    """
    filters = people.Filters(q=q, role=role, state=state, since=since, until=until)
    with database.reading() as session:
        found = people.page_of_people(session, filters=filters, **paging.chosen)
        return paging.page_of(found, _person)


@router.post("/people/{user_id}/disable", responses=CHANGING)
def disable_person(database: DatabaseDep, administrator: ApiAdministrator, user_id: uuid.UUID) -> PersonOfServer:
    """Disable an account: sessions, tokens and event streams end. Only administrators can do this."""
    with database.writing() as session:
        user = people.locked(session, user_id)
        administration.disable(session, user=user, actor=administrator)
        return _person(user)


@router.post("/people/{user_id}/enable", responses=CHANGING)
def enable_person(
    database: DatabaseDep,
    settings: SettingsDep,
    administrator: ApiAdministrator,
    user_id: uuid.UUID,
) -> PersonOfServer:
    """Enable a disabled account; a ban from the server is lifted. Only administrators can do this."""
    with database.writing() as session:
        user = people.locked(session, user_id)
        people.enable(session, user=user, actor=administrator, site=settings.public_url)
        return _person(user)


@router.get("/status", responses=READING)
def server_status(database: DatabaseDep, _: ApiAdministrator) -> ServerStatus:
    """Return workers, unfinished and failed work. Only administrators can do this; `/readyz` is for monitoring."""
    with database.reading() as session:
        return ServerStatus(
            workers=[WorkerOfServer.model_validate(one) for one in work.workers(session)],
            unfinished=[UnfinishedJobs.model_validate(one) for one in work.unfinished(session)],
            failed=[FailedJobs.model_validate(one) for one in work.failed(session)],
            undelivered=undelivered.page_of(session, per_page=1).total,
        )


@router.get("/mail/undelivered", responses=READING)
def list_undelivered_email(database: DatabaseDep, _: ApiAdministrator, paging: Paging) -> ItemPage[UndeliveredEmail]:
    """List email of the last 30 days that could not be sent, the latest first. Only administrators can do this."""
    with database.reading() as session:
        found = undelivered.page_of(session, **paging.chosen)
        return paging.page_of(found, UndeliveredEmail.model_validate)


@router.post("/mail/{message_id}/retry", status_code=204, responses=problem_responses(401, 403, 404, 409))
def retry_email(database: DatabaseDep, administrator: ApiAdministrator, message_id: uuid.UUID) -> None:
    """Send an email that the mail server rejected again. Only administrators can do this."""
    with database.writing() as session:
        undelivered.retry(session, message_id=message_id, actor=administrator)


def _person(user: User) -> PersonOfServer:
    return PersonOfServer.of(user, state=people.state_of(user), registered_at=user.created_at)
