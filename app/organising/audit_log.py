"""The audit log as people read it: events with names and a sentence, filtered, page by page."""

import csv
import io
import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, or_, select
from sqlalchemy.orm import Session

from vocboard.app.accounts.models import Role, User
from vocboard.app.audit import service as instants
from vocboard.app.audit.models import AuditEvent
from vocboard.app.database import Database
from vocboard.app.forms import escape_formula
from vocboard.app.organising.audit_sentences import PHRASES, sentence
from vocboard.app.paging import PER_PAGE, Cursor, Page, paginate_by_time
from vocboard.app.submissions.models import Method, Submission

SERVER = "The server"
MAX_PEOPLE = 200  # in the list to choose from
OPERATOR, ITSELF = "operator", "server"  # values of `Filters.who` beside ids of people


@dataclass(frozen=True, slots=True)
class Filters:
    """Which events to show; None and empty for all.

    Attributes:
        who: id of a person, or `OPERATOR` or `ITSELF`.
        action: one action, such as `submission.publish`, or all of an object: `submission`.
        about: id of a submission or another object.
        since: the first instant.
        until: the instant after the last.
    """

    who: str = ""
    action: str = ""
    about: uuid.UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """One event, for people to read.

    Attributes:
        who: the person's current name, `alice@host, command line`, or `SERVER`.
        text: a sentence.
        details: in JSON's types; instants are ISO 8601 texts.
    """

    id: uuid.UUID
    created_at: datetime
    who: str
    actor_id: uuid.UUID | None
    action: str
    object_type: str
    object_id: uuid.UUID | None
    challenge_id: uuid.UUID | None
    text: str
    details: Mapping[str, Any]


def page_of_log(
    session: Session,
    *,
    challenge_id: uuid.UUID | None,
    filters: Filters,
    page: int = 1,
    per_page: int = PER_PAGE,
    after: Cursor | None = None,
) -> Page[LoggedEvent]:
    """Return a page of the log of a challenge, or of the whole server, the latest event first.

    Whether the viewer may read it is the caller's to check.
    """
    keys = (AuditEvent.created_at, AuditEvent.id)
    query = _filtered(challenge_id, filters)
    found = paginate_by_time(session, query, keys, page=page, per_page=per_page, after=after)
    return found.of(described(session, found.items))


def batch_of_log(
    session: Session,
    *,
    challenge_id: uuid.UUID | None,
    filters: Filters,
    after: LoggedEvent | None = None,
    limit: int = 500,
) -> list[LoggedEvent]:
    """Return the next events in the order in which they happened, for exports that are longer than memory."""
    query = _filtered(challenge_id, filters)
    if after is not None:
        is_later = and_(AuditEvent.created_at == after.created_at, AuditEvent.id > after.id)
        query = query.where(or_(AuditEvent.created_at > after.created_at, is_later))
    events = session.scalars(query.order_by(AuditEvent.created_at, AuditEvent.id).limit(limit)).all()
    return described(session, events)


def people_in_log(session: Session, challenge_id: uuid.UUID | None, *, who: str = "") -> Sequence[User]:
    """Return who appears in a log, by name: at most `MAX_PEOPLE`, of whom participants are left out first.

    Args:
        who: the id of somebody who is in the list in any case.
    """
    actors = _filtered(challenge_id, Filters()).with_only_columns(AuditEvent.actor_id)
    in_log = select(User).where(User.id.in_(actors)).order_by(User.role == Role.PARTICIPANT, User.name, User.id)
    found = set(session.scalars(in_log.limit(MAX_PEOPLE)))
    chosen = session.scalar(select(User).where(User.id == _identifier(who), User.id.in_(actors)))
    return sorted(found | ({chosen} if chosen else set()), key=lambda user: (user.name, user.id))


def actions() -> list[str]:
    """Return all actions that have a sentence, in order."""
    return sorted(PHRASES)


def described(session: Session, events: Sequence[AuditEvent]) -> list[LoggedEvent]:
    """Return events with the names of who did what to what, in three statements."""
    ids: defaultdict[str, set[uuid.UUID]] = defaultdict(set)
    for event in events:
        if event.object_id is not None:
            ids[event.object_type].add(event.object_id)
    methods = _submissions(session, ids["submissions"])
    people = {event.actor_id for event in events if event.actor_id} | ids["users"]
    names = {row.id: row.name for row in session.execute(select(User.id, User.name).where(User.id.in_(people)))}
    return [_described(event, methods, names) for event in events]


