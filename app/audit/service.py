"""Adds events to the audit log."""

import uuid
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from sqlalchemy.orm import Session

from vocboard.app.audit import instants
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
class PersonId:
    """The id of a person whose row is not read; None for an account that does not exist."""

    id: uuid.UUID | None
    __tablename__: ClassVar[str] = "users"


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
            details=instants.stored(details),
        )
    )
    session.flush()


def _challenge_of(subject: Subject) -> uuid.UUID | None:
    found: uuid.UUID | None = (
        subject.id if subject.__tablename__ == "challenges" else getattr(subject, "challenge_id", None)
    )
    return found
