"""Leaderboards in the database: revision numbers, and what frozen ones show."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from vocboard.app.challenges.models import PhaseId
from vocboard.app.database import Base, CreatedAt, Identifier


class LeaderboardRevision(Base):
    """The revision of a challenge's leaderboards.

    The database's triggers increment it with every change that may alter a leaderboard, in the same transaction; see
    `migrations.leaderboard_revisions`. The application only reads it.
    """

    __tablename__ = "leaderboard_revisions"

    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), primary_key=True)
    revision: Mapped[int] = mapped_column(BigInteger)


class FrozenLeaderboard(Base):
    """What a frozen leaderboard shows: a copy that nothing which happens to its submissions can change.

    What organisers have removed since is left out when it is read (`app.leaderboards.freezing.removals`).

    Rows are added when the date has come. Until everything that was uploaded in time is scored, they may be completed;
    then `is_final` is set, and they never change again.
    """

    __tablename__ = "frozen_leaderboards"
    __table_args__ = (UniqueConstraint("phase_id", "competition", "frozen_at", name="uq_frozen_leaderboards_copy"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"))
    phase_id: Mapped[PhaseId]
    competition: Mapped[str] = mapped_column(String(30))
    frozen_at: Mapped[datetime]
    is_final: Mapped[bool]
    content: Mapped[dict[str, Any]] = mapped_column(JSON)  # see app.leaderboards.freezing
