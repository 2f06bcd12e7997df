"""Add a revision number to the leaderboards of each challenge.

Revision: 2026_11_21_leaderboard_revisions
Follows: 2026_11_21_detail_levels

The triggers that increment it are in `migrations.leaderboard_revisions`.
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_21_leaderboard_revisions"
down_revision = "2026_11_21_detail_levels"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Challenges so far begin with revision 1."""
    op.create_table(
        "leaderboard_revisions",
        sa.Column("challenge_id", sa.Uuid(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["challenge_id"],
            ["challenges.id"],
            name=op.f("fk_leaderboard_revisions_challenge_id_challenges"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("challenge_id", name=op.f("pk_leaderboard_revisions")),
    )
    op.execute("INSERT INTO leaderboard_revisions (challenge_id, revision) SELECT id, 1 FROM challenges")
