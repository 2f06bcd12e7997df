"""Let archives arrive in several requests.

Revision: 2026_11_21_2330_resumable
Follows: 2026_11_21_2300_idempotency
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_21_2330_resumable"
down_revision = "2026_11_21_2300_idempotency"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "resumable_uploads",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("phase_key", sa.String(length=30), nullable=False),
        sa.Column("is_rehearsal", sa.Boolean(), nullable=False),
        sa.Column("client_metadata", sa.String(length=2000), nullable=False),
        sa.Column("byte_count", sa.BigInteger(), nullable=False),
        sa.Column("received_bytes", sa.BigInteger(), nullable=False),
        sa.Column("part_count", sa.Integer(), nullable=False),
        _key("id", "uploads"),
        _key("user_id", "users"),
        _key("challenge_id", "challenges"),
        sa.PrimaryKeyConstraint("id", name="pk_resumable_uploads"),
    )
    for column in ("expires_at", "user_id", "challenge_id"):
        op.create_index(f"ix_resumable_uploads_{column}", "resumable_uploads", [column])


def _key(column: str, table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_resumable_uploads_{column}_{table}"
    return sa.ForeignKeyConstraint([column], [f"{table}.id"], name=name, ondelete="CASCADE")
