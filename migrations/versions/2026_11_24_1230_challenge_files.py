"""Challenges have files that organisers upload.

Revision: 2026_11_24_1230_challenge_files
Follows: 2026_11_24_0910_challenge_pages
"""

import sqlalchemy as sa
from alembic import op

from vocboard.app.database import UTCDateTime

revision = "2026_11_24_1230_challenge_files"
down_revision = "2026_11_24_0910_challenge_pages"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "challenge_files",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UTCDateTime(timezone=True), nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("audience", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("byte_count", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("media_type", sa.String(length=100), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"],
            ["challenges.id"],
            name=op.f("fk_challenge_files_challenge_id_challenges"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_challenge_files")),
    )
    op.create_index(op.f("ix_challenge_files_challenge_id"), "challenge_files", ["challenge_id"])
    op.create_index(op.f("ix_challenge_files_sha256"), "challenge_files", ["sha256"])
