"""Model of the outbox: the text of email."""

from datetime import datetime

from sqlalchemy import String, Text, false
from sqlalchemy.orm import Mapped, mapped_column

from vocboard.app.database import Base, CreatedAt, Identifier


class OutgoingMail(Base):
    """One email to one recipient. Its job (`Kind.MAIL`) says when it is due, and what became of it.

    Attributes:
        body: deleted when the message is sent or too old to be sent, because it may contain a link's secret.
        error: why the last attempt has failed: the mail server's answer.
        is_forgotten: whether the row is deleted as soon as the message is sent or has failed.
    """

    __tablename__ = "outbox"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    recipient: Mapped[str] = mapped_column(String(254), index=True)
    subject: Mapped[str] = mapped_column(String(200))
    body: Mapped[str] = mapped_column(Text)
    expires_at: Mapped[datetime]  # not sent after this time
    unsubscribe_url: Mapped[str | None] = mapped_column(String(300))  # where one POST stops email like this
    error: Mapped[str | None] = mapped_column(String(500))
    is_forgotten: Mapped[bool] = mapped_column(default=False, server_default=false())
