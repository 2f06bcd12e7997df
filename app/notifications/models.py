"""Models of what people are told, and of what they want by email."""

import uuid
from datetime import datetime
from enum import StrEnum
from secrets import token_urlsafe

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from vocboard.app.database import Base, CreatedAt, Identifier, text_enum


class NotificationKind(StrEnum):
    """What people are told about. They choose for each kind whether it is also emailed, but for `ALWAYS_EMAILED`."""

    SCORED = "scored"
    FAILED = "failed"
    CORRECTED = "corrected"  # a re-score was applied
    PUBLISHED = "published"  # by somebody else of the team
    DEADLINE = "deadline"
    ANNOUNCEMENT = "announcement"
    QUESTION = "question"  # to organisers
    ANSWER = "answer"  # to a question
    TEAM = "team"  # who joins, leaves or is removed
    ADMISSION = "admission"  # a request, to organisers; what they have decided, to who has asked
    DISQUALIFIED = "disqualified"
    REINSTATED = "reinstated"
    INVITATION = "invitation"  # to organise a challenge


# Those have a message of their own that is sent at once: it concerns people's rights, or its recipient may have no
# account.
ALWAYS_EMAILED = frozenset({NotificationKind.DISQUALIFIED, NotificationKind.REINSTATED, NotificationKind.INVITATION})


class Notification(Base):
    """Something that one person is told. It has only what the person may see when it is written.

    Attributes:
        title: one sentence, also the subject of the email.
        text: further lines; may be empty.
        link: path of the page about it.
        about_id: whom it names, besides organisers; it is deleted with that person's account.
        once_key: the person is told about it once; None if it has no such key.
        mailed_at: when its email was added to the outbox, or when it was certain that it is not to be emailed.
    """

    __tablename__ = "notifications"
    _UNREAD, _TO_MAIL = text("read_at IS NULL"), text("mailed_at IS NULL")
    __table_args__ = (
        UniqueConstraint("user_id", "once_key"),
        Index("ix_notifications_user_id", "user_id", "created_at"),
        Index("ix_notifications_unread", "user_id", postgresql_where=_UNREAD, sqlite_where=_UNREAD),
        Index("ix_notifications_to_mail", "created_at", postgresql_where=_TO_MAIL, sqlite_where=_TO_MAIL),
    )

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    kind: Mapped[NotificationKind] = mapped_column(text_enum(NotificationKind))
    challenge_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), index=True)
    about_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    title: Mapped[str] = mapped_column(String(500))
    text: Mapped[str] = mapped_column(Text, default="")
    link: Mapped[str] = mapped_column(String(500))
    once_key: Mapped[str | None] = mapped_column(String(120))
    read_at: Mapped[datetime | None]
    mailed_at: Mapped[datetime | None]


class NotificationSetting(Base):
    """Whether a person gets one kind of notification by email. Without a row, it is emailed.

    Attributes:
        unsubscribe_token: in the links of emails of this kind to this person. It only serves to stop them, and all
            emails have the same, so it is stored as it is.
    """

    __tablename__ = "notification_settings"

    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[NotificationKind] = mapped_column(text_enum(NotificationKind), primary_key=True)
    by_email: Mapped[bool] = mapped_column(default=True)
    unsubscribe_token: Mapped[str] = mapped_column(String(43), unique=True, default=lambda: token_urlsafe(32))
