"""Models of re-scores and their submissions."""

import uuid
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, deferred, mapped_column, relationship

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge, GroundTruthVersion
from vocboard.app.database import Base, CreatedAt, Identifier, text_enum
from vocboard.app.submissions.models import Submission


class RescoreState(StrEnum):
    """The states of a re-score: running → ready → applied or discarded; or failed."""

    RUNNING = "running"  # also while its ground truth is still being imported
    READY = "ready"  # everything is evaluated, and the report says what would change
    APPLIED = "applied"
    DISCARDED = "discarded"
    FAILED = "failed"


OPEN = (RescoreState.RUNNING, RescoreState.READY)


class Rescore(Base):
    """A new evaluation of all submissions of a challenge, or of one. Nothing visible changes until it is applied.

    Organisers start, apply and discard it; workers execute it.
    """

    __tablename__ = "rescores"
    __table_args__ = (Index("ix_rescores_challenge_id_created_at", "challenge_id", "created_at"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"))
    ground_truth_version_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("ground_truth_versions.id", ondelete="CASCADE")
    )
    # The submission that is evaluated again; None for all.
    submission_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"))
    edition_version: Mapped[int] = mapped_column(default=1)  # whose rules it evaluates by
    # How a changed edition differs from the current one, as JSON of `evaluator.editions.comparison.Difference`; None
    # unless the re-score is for a changed edition. Then it is of all phases, each against its current ground truth.
    edition_changes: Mapped[list[dict[str, str]] | None] = mapped_column(JSON(none_as_null=True))
    reason: Mapped[str] = mapped_column(Text)
    started_by_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))

    state: Mapped[RescoreState] = mapped_column(text_enum(RescoreState), default=RescoreState.RUNNING, index=True)
    apply_requested_at: Mapped[datetime | None]  # by an organiser; a worker applies it
    apply_requested_by_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    finished_at: Mapped[datetime | None]  # applied, discarded or failed

    @property
    def changes_edition(self) -> bool:
        """Whether it is for a changed edition."""
        return self.edition_changes is not None

    # What the worker says.
    scoring_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("scorings.id"))  # the evaluations belong to it
    evaluator_version: Mapped[str | None] = mapped_column(String(30))
    report: Mapped[dict[str, Any] | None] = deferred(mapped_column(JSON), raiseload=False)  # see app.rescores.report
    report_revision: Mapped[int | None] = mapped_column(BigInteger)  # of the leaderboards that it compares with
    failure: Mapped[str | None] = mapped_column(Text)  # for organisers: why it failed

    challenge: Mapped[Challenge] = relationship(lazy="raise")
    ground_truth_version: Mapped[GroundTruthVersion] = relationship(lazy="raise")
    submission: Mapped[Submission | None] = relationship(lazy="raise")
    started_by: Mapped[User | None] = relationship(lazy="raise", foreign_keys=[started_by_id])


class RescoreItem(Base):
    """A submission of a re-score.

    Attributes:
        batch_id: submissions that are evaluated by the same job; None before one has been added.
    """

    __tablename__ = "rescore_items"
    __table_args__ = (Index("ix_rescore_items_waiting", "rescore_id", "finished_at"),)

    rescore_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("rescores.id", ondelete="CASCADE"), primary_key=True)
    submission_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    batch_id: Mapped[uuid.UUID | None] = mapped_column(index=True)
    finished_at: Mapped[datetime | None]
    failure: Mapped[str | None] = mapped_column(Text)  # why there is no evaluation, for organisers
    failure_detail: Mapped[str | None] = mapped_column(Text)  # for the operator
