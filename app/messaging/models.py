"""Model of the outbox: queued email, and the outcome of sent email."""

from datetime import datetime

from sqlalchemy import String, Text
from sqlalchemy.orm import Mapped, mapped_column

from vocboard.app.database import Base, CreatedAt, Identifier


class OutgoingMail(Base):
    """One email to one recipient.

    It is queued while `sent_at` and `failed_at` are None, and can be claimed from `due_at` on. A claim sets `due_at` to
    the end of its lease.
    """

    __tablename__ = "outbox"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    recipient: Mapped[str] = mapped_column(String(254))
    subject: Mapped[str] = mapped_column(String(200))
    body: Mapped[str] = mapped_column(Text)  # deleted when sent or failed, because it may contain a link's secret
    due_at: Mapped[datetime] = mapped_column(index=True)
    expires_at: Mapped[datetime]  # not sent after this time
    attempts: Mapped[int] = mapped_column(default=0)
    sent_at: Mapped[datetime | None]
    failed_at: Mapped[datetime | None]
    last_error: Mapped[str] = mapped_column(String(500), default="")
