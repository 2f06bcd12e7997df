"""Model of the jobs of workers."""

import uuid
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Index, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from vocboard.app.database import Base, CreatedAt, Identifier, now, text_enum


class Kind(StrEnum):
    """Kinds of jobs, the most urgent first; the comment says what `Job.key` is."""

    SWEEP = "sweep"  # `service.SWEEP_KEY`
    FREEZE = "freeze"  # a phase; `Job.not_before` is its freezing date, then when its copies may be completed
    MAIL = "mail"  # a message
    MAIL_SWEEP = "mail_sweep"  # `service.SWEEP_KEY`
    IMPORT = "import"  # a version of ground truth
    EVALUATION = "evaluation"  # a submission
    RESCORE = "rescore"  # a re-score: its next step
    BATCH = "batch"  # `RescoreItem.batch_id`
    SHOWCASE = "showcase"  # a submission
    STATISTICS = "statistics"  # a challenge, like the last one
    DIAGNOSIS = "diagnosis"  # an evaluation
    SEQUENCES = "sequences"
    WEBHOOK = "webhook"  # a webhook; `Job.not_before` is when its next attempt is due


# Where email has its own worker, of it alone: it can reach the internet.
MAIL_KINDS = frozenset({Kind.MAIL, Kind.MAIL_SWEEP, Kind.WEBHOOK})


class Job(Base):
    """Something that a worker has to do. It is added in the transaction that makes the work due.

    A job is pending while `finished_at` is None; then (kind, key) is unique. It is due from `not_before` on, and a
    claim sets `not_before` to the end of its lease. Jobs that are done are kept for a day, since the order of the queue
    depends on when an owner was last served; failed ones are kept.

    Attributes:
        key: id of what the job is about.
        priority: lower is sooner; jobs with a higher number wait.
        owner: the person that it is done for, for fairness; None if there is no such person.
        turn: where it stands among the waiting ones, see `app.jobs.service`; 0 without an owner.
        lease_id: the claim; a worker whose claim has been taken over cannot store anything.
        claimed_at: when it was last claimed.
        attempts: number of claims so far, without those that were given back.
        failure: short name of why it failed, or why the last attempt did if it is due again (`service.retry`).
        detail: the error, for the operator; the web process cannot read it.
    """

    __tablename__ = "jobs"
    _PENDING, _FAILED = text("finished_at IS NULL"), text("failure IS NOT NULL")
    _CLAIMED = text("finished_at IS NULL AND lease_id IS NOT NULL")
    __table_args__ = (
        Index("uq_jobs_pending", "kind", "key", unique=True, postgresql_where=_PENDING, sqlite_where=_PENDING),
        Index(
            "ix_jobs_turn", "priority", "kind", "turn", "created_at", postgresql_where=_PENDING, sqlite_where=_PENDING
        ),
        Index("ix_jobs_running", "kind", postgresql_where=_CLAIMED, sqlite_where=_CLAIMED),
        Index("ix_jobs_failed", "kind", "created_at", postgresql_where=_FAILED, sqlite_where=_FAILED),
        Index("ix_jobs_key", "key"),
        Index("ix_jobs_owner", "kind", "owner", "claimed_at"),
    )

    id: Mapped[Identifier]
    created_at: Mapped[CreatedAt]
    kind: Mapped[Kind] = mapped_column(text_enum(Kind))
    key: Mapped[uuid.UUID]
    priority: Mapped[int]
    owner: Mapped[uuid.UUID | None]
    turn: Mapped[int] = mapped_column(default=0, server_default="0")  # the default is for processes of 1.0
    not_before: Mapped[datetime] = mapped_column(default=now)
    lease_id: Mapped[uuid.UUID | None]
    claimed_at: Mapped[datetime | None]
    attempts: Mapped[int] = mapped_column(default=0)
    finished_at: Mapped[datetime | None] = mapped_column(index=True)
    failure: Mapped[str | None] = mapped_column(String(20))
    detail: Mapped[str | None] = mapped_column(Text)


class WorkerHeartbeat(Base):
    """The heartbeat of a worker. The row is deleted when the worker stops normally.

    Attributes:
        host: name of the machine or container.
        kind: kind of worker, for example `scoring`.
        looked_at: when it last looked for work, with its processes having taken all earlier work.
    """

    __tablename__ = "worker_heartbeats"

    id: Mapped[Identifier]
    host: Mapped[str] = mapped_column(String(255))
    kind: Mapped[str] = mapped_column(String(20))
    started_at: Mapped[datetime]
    looked_at: Mapped[datetime]
