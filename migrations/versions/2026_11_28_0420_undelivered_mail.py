"""Why email could not be sent, where administrators can read it; and email of deleted accounts, which leaves nothing.

Revision: 2026_11_28_0420_undelivered_mail
Follows: 2026_11_28_0410_admitted_domains
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_0420_undelivered_mail"
down_revision = "2026_11_28_0410_admitted_domains"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns and indexes, and move the mail servers' answers from the jobs to the messages."""
    op.add_column("outbox", sa.Column("error", sa.String(length=500), nullable=True))
    op.add_column("outbox", sa.Column("is_forgotten", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.create_index("ix_outbox_recipient", "outbox", ["recipient"])
    failed = sa.text("failure IS NOT NULL")
    op.create_index("ix_jobs_failed", "jobs", ["kind", "created_at"], postgresql_where=failed, sqlite_where=failed)
    op.execute("UPDATE outbox SET error = (SELECT detail FROM jobs WHERE kind = 'mail' AND key = outbox.id)")
    op.execute("UPDATE jobs SET detail = NULL WHERE kind = 'mail'")
