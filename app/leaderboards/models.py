"""The revision numbers of leaderboards."""

import uuid

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from vocboard.app.database import Base


class LeaderboardRevision(Base):
    """The revision of a challenge's leaderboards.

    The database's triggers increment it with every change that may alter a leaderboard, in the same transaction; see
    `migrations.leaderboard_revisions`. The application only reads it.
    """

    __tablename__ = "leaderboard_revisions"

    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), primary_key=True)
    revision: Mapped[int] = mapped_column(BigInteger)
