"""Record every attempt to upload, and find submissions by their archive.

Revision: 2026_11_21_uploads
Follows: 2026_11_21_confirmed_addresses
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_21_uploads"
down_revision = "2026_11_21_confirmed_addresses"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nobody has uploaded anything that counts; rejected uploads, which counted before, no longer do by themselves."""
    op.create_table(
        "uploads",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("address", sa.String(length=254), nullable=False),
        sa.Column("byte_count", sa.BigInteger(), nullable=False),
        sa.Column("lease_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_uploads_user_id_users"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_uploads")),
    )
    op.create_index(op.f("ix_uploads_created_at"), "uploads", ["created_at"])
    op.create_index("ix_uploads_lease_expires_at", "uploads", ["lease_expires_at"])
    op.create_index("ix_uploads_user_kind", "uploads", ["user_id", "kind", "created_at"])
    op.create_index(op.f("ix_submissions_archive_sha256"), "submissions", ["archive_sha256"])
    op.execute("DELETE FROM attempts WHERE action = 'rejected_upload'")
