"""Methods and submissions."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, deferred, load_only, mapped_column, relationship

from vocboard.app.accounts.models import User
from vocboard.app.challenges.models import Challenge
from vocboard.app.database import Base, CreatedAt, Identifier, now, text_enum
from vocboard.app.teams.models import Team
from vocboard.evaluator.declarations import (
    FLICKR_IMAGES,
    TRAINING_ANNOTATION,
    TRAINING_DATA,
    Declaration,
    DeclarationKind,
)


class State(StrEnum):
    """The states of a submission: queued → evaluating → scored, failed, withdrawn or disqualified."""

    QUEUED = "queued"
    EVALUATING = "evaluating"
    SCORED = "scored"
    FAILED = "failed"  # the evaluation failed, or an organiser says so; does not count against the quota
    WITHDRAWN = "withdrawn"
    DISQUALIFIED = "disqualified"  # by an organiser, until an organiser lifts it


WITH_RESULT = (State.SCORED, State.DISQUALIFIED)  # those in other states may still have an earlier evaluation


class TrainingAnnotation(StrEnum):
    """Which annotation a segmentation method was trained with."""

    SEGMENTATION_ONLY = "segmentation_only"
    OTHER_ANNOTATION = "other_annotation"  # also bounding boxes, or annotation of other images


class FlickrImages(StrEnum):
    """Whether a method was trained on images from flickr."""

    NO = "no"
    YES = "yes"


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A submission's files in the store.

    Attributes:
        archive_sha256: hash of the archive.
        columns_sha256: hash of the columns; None if they were not stored.
        columns_reader: version of the reader that wrote the columns.
        segmentation_classes: classes declared by the participant; None for all.
        has_archive: False if it was imported without its archive: files with these hashes belong to others.
    """

    archive_sha256: str
    columns_sha256: str | None
    columns_reader: int | None
    segmentation_classes: tuple[str, ...] | None
    has_archive: bool


@dataclass(frozen=True, slots=True)
class Declared:
    """The declarations about a method.

    Attributes:
        values: by name, without those that are not declared: text, the value of a choice, or a number.
        flickr_count: number of listed images from flickr.
    """

    values: Mapping[str, str | float] = field(default_factory=dict)
    flickr_count: int = 0

    def value(self, declaration: Declaration) -> str | float | None:
        """Return a value; None if it is not declared, or not of the kind that the edition asks for now."""
        value = self.values.get(declaration.name)
        match declaration.kind:
            case DeclarationKind.NUMBER:
                return value if isinstance(value, int | float) else None
            case DeclarationKind.CHOICE:
                return value if value in declaration.choices else None
        return value if value is None else str(value)

    def as_json(self) -> dict[str, str | float]:
        """Return all of it in JSON's types."""
        return {**self.values, "flickr_count": self.flickr_count}


class Method(Base):
    """A team's method: one row of a leaderboard. The same method with other parameters is not a new method."""

    __tablename__ = "methods"
    __table_args__ = (UniqueConstraint("team_id", "name"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), index=True)
    team_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("teams.id"))
    name: Mapped[str] = mapped_column(String(100))
    paper_url: Mapped[str] = mapped_column(String(500), default="")
    code_url: Mapped[str] = mapped_column(String(500), default="")

    challenge: Mapped[Challenge] = relationship(lazy="raise")


