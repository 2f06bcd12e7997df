"""The audit log: who did what to which object. Rows are only ever added."""

import uuid
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy.orm import Session

from vocboard.app.audit.models import AuditEvent
from vocboard.app.database import OPERATOR


class Subject(Protocol):
    """A row with an id of its own."""

    __tablename__: str
    id: Any


class Actor(Protocol):
    """A person, or what stands for one where the database role may not read the person's row."""

    @property
    def id(self) -> Any:
        """That of the person."""


@dataclass(frozen=True, slots=True)
class PersonId:
    """The id of a person whose row is not read."""

    id: uuid.UUID


def record(
    session: Session, *, actor: Actor | None, action: str, subject: Subject, details: dict[str, Any] | None = None
) -> None:
    """Add one event to the log, in the transaction of the action itself.

    In a database that was opened for an operator (`Database.operator`) all events are the operator's; the person who
    is named as the actor, such as the owner of a new token, is then in the details as `on_behalf_of`.

    Args:
        actor: who did it; None for the server itself.
        action: object and verb, such as `submission.publish`.
        subject: the object's row.
        details: what else will matter later, as JSON; never a secret, never anything of the ground truth.
    """
    session.flush()  # gives a new object its id
    operator = session.info.get(OPERATOR)
    details = dict(details or {})
    if operator and actor:
        details["on_behalf_of"] = str(actor.id)
    session.add(
        AuditEvent(
            actor_id=actor.id if actor and not operator else None,
            operator=operator,
            action=action,
            object_type=subject.__tablename__,
            object_id=subject.id,
            details=details,
        )
    )
    session.flush()
