"""Adds events to the audit log."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from sqlalchemy.orm import Session

from vocboard.app.audit.models import AuditEvent
from vocboard.app.database import OPERATOR


class Subject(Protocol):
    """A row with an id, or what stands for one that is added later."""

    @property
    def __tablename__(self) -> str:
        """The name of its table."""

    @property
    def id(self) -> Any:
        """Its id."""


class Actor(Protocol):
    """A person, or what stands for one where the database role may not read the person's row."""

    @property
    def id(self) -> Any:
        """That of the person."""


@dataclass(frozen=True, slots=True)
class Row:
    """What stands for a row that is not read, for several, or for one that does not exist.

    Attributes:
        id: None for several, and for none.
    """

    __tablename__: str
    id: uuid.UUID | None = None


SERVER = Row("server")  # itself, which has no table


def record(
    session: Session, *, actor: Actor | None, action: str, subject: Subject, details: dict[str, Any] | None = None
) -> None:
    """Add one event to the log, in the transaction of the action itself.

    If the database was opened by an operator (`Database.operator`), all events are attributed to the operator; `actor`,
    for example the owner of a new token, is then stored in the details as `on_behalf_of`.

    Args:
        actor: the user; None for the server itself.
        action: object and verb, such as `submission.publish`.
        subject: row of the object.
        details: further information in JSON's types and `datetime`; never secrets, never anything from the ground
            truth.
    """
    session.flush()  # assigns the id of a new object
    operator = session.info.get(OPERATOR)
    details = dict(details or {})
    if operator and actor and actor.id is not None:  # the operator may act without an account
        details["on_behalf_of"] = str(actor.id)
    session.add(
        AuditEvent(
            actor_id=actor.id if actor and not operator else None,
            operator=operator,
            action=action,
            object_type=subject.__tablename__,
            object_id=subject.id,
            challenge_id=_challenge_of(subject),
            details=stored(details),
        )
    )
    session.flush()


def _challenge_of(subject: Subject) -> uuid.UUID | None:
    found: uuid.UUID | None = (
        subject.id if subject.__tablename__ == "challenges" else getattr(subject, "challenge_id", None)
    )
    return found


_KEY = "instant"  # of an object that has nothing else
# Earlier versions stored instants as texts. Of these, only what no user typed as a text is read as one.
_EARLIER = frozenset({"at", "until", "opens_at", "closes_at", "leaderboard_from", "freezes_at", "anonymous_until"})


def stored(value: Any) -> Any:
    """Return details, or a value in them, in JSON's types.

    >>> stored({"title": "2026-05-01T00:00:00Z", "until": datetime(2026, 5, 1, tzinfo=UTC)})
    {'title': '2026-05-01T00:00:00Z', 'until': {'instant': '2026-05-01T00:00:00+00:00'}}
    """
    if isinstance(value, datetime):
        return {_KEY: value.isoformat()}
    if isinstance(value, Mapping):
        return {name: stored(each) for name, each in value.items()}
    return [stored(each) for each in value] if isinstance(value, list | tuple) else value


def shown(value: Any) -> Any:
    """Return stored details, or a value in them, with instants as ISO 8601 texts, as the API and files have them."""
    if isinstance(value, Mapping):
        return value[_KEY] if _is_instant(value) else {name: shown(each) for name, each in value.items()}
    return [shown(each) for each in value] if isinstance(value, list) else value


def instant_in(value: Any, *, name: str = "") -> datetime | None:
    """Return the instant that a stored value is, in UTC; None if it is something else.

    Args:
        name: of the value, by which instants of earlier versions are recognised.
    """
    text = value[_KEY] if _is_instant(value) else value if name in _EARLIER else None
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
        return found.astimezone(UTC) if found.tzinfo is not None else None
    except (ValueError, OverflowError):  # only an import of an earlier version can have written this
        return None


def _is_instant(value: Any) -> bool:
    return isinstance(value, Mapping) and value.keys() == {_KEY}
