"""Email is sent by jobs; the outbox has only the text.

Revision: 2026_11_24_0630_mail_jobs
Follows: 2026_11_24_0620_yandex
"""

from alembic import op

revision = "2026_11_24_0630_mail_jobs"
down_revision = "2026_11_24_0620_yandex"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Messages that wait are sent when they were due; of others, the jobs keep what became of them.

    The priorities are those of `vocboard.app.jobs.service` when this migration was written: email and its sweep come
    after freezing.
    """
    op.execute("UPDATE jobs SET priority = priority + 20 WHERE priority >= 30")
    op.execute(
        "INSERT INTO jobs (id, created_at, kind, key, priority, not_before, attempts, finished_at, failure, detail) "
        "SELECT id, created_at, 'mail', id, 30, due_at, attempts, COALESCE(sent_at, failed_at), "
        "CASE WHEN failed_at IS NOT NULL THEN 'rejected' END, NULLIF(last_error, '') FROM outbox"
    )
    with op.batch_alter_table("outbox") as outbox:
        outbox.drop_index("ix_outbox_due_at")
        for column in ("due_at", "attempts", "sent_at", "failed_at", "last_error"):
            outbox.drop_column(column)
