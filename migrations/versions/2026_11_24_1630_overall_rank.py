"""Challenges can rank methods over all leaderboards of a phase.

Revision: 2026_11_24_1630_overall_rank
Follows: 2026_11_24_1230_challenge_files
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_1630_overall_rank"
down_revision = "2026_11_24_1230_challenge_files"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; challenges rank nothing over leaderboards until their organisers say so."""
    column = sa.Column("overall_rank", sa.String(length=20), nullable=False, server_default="none")
    with op.batch_alter_table("challenges") as batch:
        batch.add_column(column)
    with op.batch_alter_table("challenges") as batch:
        batch.alter_column("overall_rank", existing_type=sa.String(length=20), server_default=None)
