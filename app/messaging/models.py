"""Model of the outbox: the text of email."""

from datetime import datetime

from sqlalchemy import String, Text
from sqlalchemy.orm import Mapped, mapped_column

from vocboard.app.database import Base, CreatedAt, Identifier


class OutgoingMail(Base):
    """One email to one recipient. Its job (`Kind.MAIL`) says when it is due, and what became of it."""

    __tablename__ = "outbox"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    recipient: Mapped[str] = mapped_column(String(254))
    subject: Mapped[str] = mapped_column(String(200))
    body: Mapped[str] = mapped_column(Text)  # deleted when sent or failed, because it may contain a link's secret
    expires_at: Mapped[datetime]  # not sent after this time
    unsubscribe_url: Mapped[str | None] = mapped_column(String(300))  # where one POST stops email like this
