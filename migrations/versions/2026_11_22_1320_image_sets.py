"""Keep for organisers how the scores of methods change from one image set to another.

Revision: 2026_11_22_1320_image_sets
Follows: 2026_11_22_1030_across
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_1320_image_sets"
down_revision = "2026_11_22_1030_across"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table. Workers fill it, as they compute the statistics of all leaderboards again."""
    op.create_table(
        "image_set_comparisons",
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("phase_key", sa.String(length=30), nullable=False),
        sa.Column("competition", sa.String(length=30), nullable=False),
        sa.Column("other", sa.String(length=30), nullable=False),
        sa.Column("methods_sha256", sa.String(length=64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"],
            ["challenges.id"],
            name="fk_image_set_comparisons_challenge_id_challenges",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("challenge_id", "phase_key", "competition", "other", name="pk_image_set_comparisons"),
    )
