"""Keep for organisers how far methods agree, and which submissions of an entrant differ.

Revision: 2026_11_22_1030_across
Follows: 2026_11_22_1000_diagnoses
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_1030_across"
down_revision = "2026_11_22_1000_diagnoses"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables. The sweep fills the second one."""
    op.create_table(
        "board_agreements",
        sa.Column("statistics_id", sa.Uuid(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["statistics_id"],
            ["board_statistics.id"],
            name="fk_board_agreements_statistics_id_board_statistics",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("statistics_id", name="pk_board_agreements"),
    )
    op.create_table(
        "submission_sequences",
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("phase_key", sa.String(length=30), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("submissions", sa.Integer(), nullable=False),
        sa.Column("latest_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decimals", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("is_due", sa.Boolean(), nullable=False),
        sa.Column("computed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("content", sa.JSON(), nullable=True),
        sa.Column("lease_id", sa.Uuid(), nullable=True),
        sa.Column("lease_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"],
            ["challenges.id"],
            name="fk_submission_sequences_challenge_id_challenges",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_submission_sequences_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("challenge_id", "phase_key", "user_id", name="pk_submission_sequences"),
    )
    op.create_index("ix_submission_sequences_is_due", "submission_sequences", ["is_due"])
