"""Challenges, their phases and the versions of their ground truth."""

import uuid
from datetime import datetime
from enum import StrEnum
from secrets import token_bytes
from typing import Annotated, Any

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, deferred, mapped_column, relationship

from vocboard.app.accounts.models import User
from vocboard.app.database import Base, CreatedAt, Identifier, text_enum

MAIN_PHASE = "main"  # key of the first phase


class Visibility(StrEnum):
    """Who can find a challenge."""

    DRAFT = "draft"  # its organisers
    PRIVATE = "private"  # and those whom its phases admit, see `app.challenges.queries.visible_to`
    UNLISTED = "unlisted"  # everyone who knows the URL
    PUBLIC = "public"

    @property
    def is_open(self) -> bool:
        """Whether everyone who knows the URL can see the challenge, without signing in."""
        return self in OPEN_VISIBILITIES


OPEN_VISIBILITIES = (Visibility.UNLISTED, Visibility.PUBLIC)


class Detail(StrEnum):
    """How much of a result participants and visitors see (docs/detail-levels.md). Each includes the previous ones."""

    MEAN = "mean"
    CLASSES = "classes"  # scores by class
    CURVES = "curves"  # eleven points and shares of the confusion matrix, with two decimals
    EVERYTHING = "everything"  # exact curves and counts, for ground truth that is public


class Admission(StrEnum):
    """Who may submit to a phase."""

    EVERYONE = "everyone"
    APPROVED = "approved"  # those whom organisers have admitted; they may submit whatever is chosen here
    REQUEST = "request"  # those who have asked, and whom organisers have admitted then
    DOMAIN = "domain"  # those with a confirmed address of certain domains
    EARLIER_PHASE = "earlier_phase"  # those who have a scored submission in an earlier phase


class QuestionKind(StrEnum):
    """How a question to people who ask to be admitted is answered."""

    LINE = "line"
    TEXT = "text"  # of several lines
    CHOICE = "choice"  # one of several
    BOX = "box"  # a box to tick


class RequestState(StrEnum):
    """What has become of a request to be admitted."""

    OPEN = "open"
    ADMITTED = "admitted"
    DECLINED = "declined"


class Freeze(StrEnum):
    """When the leaderboards of a phase stop changing."""

    CLOSING = "closing"  # when the phase closes
    DATE = "date"
    NEVER = "never"


class OverallRank(StrEnum):
    """How methods are ranked over all leaderboards of a phase that allow the same training data."""

    NONE = "none"
    MEAN_RANK = "mean_rank"
    MEAN_SCORE = "mean_score"  # of scores, each divided by the best of its leaderboard


class TruthState(StrEnum):
    """The states of a ground truth version."""

    UPLOADED = "uploaded"
    IMPORTING = "importing"
    READY = "ready"
    FAILED = "failed"
    ELSEWHERE = "elsewhere"  # on the server that the challenge was imported from


class FileKind(StrEnum):
    """What a file of a challenge is for."""

    DATA = "data"  # to download
    COVER = "cover"  # the picture at the top of its pages and on its card; at most one
    LOGO = "logo"  # of an organiser or a sponsor
    SHOWCASE = "showcase"  # a public test image that results are drawn on; see `app.evaluations.showcase`


class Audience(StrEnum):
    """Who may download a file of a challenge."""

    PUBLIC = "public"  # everyone who can see the challenge
    ADMITTED = "admitted"  # those who may submit to one of its phases, open or not; see `app.intake.challenge_files`


