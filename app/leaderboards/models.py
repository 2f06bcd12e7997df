"""Leaderboards in the database: their revisions, frozen ones, statistics, and the re-scores that correct them."""

import uuid
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, deferred, mapped_column, relationship

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge, GroundTruthVersion, PhaseId
from vocboard.app.database import Base, CreatedAt, Identifier, text_enum
from vocboard.app.submissions.models import Submission


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


class SecretReplicates(Base):
    """The scores of one result on the replicates of the test images, computed once.

    The web process's database role cannot read them: which images a replicate has is not secret, so its scores tell
    the ground truth of single images. `content` is a file of `worker.replicates`.
    """

    __tablename__ = "secret_replicates"

    result_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("competition_results.id", ondelete="CASCADE"), primary_key=True
    )
    content: Mapped[bytes] = mapped_column(LargeBinary)


class StatisticsUpdate(Base):
    """Up to which revision of its leaderboards the statistics of a challenge have been computed.

    Attributes:
        revision: of `LeaderboardRevision`; 0 for none.
        version: of the computation; see `app.leaderboards.statistics_queue.VERSION`.
        updated_at: when it was last computed; None for never.
        failure: for the operator: the errors of the last computation, by leaderboard. Organisers can have it tried
            again; see `app.leaderboards.statistics.Failure`.
    """

    __tablename__ = "statistics_updates"

    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), primary_key=True)
    revision: Mapped[int] = mapped_column(BigInteger, default=0)
    version: Mapped[int] = mapped_column(default=0)
    updated_at: Mapped[datetime | None]
    failure: Mapped[str | None] = mapped_column(Text)


class BoardStatistics(Base):
    """The statistics of one leaderboard, of exactly the evaluations that it showed.

    Attributes:
        frozen_at: of a frozen leaderboard; None for the live one.
        methods_sha256: of the evaluations; see `app.leaderboards.statistics.digest_of`.
        version: of the computation.
        content: see `app.leaderboards.statistics.Statistics`.
    """

    __tablename__ = "board_statistics"
    __table_args__ = (Index("ix_board_statistics_board", "phase_id", "competition"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"))
    phase_id: Mapped[PhaseId]
    competition: Mapped[str] = mapped_column(String(30))
    frozen_at: Mapped[datetime | None]
    methods_sha256: Mapped[str] = mapped_column(String(64))
    version: Mapped[int]
    content: Mapped[dict[str, Any]] = mapped_column(JSON)


class BoardDifferences(Base):
    """The differences of all pairs of methods of a leaderboard, in one class or of the means.

    Attributes:
        class_name: empty for the means.
        content: see `app.leaderboards.differences`.
    """

    __tablename__ = "board_differences"

    statistics_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("board_statistics.id", ondelete="CASCADE"), primary_key=True
    )
    class_name: Mapped[str] = mapped_column(String(60), primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class BoardAgreement(Base):
    """How far the methods of a leaderboard find the same; only organisers see it.

    Attributes:
        content: see `app.leaderboards.sequences`.
    """

    __tablename__ = "board_agreements"

    statistics_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("board_statistics.id", ondelete="CASCADE"), primary_key=True
    )
    content: Mapped[dict[str, Any]] = mapped_column(JSON)


class ImageSetComparison(Base):
    """How the scores of methods change from one image set to another; only organisers see it.

    Attributes:
        competition, other: keys of two competitions that differ in nothing but the image set.
        methods_sha256: of the evaluations that it was computed from.
        version: of the computation.
        content: see `app.leaderboards.image_sets`.
    """

    __tablename__ = "image_set_comparisons"

    phase_id: Mapped[PhaseId] = mapped_column(primary_key=True)
    competition: Mapped[str] = mapped_column(String(30), primary_key=True)
    other: Mapped[str] = mapped_column(String(30), primary_key=True)
    methods_sha256: Mapped[str] = mapped_column(String(64))
    version: Mapped[int]
    content: Mapped[dict[str, Any]] = mapped_column(JSON)


class SubmissionSequence(Base):
    """Which of a person's scored submissions to a phase differ by more than chance; only organisers see it.

    The sweep marks what is out of date (`app.leaderboards.sequence_queue`).

    Attributes:
        submissions: number of evaluated submissions that it was computed from.
        latest_at: when the latest of their evaluations was stored, or a re-score made one count.
        decimals: of the scores.
        version: of the computation.
        is_due: whether it has to be computed.
        computed_at: when it last was; None for never.
        content: see `app.leaderboards.sequences`; None until it is computed.
    """

    __tablename__ = "submission_sequences"

    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"))
    phase_id: Mapped[PhaseId] = mapped_column(primary_key=True)
    team_id: Mapped[uuid.UUID] = mapped_column(primary_key=True)  # no foreign key: the team may have joined another
    submissions: Mapped[int]
    latest_at: Mapped[datetime]
    decimals: Mapped[int]
    version: Mapped[int]
    is_due: Mapped[bool] = mapped_column(default=True, index=True)
    computed_at: Mapped[datetime | None]
    content: Mapped[dict[str, Any] | None] = mapped_column(JSON)


class ReportedKind(StrEnum):
    """Where a result that was not scored on this server comes from."""

    BASELINE = "baseline"  # of the organisers
    PAPER = "paper"  # as a paper reports it
    IMPORTED = "imported"  # from another evaluation, such as an earlier challenge


class ReportedResult(Base):
    """A result that organisers add to a leaderboard as it was reported elsewhere. It has no rank.

    Attributes:
        reference: http(s) address of the source; may be empty.
        note: where in the source, such as "Table 2"; may be empty.
        mean: a fraction, by the metric that the leaderboard ranks by; None if it was not reported.
        per_class: fractions by class, for those that were reported.
    """

    __tablename__ = "reported_results"
    __table_args__ = (Index("ix_reported_results_board", "phase_id", "competition"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"))
    phase_id: Mapped[PhaseId]
    competition: Mapped[str] = mapped_column(String(30))
    kind: Mapped[ReportedKind] = mapped_column(text_enum(ReportedKind))
    method: Mapped[str] = mapped_column(String(100))
    reference: Mapped[str] = mapped_column(String(500))
    note: Mapped[str] = mapped_column(String(200))
    mean: Mapped[float | None]
    per_class: Mapped[dict[str, float]] = mapped_column(JSON)


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
    # What pages show of it: a report of thousands of changes is megabytes. See `app.rescores.summaries`; None for
    # reports of a version before 1.1.
    report_summary: Mapped[dict[str, Any] | None] = deferred(mapped_column(JSON), raiseload=False)
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
