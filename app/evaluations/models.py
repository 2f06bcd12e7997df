"""Models of evaluations and their scores. Rows are added, never changed; the web process can only read them.

Only drawings are replaced.
"""

import uuid
from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import JSON, ForeignKey, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from vocboard.app.database import Base, CreatedAt, Identifier

ResultId = Annotated[
    uuid.UUID, mapped_column(ForeignKey("competition_results.id", ondelete="CASCADE"), primary_key=True)
]


class Evaluation(Base):
    """The evaluation of a submission in a scoring.

    Attributes:
        extensions: name and version of each extension whose task or metric has a score; None before there were any.
    """

    __tablename__ = "evaluations"
    __table_args__ = (UniqueConstraint("submission_id", "scoring_id"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt] = mapped_column(index=True)
    submission_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"))
    scoring_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("scorings.id"), index=True)
    evaluator_version: Mapped[str] = mapped_column(String(30))
    extensions: Mapped[list[str] | None] = mapped_column(JSON)
    ground_truth_sha256: Mapped[str] = mapped_column(String(64))
    archive_sha256: Mapped[str] = mapped_column(String(64))
    started_at: Mapped[datetime]
    seconds: Mapped[float]

    results: Mapped[list["CompetitionResult"]] = relationship(
        lazy="raise", order_by="CompetitionResult.position", cascade="all, delete-orphan"
    )


class CompetitionResult(Base):
    """The results of an evaluation in one competition."""

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
    """One metric of a competition; the first (position 0) ranks the leaderboard."""

    __tablename__ = "measures"
    __table_args__ = (UniqueConstraint("result_id", "metric"),)

    id: Mapped[Identifier]
    result_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("competition_results.id", ondelete="CASCADE"))
    metric: Mapped[str] = mapped_column(String(60))
    position: Mapped[int]
    mean: Mapped[float | None]  # a fraction; None if undefined
    mean_over: Mapped[int]

    class_scores: Mapped[list["ClassScore"]] = relationship(
        lazy="raise", order_by="ClassScore.position", cascade="all, delete-orphan"
    )


class ClassScore(Base):
    """One metric of one class. Classes without a row were not entered."""

    __tablename__ = "class_scores"

    measure_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("measures.id", ondelete="CASCADE"), primary_key=True)
    class_name: Mapped[str] = mapped_column(String(60), primary_key=True)
    position: Mapped[int]
    value: Mapped[float | None]  # a fraction; None if undefined


class Curve(Base):
    """The public form of a class's curve: eleven points, visible from the detail level `curves` on."""

    __tablename__ = "curves"

    result_id: Mapped[ResultId]
    class_name: Mapped[str] = mapped_column(String(60), primary_key=True)
    position: Mapped[int]
    kind: Mapped[str] = mapped_column(String(30))  # precision_recall or roc
    values: Mapped[list[float]] = mapped_column(JSON)  # see app.evaluations.eleven_points; empty if undefined


class ConfusionShares(Base):
    """The public form of a confusion matrix: coarse shares, visible from the detail level `curves` on."""

    __tablename__ = "confusion_shares"

    result_id: Mapped[ResultId]
    shares: Mapped[list[list[float | None]]] = mapped_column(JSON)
    steps: Mapped[list[float | None] | None] = mapped_column(JSON(none_as_null=True))  # by row; None if not stored yet


class DiagnosisShares(Base):
    """The public form of a diagnosis: coarse shares, visible from the detail level `curves` on.

    Each result whose diagnosis is known has a row, also if there is nothing to show at this level.
    """

    __tablename__ = "diagnosis_shares"

    result_id: Mapped[ResultId]
    shares: Mapped[dict[str, Any]] = mapped_column(JSON)  # see app.evaluations.diagnosis_shares


class _ExactCurve:
    """The corners of a class's exact curve. They reveal the ranks of true positives."""

    result_id: Mapped[ResultId]
    class_name: Mapped[str] = mapped_column(String(60), primary_key=True)
    position: Mapped[int]
    kind: Mapped[str] = mapped_column(String(30))  # precision_recall or roc
    points: Mapped[bytes] = mapped_column(LargeBinary)  # see app.evaluations.curves


class _ExactConfusionMatrix:
    """Pixels by true class and result. They reveal the exact scores of every class."""

    result_id: Mapped[ResultId]
    counts: Mapped[list[list[int]]] = mapped_column(JSON)


class _ExactDiagnosis:
    """Counts of errors by class and kind, and scores without them. They reveal which results are correct.

    Attributes:
        version: of the content; see `app.evaluations.service.DIAGNOSIS_VERSION`.
        content: see `evaluator.diagnosis.summary`.
    """

    result_id: Mapped[ResultId]
    version: Mapped[int]
    content: Mapped[dict[str, Any]] = mapped_column(JSON)


class SecretCurve(_ExactCurve, Base):
    """The exact curve, which the web process's database role cannot read."""

    __tablename__ = "secret_curves"


class SecretConfusionMatrix(_ExactConfusionMatrix, Base):
    """The exact matrix, which the web process's database role cannot read."""

    __tablename__ = "secret_confusion_matrices"


class SecretDiagnosis(_ExactDiagnosis, Base):
    """The exact diagnosis, which the web process's database role cannot read."""

    __tablename__ = "secret_diagnoses"


class SecretEvidence(Base):
    """What statistics need of a result, which the web process's database role cannot read: it is ground truth.

    `content` is a file of `evaluator.statistics.evidence_file`, which says its version and what it was collected from.
    It can be collected again at any time.
    """

    __tablename__ = "secret_evidence"

    result_id: Mapped[ResultId]
    sha256: Mapped[str] = mapped_column(String(64))  # of the content
    content: Mapped[bytes] = mapped_column(LargeBinary)


class PublicCurve(_ExactCurve, Base):
    """A copy of an exact curve for the web process, only at the detail level `everything`."""

    __tablename__ = "public_curves"


class PublicConfusionMatrix(_ExactConfusionMatrix, Base):
    """A copy of an exact matrix for the web process, only at the detail level `everything`."""

    __tablename__ = "public_confusion_matrices"


class PublicDiagnosis(_ExactDiagnosis, Base):
    """A copy of an exact diagnosis for the web process, only at the detail level `everything`."""

    __tablename__ = "public_diagnoses"


class ShowcaseDrawing(Base):
    """What a submission found on the test images of its challenge's showcase.

    A worker draws it from the submission's results alone: nothing in it comes from the ground truth.

    Attributes:
        basis: hash of what it was drawn of, see `app.evaluations.showcase`.
        content: see `evaluator.showcase.draw`; empty if the results cannot be read.
    """

    __tablename__ = "showcase_drawings"

    submission_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    basis: Mapped[str] = mapped_column(String(64))
    content: Mapped[dict[str, Any]] = mapped_column(JSON)
