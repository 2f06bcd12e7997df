"""Leaderboards have results that were reported elsewhere.

Revision: 2026_11_24_1920_reported_results
Follows: 2026_11_24_1910_second_factor
"""

import sqlalchemy as sa
from alembic import op

from vocboard.app.database import UTCDateTime

revision = "2026_11_24_1920_reported_results"
down_revision = "2026_11_24_1910_second_factor"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "reported_results",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("created_at", UTCDateTime(timezone=True), nullable=False),
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("phase_id", sa.Uuid(), nullable=False),
        sa.Column("competition", sa.String(length=30), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("method", sa.String(length=100), nullable=False),
        sa.Column("reference", sa.String(length=500), nullable=False),
        sa.Column("note", sa.String(length=200), nullable=False),
        sa.Column("mean", sa.Double(), nullable=True),
        sa.Column("per_class", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"],
            ["challenges.id"],
            name=op.f("fk_reported_results_challenge_id_challenges"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["phase_id"], ["phases.id"], name=op.f("fk_reported_results_phase_id_phases"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reported_results")),
    )
    op.create_index("ix_reported_results_board", "reported_results", ["phase_id", "competition"])
