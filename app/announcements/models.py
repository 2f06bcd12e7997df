"""Models of announcements, and of questions to the organisers."""

import uuid
from datetime import datetime

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from vocboard.app.accounts.models import User
from vocboard.app.database import Base, CreatedAt, Identifier


class Announcement(Base):
    """What the organisers of a challenge tell everyone who can see it."""

    __tablename__ = "announcements"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    changed_at: Mapped[CreatedAt]  # when it was last corrected; otherwise `created_at`
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), index=True)
    title: Mapped[str] = mapped_column(String(200))
    text: Mapped[str] = mapped_column(Text)  # Markdown
    by_email: Mapped[bool] = mapped_column(default=False)  # whether entrants were notified

    @property
    def is_changed(self) -> bool:
        """Whether it was corrected."""
        return self.changed_at > self.created_at


class Question(Base):
    """A question to the organisers of a challenge. Everyone who can see the challenge can read a public answer."""

    __tablename__ = "questions"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), index=True)
    # None of imported questions. Only organisers see who has asked.
    user_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    text: Mapped[str] = mapped_column(Text)
    answer: Mapped[str | None] = mapped_column(Text)  # Markdown; None until it is answered
    answered_at: Mapped[datetime | None]  # when the answer was given or last changed
    is_public: Mapped[bool] = mapped_column(default=False)  # whether everyone sees the question and its answer

    user: Mapped[User | None] = relationship(lazy="raise")
