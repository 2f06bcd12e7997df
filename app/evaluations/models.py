"""Evaluations and their scores. Rows are added, never changed; the web process may only read them."""

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, deferred, mapped_column, relationship

from app.database import Base, CreatedAt, Identifier


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
    confusion_matrix: Mapped[list[list[int]] | None] = deferred(mapped_column(JSON))

    measures: Mapped[list["Measure"]] = relationship(
        lazy="raise", order_by="Measure.position", cascade="all, delete-orphan"
    )
    curves: Mapped[list["Curve"]] = relationship(lazy="raise", order_by="Curve.position", cascade="all, delete-orphan")


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
    """The corners of one class's curve."""

    __tablename__ = "curves"
    __table_args__ = (Index("ix_curves_result_class", "result_id", "class_name", unique=True),)

    id: Mapped[Identifier]
    result_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("competition_results.id", ondelete="CASCADE"))
    class_name: Mapped[str] = mapped_column(String(60))
    position: Mapped[int]
    kind: Mapped[str] = mapped_column(String(30))  # precision_recall or roc
    points: Mapped[bytes] = deferred(mapped_column(LargeBinary))  # see app.evaluations.curves
