"""The outbox: every e-mail that waits to be sent, and the outcome of those that were."""

from datetime import datetime

from sqlalchemy import String, Text
from sqlalchemy.orm import Mapped, mapped_column

from vocboard.app.database import Base, CreatedAt, Identifier


class OutgoingMail(Base):
    """One e-mail to one person.

    It waits while `sent_at` and `failed_at` are None, and may be claimed from `due_at` on. A claim moves `due_at` to
    the end of its lease.
    """

    __tablename__ = "outbox"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    recipient: Mapped[str] = mapped_column(String(254))
    subject: Mapped[str] = mapped_column(String(200))
    body: Mapped[str] = mapped_column(Text)  # emptied once sent or given up: it may hold the secret of a link
    due_at: Mapped[datetime] = mapped_column(index=True)
    expires_at: Mapped[datetime]  # it is not sent any more after this
    attempts: Mapped[int] = mapped_column(default=0)
    sent_at: Mapped[datetime | None]
    failed_at: Mapped[datetime | None]
    last_error: Mapped[str] = mapped_column(String(500), default="")
