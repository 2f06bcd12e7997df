"""Note when each worker last looked for work.

Revision: 2026_11_21_worker_heartbeats
Follows: 2026_11_21_uploads
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_21_worker_heartbeats"
down_revision = "2026_11_21_uploads"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "worker_heartbeats",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("looked_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_worker_heartbeats")),
    )
