"""Model of the audit log, which is append-only: only names of deleted accounts are replaced in it."""

import uuid
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from vocboard.app.database import Base, CreatedAt, Identifier


class AuditEvent(Base):
    """One action of one user on one object.

    The actor is a user or an operator at the command line; if neither is set, it is the server.
    """

    __tablename__ = "audit_events"
    __table_args__ = (Index("ix_audit_events_challenge", "challenge_id", "created_at"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt] = mapped_column(index=True)
    actor_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    operator: Mapped[str | None] = mapped_column(String(200))  # "alice@host, command line"
    action: Mapped[str] = mapped_column(String(60))  # "submission.publish"
    object_type: Mapped[str] = mapped_column(String(30))
    object_id: Mapped[uuid.UUID | None]
    challenge_id: Mapped[uuid.UUID | None]  # which it is about, if any; stays when the challenge is deleted
    details: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
