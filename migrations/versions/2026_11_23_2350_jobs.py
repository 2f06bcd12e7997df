"""One table of jobs, in place of a lease in each table that workers claim rows of.

Revision: 2026_11_23_2350_jobs
Follows: 2026_11_23_2340_rejected_uploads
"""

import uuid
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

from vocboard.app.database import UTCDateTime

revision = "2026_11_23_2350_jobs"
down_revision = "2026_11_23_2340_rejected_uploads"
branch_labels = None
depends_on = None

PENDING = sa.text("finished_at IS NULL")
# As `vocboard.app.jobs.service.PRIORITY` when this migration was written.
IMPORT, EVALUATION, RESCORE, DIAGNOSIS = ("import", 20), ("evaluation", 30), ("rescore", 40), ("diagnosis", 70)
CLAIMED = ("submissions", "ground_truth_versions", "rescore_items", "statistics_updates", "submission_sequences")


def upgrade() -> None:
    """Work that waits becomes jobs; what workers were doing is done again. The sweep adds jobs for statistics."""
    jobs = op.create_table(
        "jobs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UTCDateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("key", sa.Uuid(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("owner", sa.Uuid(), nullable=True),
        sa.Column("not_before", UTCDateTime(timezone=True), nullable=False),
        sa.Column("lease_id", sa.Uuid(), nullable=True),
        sa.Column("claimed_at", UTCDateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("finished_at", UTCDateTime(timezone=True), nullable=True),
        sa.Column("failure", sa.String(length=20), nullable=True),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    partial: dict[str, Any] = {"postgresql_where": PENDING, "sqlite_where": PENDING}
    op.create_index("uq_jobs_pending", "jobs", ["kind", "key"], unique=True, **partial)
    op.create_index("ix_jobs_due", "jobs", ["priority", "not_before"], **partial)
    op.create_index("ix_jobs_key", "jobs", ["key"])
    op.create_index("ix_jobs_owner", "jobs", ["kind", "owner"])
    op.create_index(op.f("ix_jobs_finished_at"), "jobs", ["finished_at"])
    if rows := _waiting(op.get_bind()):
        op.get_bind().execute(sa.insert(jobs), rows)
    op.execute("UPDATE submissions SET state = 'queued' WHERE state = 'evaluating'")
    op.execute("UPDATE ground_truth_versions SET state = 'uploaded' WHERE state = 'importing'")
    op.drop_table("diagnosis_tasks")
    for table in CLAIMED:
        with op.batch_alter_table(table) as claimed:
            for column in ("lease_id", "lease_expires_at", "attempts"):
                claimed.drop_column(column)
    with op.batch_alter_table("ground_truth_versions") as versions:
        versions.drop_column("claimed_at")
    with op.batch_alter_table("rescore_items") as items:
        items.add_column(sa.Column("batch_id", sa.Uuid(), nullable=True))
        items.create_index(op.f("ix_rescore_items_batch_id"), ["batch_id"])


def _waiting(connection: sa.Connection) -> list[dict[str, Any]]:
    id_, at = sa.Uuid(), UTCDateTime(timezone=True)
    submissions = sa.table(
        "submissions",
        sa.column("id", id_),
        sa.column("user_id", id_),
        sa.column("queued_at", at),
        sa.column("attempts", sa.Integer()),
        sa.column("state", sa.String()),
        sa.column("current_evaluation_id", id_),
    )
    versions = sa.table(
        "ground_truth_versions",
        sa.column("id", id_),
        sa.column("uploaded_by_id", id_),
        sa.column("created_at", at),
        sa.column("attempts", sa.Integer()),
        sa.column("state", sa.String()),
    )
    rescores = sa.table("rescores", sa.column("id", id_), sa.column("created_at", at), sa.column("state", sa.String()))
    tasks = sa.table(
        "diagnosis_tasks",
        sa.column("evaluation_id", id_),
        sa.column("attempts", sa.Integer()),
        sa.column("failure", sa.String()),
        sa.column("failure_detail", sa.Text()),
        sa.column("failed_at", at),
    )
    none = sa.null()
    found = [
        (
            EVALUATION,
            sa.select(
                submissions.c.id,
                submissions.c.user_id,
                submissions.c.queued_at,
                submissions.c.attempts,
                none,
                none,
                none,
            ).where(submissions.c.state.in_(("queued", "evaluating"))),
        ),
        (
            IMPORT,
            sa.select(
                versions.c.id, versions.c.uploaded_by_id, versions.c.created_at, versions.c.attempts, none, none, none
            ).where(versions.c.state.in_(("uploaded", "importing"))),
        ),
        (
            RESCORE,
            sa.select(rescores.c.id, none, rescores.c.created_at, sa.literal(0), none, none, none).where(
                rescores.c.state.in_(("running", "ready"))
            ),
        ),
        (
            DIAGNOSIS,
            sa.select(
                tasks.c.evaluation_id,
                submissions.c.user_id,
                none,
                tasks.c.attempts,
                tasks.c.failed_at,
                tasks.c.failure,
                tasks.c.failure_detail,
            ).join(submissions, submissions.c.current_evaluation_id == tasks.c.evaluation_id),
        ),
    ]
    now = datetime.now(UTC)
    return [
        {
            "id": uuid.uuid4(),
            "kind": kind,
            "priority": priority,
            "key": key,
            "owner": owner,
            "created_at": since or now,
            "not_before": now,
            "attempts": attempts,
            "finished_at": failed_at,
            "failure": failure,
            "detail": detail,
        }
        for (kind, priority), query in found
        for key, owner, since, attempts, failed_at, failure, detail in connection.execute(query)
    ]