def _described(
    event: AuditEvent, methods: Mapping[uuid.UUID, tuple[str, uuid.UUID, str]], names: Mapping[uuid.UUID, str]
) -> LoggedEvent:
    who = event.operator or (SERVER if event.actor_id is None else names.get(event.actor_id, "Somebody"))
    subject = "?"
    if event.object_id is None:
        pass
    elif event.object_id in methods:
        method, owner_id, owner = methods[event.object_id]
        subject = f"“{method}”" if owner_id == event.actor_id else f"“{method}” of {owner}"
    elif event.object_id in names:
        subject = names[event.object_id]
    return LoggedEvent(
        id=event.id,
        created_at=event.created_at,
        who=who,
        actor_id=event.actor_id,
        action=event.action,
        object_type=event.object_type,
        object_id=event.object_id,
        challenge_id=event.challenge_id,
        text=sentence(who, event.action, subject, event.details),
        details=instants.shown(event.details),
    )


def _submissions(session: Session, ids: set[uuid.UUID]) -> Mapping[uuid.UUID, tuple[str, uuid.UUID, str]]:
    """Method, owner's id and owner's name of submissions."""
    if not ids:
        return {}
    query = (
        select(Submission.id, Method.name, Submission.user_id, User.name)
        .join(Submission.method)
        .join(Submission.user)
        .where(Submission.id.in_(ids))
    )
    return {row[0]: (row[1], row[2], row[3]) for row in session.execute(query)}


def _filtered(challenge_id: uuid.UUID | None, filters: Filters) -> Select[AuditEvent]:
    query = select(AuditEvent)
    if challenge_id is not None:
        query = query.where(AuditEvent.challenge_id == challenge_id)
    if filters.who == OPERATOR:
        query = query.where(AuditEvent.operator.is_not(None))
    elif filters.who == ITSELF:
        query = query.where(AuditEvent.operator.is_(None), AuditEvent.actor_id.is_(None))
    elif filters.who:
        query = query.where(AuditEvent.actor_id == _identifier(filters.who))
    if filters.action:
        exact = AuditEvent.action == filters.action
        query = query.where(exact if "." in filters.action else AuditEvent.action.startswith(filters.action + "."))
    if filters.about is not None:
        query = query.where(AuditEvent.object_id == filters.about)
    if filters.since is not None:
        query = query.where(AuditEvent.created_at >= filters.since)
    if filters.until is not None:
        query = query.where(AuditEvent.created_at < filters.until)
    return query


def _identifier(text: str) -> uuid.UUID:
    """An id; for other text, one that nobody has."""
    try:
        return uuid.UUID(text)
    except ValueError:
        return uuid.UUID(int=0)


COLUMNS = ("time", "who", "action", "object", "object_id", "event", "details")


def as_csv(database: Database, *, challenge_id: uuid.UUID | None, filters: Filters) -> Iterator[str]:
    """Yield RFC 4180 CSV with a header, the first event first. No transaction stays open between two pieces."""
    yield _written([COLUMNS])
    for events in batches(database, challenge_id=challenge_id, filters=filters):
        yield _written(_row(event) for event in events)


def batches(database: Database, *, challenge_id: uuid.UUID | None, filters: Filters) -> Iterator[list[LoggedEvent]]:
    """Yield all events in the order in which they happened."""
    after = None
    while True:
        with database.reading() as session:
            events = batch_of_log(session, challenge_id=challenge_id, filters=filters, after=after)
        if not events:
            return
        yield events
        after = events[-1]


def _row(event: LoggedEvent) -> tuple[str, ...]:
    return (
        event.created_at.isoformat(),
        escape_formula(event.who),
        event.action,
        event.object_type,
        str(event.object_id or ""),
        escape_formula(event.text),
        json.dumps(event.details, ensure_ascii=False),
    )


def _written(rows: Iterable[Sequence[str]]) -> str:
    output = io.StringIO()
    csv.writer(output).writerows(rows)
    return output.getvalue()