class Submission(Base):
    """An accepted upload, and its state in the queue; see `app.submissions.queue`."""

    __tablename__ = "submissions"
    __table_args__ = (
        Index("ix_submissions_queue", "state", "queued_at"),
        Index("ix_submissions_user_challenge", "user_id", "challenge_id", "created_at"),
        Index("ix_submissions_team", "team_id", "created_at"),
        # What organisers' pages count, so that the rows themselves need not be read.
        Index(
            "ix_submissions_challenge",
            "challenge_id",
            "created_at",
            postgresql_include=["user_id", "state", "published_at", "is_rehearsal"],
        ),
        # Few submissions are rehearsals or published; index only those.
        Index(
            "ix_submissions_rehearsal",
            "challenge_id",
            postgresql_where=text("is_rehearsal"),
            sqlite_where=text("is_rehearsal"),
        ),
        Index(
            "ix_submissions_published",
            "phase_id",
            postgresql_where=text("published_at IS NOT NULL"),
            sqlite_where=text("published_at IS NOT NULL"),
        ),
    )

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    began_at: Mapped[datetime] = mapped_column(default=now)  # when its upload began, which is what deadlines ask
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"))
    phase_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("phases.id"), index=True)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id"))  # who has made it
    team_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("teams.id"))  # whose it is: also its method's
    method_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("methods.id"), index=True)

    description: Mapped[str] = mapped_column(Text, default="")
    contributors: Mapped[str] = mapped_column(String(1000), default="")
    affiliation: Mapped[str] = mapped_column(String(200), default="")
    note: Mapped[str] = mapped_column(Text, default="")  # its owner's own; nobody else sees it
    declarations: Mapped[dict[str, str | float]] = mapped_column(JSON, default=dict)  # by name; see `Declared`
    flickr_count: Mapped[int] = mapped_column(default=0)
    flickr_hashes: Mapped[bytes | None] = deferred(mapped_column(LargeBinary), raiseload=False)  # gzip of their list
    segmentation_classes: Mapped[list[str] | None] = mapped_column(JSON)  # declared; None means all

    archive_sha256: Mapped[str] = mapped_column(String(64), index=True)
    archive_bytes: Mapped[int]
    archive_name: Mapped[str] = mapped_column(String(255))
    # False if it was imported without its archive. Then the hash is only information: whatever the store has under it
    # was uploaded by others.
    has_archive: Mapped[bool] = mapped_column(default=True)
    # The columns read from the archive, in the same store; None if the archive has to be read again.
    columns_sha256: Mapped[str | None] = mapped_column(String(64), index=True)
    columns_reader: Mapped[int | None]  # version of the reader
    warnings: Mapped[list[dict[str, Any]]] = mapped_column(JSON, default=list)  # of the validation report

    state: Mapped[State] = mapped_column(text_enum(State), default=State.QUEUED)
    queued_at: Mapped[datetime] = mapped_column(default=now)
    claimed_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    failure: Mapped[str | None] = mapped_column(Text)  # shown to the participant; never a traceback
    failure_detail: Mapped[str | None] = mapped_column(Text)  # for organisers: the technical reason
    quota_returned_at: Mapped[datetime | None]
    # The one whose scores count; written by workers alone. A re-score switches it for all submissions at once.
    current_evaluation_id: Mapped[uuid.UUID | None] = mapped_column(
        ForeignKey("evaluations.id", use_alter=True, name="fk_submissions_current_evaluation_id_evaluations")
    )

    published_at: Mapped[datetime | None]
    disqualified_at: Mapped[datetime | None]  # while its state is that
    held_back_at: Mapped[datetime | None]  # by an organiser: its owner cannot publish it until one allows it
    moderation_reason: Mapped[str | None] = mapped_column(Text)  # why it is disqualified or held back, for its owner
    published_before: Mapped[datetime | None]  # `published_at` before organisers removed it from the leaderboards
    publish_when_scored: Mapped[bool] = mapped_column(default=False)  # by its owner's wish
    is_rehearsal: Mapped[bool] = mapped_column(default=False)  # an organiser's: on no leaderboard, and without quota
    anonymous_token_hash: Mapped[bytes | None] = mapped_column(unique=True)

    user: Mapped[User] = relationship(lazy="raise")
    team: Mapped[Team] = relationship(lazy="raise")
    method: Mapped[Method] = relationship(lazy="raise")
    challenge: Mapped[Challenge] = relationship(lazy="raise")
    people: Mapped[list["SubmissionPerson"]] = relationship(lazy="raise", cascade="all, delete-orphan")
    entries: Mapped[list["SubmissionEntry"]] = relationship(
        lazy="raise", order_by="SubmissionEntry.position", cascade="all, delete-orphan"
    )

    @property
    def published_competitions(self) -> tuple[str, ...]:
        """The competitions whose leaderboards list it."""
        if self.published_at is None or self.state is not State.SCORED:
            return ()
        return tuple(entry.competition for entry in self.entries if not entry.is_private)

    @property
    def uploaded(self) -> Uploaded:
        """Its files."""
        declared = self.segmentation_classes
        classes = None if declared is None else tuple(declared)
        return Uploaded(self.archive_sha256, self.columns_sha256, self.columns_reader, classes, self.has_archive)

    @property
    def declared(self) -> Declared:
        """The owner's declarations."""
        return Declared(self.declarations, self.flickr_count)

    @property
    def training_data(self) -> str:
        """What the method was trained on; empty if that is not declared."""
        return str(self.declarations.get(TRAINING_DATA.name, ""))

    @property
    def training_annotation(self) -> TrainingAnnotation | None:
        """Which annotation the method was trained with; None if that is not declared."""
        value = self.declared.value(TRAINING_ANNOTATION)
        return None if value is None else TrainingAnnotation(str(value))

    @property
    def flickr_images(self) -> FlickrImages | None:
        """Whether the method was trained on images from flickr; None if that is not declared."""
        value = self.declared.value(FLICKR_IMAGES)
        return None if value is None else FlickrImages(str(value))


class SubmissionPerson(Base):
    """A person whom a submission counts for: everybody who was in the team when it was made.

    So nobody gets further submissions, or another answer of the Ladder mechanism, by joining or leaving a team.
    """

    __tablename__ = "submission_people"

    submission_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)


class SubmissionEntry(Base):
    """An entry of a submission in a competition; a quota counts submissions with an entry in its competition."""

    __tablename__ = "submission_entries"

    submission_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    competition: Mapped[str] = mapped_column(String(30), primary_key=True)
    position: Mapped[int]
    classes: Mapped[list[str]] = mapped_column(JSON)
    is_private: Mapped[bool] = mapped_column(default=False)  # left out when its submission was published
    published_at: Mapped[datetime | None]  # if later than that of its submission


class IdempotencyKey(Base):
    """The key that a person's upload was accepted with, so that repeating the request returns the same submission."""

    __tablename__ = "idempotency_keys"

    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    key: Mapped[str] = mapped_column(String(255), primary_key=True)
    created_at: Mapped[CreatedAt] = mapped_column(index=True)
    request_sha256: Mapped[str] = mapped_column(String(64))  # of what was submitted
    submission_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), index=True)


# For queries of many submissions that only need `Submission.uploaded`; here, because it needs all classes above.
FILES_ONLY = load_only(
    Submission.archive_sha256,
    Submission.columns_sha256,
    Submission.columns_reader,
    Submission.segmentation_classes,
    Submission.has_archive,
)
