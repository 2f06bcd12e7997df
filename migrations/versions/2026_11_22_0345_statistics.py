"""Keep what statistics of leaderboards need, and their results.

Existing challenges show none until their organisers decide otherwise, because every number reveals something of
the ground truth.

Revision: 2026_11_22_0345_statistics
Follows: 2026_11_22_0330_resumable_limits
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_0345_statistics"
down_revision = "2026_11_22_0330_resumable_limits"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)


def upgrade() -> None:
    """Add the column and the tables."""
    with op.batch_alter_table("challenges") as batch:
        batch.add_column(sa.Column("statistics", sa.Boolean(), nullable=True))
    op.execute("UPDATE challenges SET statistics = false")
    with op.batch_alter_table("challenges") as batch:
        batch.alter_column("statistics", existing_type=sa.Boolean(), nullable=False)
    op.create_table(
        "secret_evidence",
        sa.Column("result_id", sa.Uuid(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        _key("secret_evidence", "result_id", "competition_results"),
        sa.PrimaryKeyConstraint("result_id", name="pk_secret_evidence"),
    )
    op.create_table(
        "secret_replicates",
        sa.Column("result_id", sa.Uuid(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        _key("secret_replicates", "result_id", "competition_results"),
        sa.PrimaryKeyConstraint("result_id", name="pk_secret_replicates"),
    )
    op.create_table(
        "statistics_updates",
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("updated_at", INSTANT, nullable=True),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("lease_id", sa.Uuid(), nullable=True),
        sa.Column("lease_expires_at", INSTANT, nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        _key("statistics_updates", "challenge_id", "challenges"),
        sa.PrimaryKeyConstraint("challenge_id", name="pk_statistics_updates"),
    )
    op.create_table(
        "board_statistics",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("phase_key", sa.String(length=30), nullable=False),
        sa.Column("competition", sa.String(length=30), nullable=False),
        sa.Column("frozen_at", INSTANT, nullable=True),
        sa.Column("methods_sha256", sa.String(length=64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        _key("board_statistics", "challenge_id", "challenges"),
        sa.PrimaryKeyConstraint("id", name="pk_board_statistics"),
    )
    op.create_index("ix_board_statistics_board", "board_statistics", ["challenge_id", "phase_key", "competition"])
    op.create_table(
        "board_differences",
        sa.Column("statistics_id", sa.Uuid(), nullable=False),
        sa.Column("class_name", sa.String(length=60), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        _key("board_differences", "statistics_id", "board_statistics"),
        sa.PrimaryKeyConstraint("statistics_id", "class_name", name="pk_board_differences"),
    )


def _key(table: str, column: str, referred: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{referred}.id"], name=f"fk_{table}_{column}_{referred}", ondelete="CASCADE"
    )
