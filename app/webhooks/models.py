"""Models of webhooks and of their deliveries."""

import uuid
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, Index, LargeBinary, String, Text, false, text
from sqlalchemy.orm import Mapped, mapped_column

from vocboard.app.database import Base, CreatedAt, Identifier, text_enum


class Event(StrEnum):
    """What webhooks can be told."""

    SCORED = "submission.scored"
    FAILED = "submission.failed"
    PUBLISHED = "submission.published"
    CORRECTED = "submission.corrected"  # a re-score was applied
    ANNOUNCED = "challenge.announced"
    TEST = "webhook.test"  # which nobody chooses


CHOICES = tuple(event for event in Event if event is not Event.TEST)


class Off(StrEnum):
    """Why a webhook is switched off."""

    GONE = "gone"  # the receiver answers 410
    SILENT = "silent"  # an event could not be delivered in time
    KEY = "key"  # the server's key has changed


class Webhook(Base):
    """An address that is told of events: of a person's submissions, or of all in a challenge.

    Attributes:
        user_id: who has added it.
        challenge_id: that it is about, for its organisers; None for the person's own.
        events: names, separated by spaces.
        sealed_secret: the key of signatures, encrypted with the server's.
        off_because: why it is switched off; a test that is delivered switches it on again.
    """

    __tablename__ = "webhooks"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    challenge_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), index=True)
    url: Mapped[str] = mapped_column(String(500))
    events: Mapped[str] = mapped_column(String(200))
    sealed_secret: Mapped[bytes] = mapped_column(LargeBinary(200))
    off_because: Mapped[Off | None] = mapped_column(text_enum(Off))


class WebhookDelivery(Base):
    """One event for one webhook. The job of the webhook (`Kind.WEBHOOK`) says when the next attempt is due.

    Attributes:
        id: of the event for this receiver, the same in every attempt.
        content: the body, as it is signed and sent.
        attempts: so far, with the time of the last one, its HTTP status, and what was wrong if there is none.
        ended_at: when it was delivered or given up.
        is_delivered: which of them.
    """

    __tablename__ = "webhook_deliveries"
    _PENDING = text("ended_at IS NULL")
    __table_args__ = (
        Index("ix_webhook_deliveries_webhook", "webhook_id", "created_at"),
        Index("ix_webhook_deliveries_pending", "webhook_id", postgresql_where=_PENDING, sqlite_where=_PENDING),
    )

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt] = mapped_column(index=True)
    webhook_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("webhooks.id", ondelete="CASCADE"))
    event: Mapped[str] = mapped_column(String(40))  # of `Event`
    content: Mapped[str] = mapped_column(Text)
    attempts: Mapped[int] = mapped_column(default=0, server_default="0")
    attempted_at: Mapped[datetime | None]
    status: Mapped[int | None]
    error: Mapped[str | None] = mapped_column(String(200))
    ended_at: Mapped[datetime | None]
    is_delivered: Mapped[bool] = mapped_column(default=False, server_default=false())
