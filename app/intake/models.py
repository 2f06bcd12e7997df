"""Model of upload attempts."""

import uuid
from datetime import datetime
from enum import StrEnum

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, String, text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from vocboard.app.challenges.models import Challenge, ChallengePhase, PhaseId
from vocboard.app.database import Base, CreatedAt, Identifier, text_enum


class UploadKind(StrEnum):
    """Kinds of upload, which have separate limits."""

    SUBMISSION = "submission"
    RESUMABLE = "resumable"  # the archive of a submission, in several requests; shares the limits of submissions
    GROUND_TRUTH = "ground_truth"
    CHALLENGE = "challenge"  # exported by another server
    CHALLENGE_FILE = "challenge_file"


class Upload(Base):
    """An upload attempt, successful or not.

    It is in progress while its lease has not expired. The web process that receives it renews the lease, and ends it;
    if that process is killed, the lease expires.

    Organisers can count the uploads to their challenge that were rejected, which are kept for longer than others.
    """

    __tablename__ = "uploads"
    __table_args__ = (
        Index("ix_uploads_user_kind", "user_id", "kind", "created_at"),
        Index("ix_uploads_lease_expires_at", "lease_expires_at"),
    )

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt] = mapped_column(index=True)
    kind: Mapped[UploadKind] = mapped_column(text_enum(UploadKind))
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    address: Mapped[str] = mapped_column(String(254))  # network of the address, as used by limits; empty once rejected
    byte_count: Mapped[int] = mapped_column(BigInteger)  # announced size while in progress, received size afterwards
    lease_expires_at: Mapped[datetime | None]
    # The challenge that the archive was rejected for, and the codes of its errors.
    challenge_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), index=True)
    rejected_for: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))


class ResumableUpload(Base):
    """An archive that arrives in several requests, and waits to be submitted. It has an `Upload` of the same id."""

    __tablename__ = "resumable_uploads"

    id: Mapped[uuid.UUID] = mapped_column(ForeignKey("uploads.id", ondelete="CASCADE"), primary_key=True)
    created_at: Mapped[CreatedAt]
    expires_at: Mapped[datetime] = mapped_column(index=True)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), index=True)
    phase_id: Mapped[PhaseId]
    is_rehearsal: Mapped[bool]
    client_metadata: Mapped[str] = mapped_column(String(2000))  # as the client has sent it; may be empty
    byte_count: Mapped[int] = mapped_column(BigInteger)  # announced
    received_bytes: Mapped[int] = mapped_column(BigInteger, default=0)  # on disk: what a crash leaves
    part_count: Mapped[int] = mapped_column(default=0)  # requests that have brought a part
    receiving_seconds: Mapped[float] = mapped_column(default=0.0, server_default=text("0"))  # waiting for its bytes
    validation_count: Mapped[int] = mapped_column(default=0, server_default=text("0"))  # checks and submissions

    challenge: Mapped[Challenge] = relationship(lazy="raise")
    phase: Mapped[ChallengePhase] = relationship(lazy="raise")

    @property
    def is_finished(self) -> bool:
        """Whether all bytes have arrived."""
        return self.received_bytes == self.byte_count
