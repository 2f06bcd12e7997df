"""Answers to requests with an idempotency key.

Revision: 2026_11_28_1720_kept_answers
Follows: 2026_11_28_1410_extensions
"""

import sqlalchemy as sa
from alembic import op

from vocboard.app.database import UTCDateTime

revision = "2026_11_28_1720_kept_answers"
down_revision = "2026_11_28_1410_extensions"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "kept_answers",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("key_sha256", sa.LargeBinary(32), nullable=False),
        sa.Column("created_at", UTCDateTime(timezone=True), nullable=False),
        sa.Column("answer", sa.LargeBinary()),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_kept_answers_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "key_sha256", name=op.f("pk_kept_answers")),
    )
    op.create_index(op.f("ix_kept_answers_created_at"), "kept_answers", ["created_at"])
    op.create_index("ix_kept_answers_user_id", "kept_answers", ["user_id", "created_at"])
