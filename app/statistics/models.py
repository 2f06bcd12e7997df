"""Models of statistics. Workers write all of them; the web process reads those that are not secret."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from vocboard.app.challenges.models import PhaseId
from vocboard.app.database import Base, CreatedAt, Identifier


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
        version: of the computation; see `app.statistics.queue.VERSION`.
        updated_at: when it was last computed; None for never.
        failure: for the operator: the errors of the last computation, by leaderboard. Organisers can have it tried
            again; see `app.statistics.boards.Failure`.
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
        methods_sha256: of the evaluations; see `app.statistics.boards.digest_of`.
        version: of the computation.
        content: see `app.statistics.boards.Statistics`.
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
        content: see `app.statistics.differences`.
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
        content: see `app.statistics.agreement`.
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
        content: see `app.statistics.image_sets`.
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

    The sweep marks what is out of date (`app.statistics.sequence_queue`).

    Attributes:
        submissions: number of evaluated submissions that it was computed from.
        latest_at: when the latest of their evaluations was stored.
        decimals: of the scores.
        version: of the computation.
        is_due: whether it has to be computed.
        computed_at: when it last was; None for never.
        content: see `app.statistics.sequences`; None until it is computed.
    """

    __tablename__ = "submission_sequences"

    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"))
    phase_id: Mapped[PhaseId] = mapped_column(primary_key=True)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    submissions: Mapped[int]
    latest_at: Mapped[datetime]
    decimals: Mapped[int]
    version: Mapped[int]
    is_due: Mapped[bool] = mapped_column(default=True, index=True)
    computed_at: Mapped[datetime | None]
    content: Mapped[dict[str, Any] | None] = mapped_column(JSON)