class Challenge(Base):
    """A challenge: an edition, and one or several phases with a hidden ground truth and rules.

    `app.challenges.rules` explains and checks the rules.
    """

    __tablename__ = "challenges"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    slug: Mapped[str] = mapped_column(String(60), unique=True)
    title: Mapped[str] = mapped_column(String(200))
    summary: Mapped[str] = mapped_column(String(200))  # one line
    description: Mapped[str] = mapped_column(Text)  # Markdown
    website: Mapped[str] = mapped_column(String(500))
    licence: Mapped[str] = mapped_column(String(500))  # of the data: an SPDX name or an address
    contact: Mapped[str] = mapped_column(String(500))  # email address or URL
    organised_by: Mapped[str] = mapped_column(Text)  # names to show, one a line; who may organise: `ChallengeOrganiser`
    citation: Mapped[str] = mapped_column(Text)  # BibTeX or text
    data_links: Mapped[list[dict[str, Any]]] = mapped_column(JSON)  # `app.challenges.rules.DataLink`
    edition: Mapped[str] = mapped_column(String(60))  # its name
    edition_file: Mapped[str | None] = mapped_column(Text)  # custom edition file; None for a built-in edition
    edition_version: Mapped[int] = mapped_column(default=1)  # that `edition_file` is; see `EditionVersion`
    visibility: Mapped[Visibility] = mapped_column(text_enum(Visibility))
    decimals: Mapped[int]  # scores are fractions, rounded to these decimals in every view
    anywhere_on_earth: Mapped[bool] = mapped_column(default=False)  # dates are typed and shown in UTC-12, too
    statistics: Mapped[bool] = mapped_column(default=False)  # whether leaderboards show intervals and rank ranges
    admission_questions: Mapped[list[dict[str, Any]]] = mapped_column(JSON, default=list)  # `rules.AdmissionQuestion`
    team_size: Mapped[int]  # largest number of members; 1 if everybody takes part alone
    teams_until: Mapped[datetime | None]  # when teams can change for the last time
    overall_rank: Mapped[OverallRank] = mapped_column(text_enum(OverallRank), default=OverallRank.NONE)
    statistics_requested_at: Mapped[datetime | None]  # when an organiser last asked for what had failed
    archived_at: Mapped[datetime | None]  # read-only from then on
    # Never shown: of the labels of methods on anonymous leaderboards, see `app.leaderboards.service.anonymous_label`.
    label_key: Mapped[bytes] = mapped_column(LargeBinary(32), default=lambda: token_bytes(32))
    imported_at: Mapped[datetime | None]  # from another server's export; its scores were computed there

    phases: Mapped[list["ChallengePhase"]] = relationship(
        lazy="raise", order_by="ChallengePhase.created_at", cascade="all, delete-orphan"
    )

    @property
    def main_phase(self) -> "ChallengePhase":
        """The first phase, which every challenge has."""
        return self.phase_row(MAIN_PHASE)

    def phase_row(self, key: str) -> "ChallengePhase":
        """Return the row of a phase; `app.challenges.phases.phase_named` is for keys that may not exist."""
        return next(row for row in self.phases if row.key == key)


class ChallengeFile(Base):
    """A file that organisers have uploaded for a challenge. It never changes; its content is in the archive store."""

    __tablename__ = "challenge_files"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), index=True)
    kind: Mapped[FileKind] = mapped_column(text_enum(FileKind))
    audience: Mapped[Audience] = mapped_column(text_enum(Audience))  # of pictures: public
    name: Mapped[str] = mapped_column(String(255))  # of the file
    title: Mapped[str] = mapped_column(String(200))  # may be empty
    byte_count: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(String(64), index=True)
    media_type: Mapped[str] = mapped_column(String(100))

    @property
    def label(self) -> str:
        """What people read: the title, or else the file's name."""
        return self.title or self.name


