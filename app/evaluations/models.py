"""Evaluations and their scores. Rows are added, never changed; the web process may only read them."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from vocboard.app.database import Base, CreatedAt, Identifier


class Evaluation(Base):
    """One submission evaluated in one scoring."""

    __tablename__ = "evaluations"
    __table_args__ = (UniqueConstraint("submission_id", "scoring_id"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    submission_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"))
    scoring_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("scorings.id"), index=True)
    evaluator_version: Mapped[str] = mapped_column(String(30))
    ground_truth_sha256: Mapped[str] = mapped_column(String(64))
    archive_sha256: Mapped[str] = mapped_column(String(64))
    started_at: Mapped[datetime]
    seconds: Mapped[float]

    results: Mapped[list["CompetitionResult"]] = relationship(
        lazy="raise", order_by="CompetitionResult.position", cascade="all, delete-orphan"
    )


class CompetitionResult(Base):
    """What an evaluation says of one competition."""

    __tablename__ = "competition_results"
    __table_args__ = (UniqueConstraint("evaluation_id", "competition"),)

    id: Mapped[Identifier]
    evaluation_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("evaluations.id", ondelete="CASCADE"))
    competition: Mapped[str] = mapped_column(String(30))
    position: Mapped[int]
    task: Mapped[str] = mapped_column(String(30))
    details: Mapped[dict[str, Any]] = mapped_column(JSON)  # counts by class, as in the evaluator's JSON
    not_entered: Mapped[list[str]] = mapped_column(JSON)

    measures: Mapped[list["Measure"]] = relationship(
        lazy="raise", order_by="Measure.position", cascade="all, delete-orphan"
    )


class Measure(Base):
    """One metric of a competition: the first (position 0) is the one the board ranks by."""

    __tablename__ = "measures"
    __table_args__ = (UniqueConstraint("result_id", "metric"),)

    id: Mapped[Identifier]
    result_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("competition_results.id", ondelete="CASCADE"))
    metric: Mapped[str] = mapped_column(String(60))
    position: Mapped[int]
    mean: Mapped[float | None]  # a fraction; None where undefined
    mean_over: Mapped[int]

    class_scores: Mapped[list["ClassScore"]] = relationship(
        lazy="raise", order_by="ClassScore.position", cascade="all, delete-orphan"
    )


class ClassScore(Base):
    """One metric of one class. A class without a row was not entered."""

    __tablename__ = "class_scores"

    measure_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("measures.id", ondelete="CASCADE"), primary_key=True)
    class_name: Mapped[str] = mapped_column(String(60), primary_key=True)
    position: Mapped[int]
    value: Mapped[float | None]  # a fraction; None where undefined


class Curve(Base):
    """What everyone may see of one class's curve from the detail level `curves` on: eleven points."""

    __tablename__ = "curves"

    result_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("competition_results.id", ondelete="CASCADE"), primary_key=True
    )
    class_name: Mapped[str] = mapped_column(String(60), primary_key=True)
    position: Mapped[int]
    kind: Mapped[str] = mapped_column(String(30))  # precision_recall or roc
    values: Mapped[list[float]] = mapped_column(JSON)  # see app.evaluations.eleven_points; empty where undefined


class ConfusionShares(Base):
    """What everyone may see of a confusion matrix from the detail level `curves` on: coarse shares."""

    __tablename__ = "confusion_shares"

    result_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("competition_results.id", ondelete="CASCADE"), primary_key=True
    )
    shares: Mapped[list[list[float | None]]] = mapped_column(JSON)


class _ExactCurve:
    """The corners of one class's curve. Ranks of hits can be computed from them."""

    result_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("competition_results.id", ondelete="CASCADE"), primary_key=True
    )
    class_name: Mapped[str] = mapped_column(String(60), primary_key=True)
    position: Mapped[int]
    kind: Mapped[str] = mapped_column(String(30))  # precision_recall or roc
    points: Mapped[bytes] = mapped_column(LargeBinary)  # see app.evaluations.curves


class _ExactConfusionMatrix:
    """Pixels by true class and result. Exact scores of every class can be computed from them."""

    result_id: Mapped[uuid.UUID] = mapped_column(
        ForeignKey("competition_results.id", ondelete="CASCADE"), primary_key=True
    )
    counts: Mapped[list[list[int]]] = mapped_column(JSON)


class SecretCurve(_ExactCurve, Base):
    """The exact curve, which the web's database role cannot read."""

    __tablename__ = "secret_curves"


class SecretConfusionMatrix(_ExactConfusionMatrix, Base):
    """The exact matrix, which the web's database role cannot read."""

    __tablename__ = "secret_confusion_matrices"


class PublicCurve(_ExactCurve, Base):
    """The worker's copy of an exact curve for the web: only of challenges with the detail level `everything`."""

    __tablename__ = "public_curves"


class PublicConfusionMatrix(_ExactConfusionMatrix, Base):
    """The worker's copy of an exact matrix for the web: only of challenges with the detail level `everything`."""

    __tablename__ = "public_confusion_matrices"
