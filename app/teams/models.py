"""Models of teams and their members."""

import uuid
from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, Index, LargeBinary, String, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import Base, CreatedAt, Identifier, text_enum

MAX_NAME_LENGTH = 100


class TeamRole(StrEnum):
    """What a member of a team may do: every member submits and publishes, owners also invite and remove members."""

    OWNER = "owner"
    MEMBER = "member"


class Team(Base):
    """The owner of methods and submissions in one challenge. A person without a team is a team of one without a name.

    Attributes:
        name: shown on leaderboards; empty for a person alone.
    """

    __tablename__ = "teams"
    __table_args__ = (
        Index(
            "ix_teams_name",
            "challenge_id",
            "name",
            unique=True,
            postgresql_where=text("name <> ''"),
            sqlite_where=text("name <> ''"),
        ),
    )

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(MAX_NAME_LENGTH), default="")

    challenge: Mapped[Challenge] = relationship(lazy="raise")


class TeamMember(Base):
    """A current member of a team. A person is in at most one team of a challenge."""

    __tablename__ = "team_members"

    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    team_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    role: Mapped[TeamRole] = mapped_column(text_enum(TeamRole), default=TeamRole.OWNER)
    joined_at: Mapped[CreatedAt]

    user: Mapped[User] = relationship(lazy="raise")


class TeamInvitation(Base):
    """A link with which one person can join a team, once. It is shown or sent once; the row has its SHA-256.

    Attributes:
        email: whom it was sent to; empty for a link that a member passes on.
    """

    __tablename__ = "team_invitations"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    team_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    email: Mapped[str] = mapped_column(String(254), default="")  # normalised, as in `users`
    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    expires_at: Mapped[datetime]
    invited_by_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))

    team: Mapped[Team] = relationship(lazy="raise")
    invited_by: Mapped[User | None] = relationship(lazy="raise")