class EditionVersion(Base):
    """A version of a challenge's custom edition file: one that was uploaded to score by, or has been scored by.

    The file never changes. A challenge whose edition has not been changed since there is ground truth has none:
    its only version, 1, is `Challenge.edition_file`.
    """

    __tablename__ = "edition_versions"
    __table_args__ = (UniqueConstraint("challenge_id", "number"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"))
    number: Mapped[int]  # 1, 2, ... within the challenge
    file: Mapped[str] = mapped_column(Text)
    made_current_at: Mapped[datetime | None]  # None for one that has never been applied, and for the first


class ChallengePhase(Base):
    """A phase of a challenge, with its rules; `app.challenges.rules.PhaseRules` explains and checks them."""

    __tablename__ = "phases"
    __table_args__ = (
        UniqueConstraint("challenge_id", "key"),
        CheckConstraint("quota_count > 0", name="quota_count_positive"),
        CheckConstraint("quota_period_seconds > 0", name="quota_period_positive"),
    )

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"))
    key: Mapped[str] = mapped_column(String(30))  # in addresses; `MAIN_PHASE` of the first phase
    title: Mapped[str] = mapped_column(String(100))  # the first phase's may be empty
    competition_keys: Mapped[list[str]] = mapped_column(JSON)  # in the order of the edition
    image_set: Mapped[str | None] = mapped_column(String(60))  # None for those that the edition names
    # The phase whose ground truth its submissions are scored against: itself or the first one.
    truth_phase_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("phases.id"))
    # The same in all phases with the same ground truth; written by workers alone. See `Scoring`.
    current_scoring_id: Mapped[uuid.UUID | None] = mapped_column(
        ForeignKey("scorings.id", use_alter=True, name="fk_phases_current_scoring_id_scorings")
    )
    opens_at: Mapped[datetime | None]
    closes_at: Mapped[datetime | None]
    quota_count: Mapped[int]  # submissions a person and competition in a rolling period
    quota_period_seconds: Mapped[int]
    shared_quota: Mapped[bool] = mapped_column(default=False)  # by competitions with the same ground truth
    detail: Mapped[Detail] = mapped_column(text_enum(Detail))
    admission: Mapped[Admission] = mapped_column(text_enum(Admission), default=Admission.EVERYONE)
    admission_domains: Mapped[list[str]] = mapped_column(JSON, default=list)  # for `Admission.DOMAIN`
    min_account_days: Mapped[int] = mapped_column(default=0)  # since the address of an account was confirmed
    leaderboard_from: Mapped[datetime | None]
    freeze: Mapped[Freeze] = mapped_column(text_enum(Freeze), default=Freeze.CLOSING)
    freezes_at: Mapped[datetime | None]
    anonymous_until: Mapped[datetime | None]
    ladder_step: Mapped[float | None]  # a fraction


PhaseId = Annotated[uuid.UUID, mapped_column(ForeignKey("phases.id", ondelete="CASCADE"))]


class PhaseAdmission(Base):
    """That organisers have admitted a person to a phase that is not open to everyone."""

    __tablename__ = "phase_admissions"
    __table_args__ = (UniqueConstraint("phase_id", "email"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    phase_id: Mapped[PhaseId]
    email: Mapped[str] = mapped_column(String(254))  # normalised, as in `users`

    phase: Mapped[ChallengePhase] = relationship(lazy="raise_on_sql")


class AdmissionRequest(Base):
    """A person's request to be admitted to a phase; one for each person and phase.

    Attributes:
        answers: each with the question as it was asked.
        reason: why it was declined.
    """

    __tablename__ = "admission_requests"
    __table_args__ = (UniqueConstraint("phase_id", "user_id"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    phase_id: Mapped[PhaseId]
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    answers: Mapped[list[dict[str, Any]]] = mapped_column(JSON)
    state: Mapped[RequestState] = mapped_column(text_enum(RequestState), default=RequestState.OPEN)
    reason: Mapped[str] = mapped_column(Text, default="")
    decided_at: Mapped[datetime | None]

    phase: Mapped[ChallengePhase] = relationship(lazy="raise_on_sql")
    user: Mapped[User] = relationship(lazy="raise")


class ChallengeTerms(Base):
    """A version of the terms that people accept before they submit to a challenge. It never changes."""

    __tablename__ = "challenge_terms"
    __table_args__ = (UniqueConstraint("challenge_id", "number"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"))
    number: Mapped[int]  # 1, 2, ... within the challenge
    text: Mapped[str] = mapped_column(Text)  # Markdown; empty if there are no terms from then on


class TermsAcceptance(Base):
    """That a person has accepted a version of the terms of a challenge."""

    __tablename__ = "terms_acceptances"
    __table_args__ = (UniqueConstraint("terms_id", "user_id"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    terms_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenge_terms.id", ondelete="CASCADE"))
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)

    terms: Mapped[ChallengeTerms] = relationship(lazy="raise")
    user: Mapped[User] = relationship(lazy="raise")


class ExtraQuota(Base):
    """Submissions that a person may make beyond the quota of a phase, until a date."""

    __tablename__ = "extra_quotas"
    __table_args__ = (
        Index("ix_extra_quotas_person", "phase_id", "email"),
        CheckConstraint("count > 0", name="count_positive"),
    )

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    phase_id: Mapped[PhaseId]
    email: Mapped[str] = mapped_column(String(254))  # normalised, as in `users`
    count: Mapped[int]  # in each competition, on top of the quota's
    until: Mapped[datetime]
    reason: Mapped[str] = mapped_column(String(500))  # for organisers

    phase: Mapped[ChallengePhase] = relationship(lazy="raise_on_sql")


class ChallengeOrganiser(Base):
    """An organiser of a challenge. One of its organisers owns it."""

    __tablename__ = "challenge_organisers"
    __table_args__ = (
        Index(
            "ix_challenge_organisers_owner",
            "challenge_id",
            unique=True,
            postgresql_where=text("is_owner"),
            sqlite_where=text("is_owner"),
        ),
    )

    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    is_owner: Mapped[bool] = mapped_column(default=False)


class ChallengeInvitation(Base):
    """An invitation to organise a challenge, for an email address, whether or not the address has an account."""

    __tablename__ = "challenge_invitations"
    __table_args__ = (UniqueConstraint("challenge_id", "email"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"))
    email: Mapped[str] = mapped_column(String(254), index=True)  # normalised, as in `users`
    invited_by_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))

    challenge: Mapped[Challenge] = relationship(lazy="raise")
    invited_by: Mapped[User | None] = relationship(lazy="raise")


class Ban(Base):
    """A ban: the person may neither submit to the challenge nor publish in it; without one, not use the server."""

    __tablename__ = "bans"
    __table_args__ = (UniqueConstraint("user_id", "challenge_id"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    user_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    challenge_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), index=True)
    reason: Mapped[str] = mapped_column(Text)  # shown to the person
    email: Mapped[str | None] = mapped_column(String(254))  # of an imported ban: who has this address is banned, too

    user: Mapped[User] = relationship(lazy="raise")


class GroundTruthVersion(Base):
    """One uploaded ground truth, which a worker imports. The row holds what is public of it, never the truth."""

    __tablename__ = "ground_truth_versions"
    __table_args__ = (UniqueConstraint("challenge_id", "number"),)

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"))
    phase_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("phases.id"), index=True)
    number: Mapped[int]  # 1, 2, ... within the challenge
    uploaded_by_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    file_name: Mapped[str] = mapped_column(String(255))
    state: Mapped[TruthState] = mapped_column(text_enum(TruthState), default=TruthState.UPLOADED, index=True)
    sha256: Mapped[str | None] = mapped_column(String(64))  # of the canonical content
    summary: Mapped[dict[str, Any] | None] = mapped_column(JSON)  # counts, for organisers only
    competitions: Mapped[list[str] | None] = mapped_column(JSON)  # keys of the competitions that it can score
    problems: Mapped[list[dict[str, Any]] | None] = mapped_column(JSON)  # why the import failed
    warnings: Mapped[list[dict[str, Any]] | None] = mapped_column(JSON)  # to be confirmed before it becomes current
    confirmed_at: Mapped[datetime | None]
    confirmed_by_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    image_sets: Mapped[bytes | None] = deferred(mapped_column(LargeBinary), raiseload=False)  # gzip of ImageSets' JSON


class Scoring(Base):
    """One round of scoring of a challenge: evaluations against one ground truth version, by one edition version.

    `ChallengePhase.current_scoring_id` says which one submissions are scored in from now on. A re-score adds a scoring,
    and switches to it, together with `Submission.current_evaluation_id` of all submissions, in one transaction. A
    re-score by a changed edition adds one for each ground truth of the challenge's phases.
    """

    __tablename__ = "scorings"

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    challenge_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("challenges.id", ondelete="CASCADE"), index=True)
    ground_truth_version_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("ground_truth_versions.id"))
    edition_version: Mapped[int] = mapped_column(default=1)
    # The first scoring of the same re-score; None for the first one itself.
    begun_with_id: Mapped[uuid.UUID | None] = mapped_column(ForeignKey("scorings.id", ondelete="CASCADE"))

    ground_truth_version: Mapped[GroundTruthVersion] = relationship(lazy="raise")
