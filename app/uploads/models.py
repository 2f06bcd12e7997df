"""Attempts to upload."""

import uuid
from datetime import datetime
from enum import StrEnum

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from vocboard.app.database import Base, CreatedAt, Identifier, text_enum


class UploadKind(StrEnum):
    """What is uploaded; each kind has its own limits."""

    SUBMISSION = "submission"
    GROUND_TRUTH = "ground_truth"


class Upload(Base):
    """One attempt to upload, whatever became of it.

    It is in progress while it has a lease that has not expired. The web process that receives it renews the lease and
    ends it; the lease of a killed process expires by itself.
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
    address: Mapped[str] = mapped_column(String(254))  # as limits count it: an IPv6 address by its network
    byte_count: Mapped[int] = mapped_column(BigInteger)  # announced while in progress, received afterwards
    lease_expires_at: Mapped[datetime | None]
