"""Let some competitions of a submission be published, and others not.

Revision: 2026_11_22_0345_competitions
Follows: 2026_11_22_0405_imported_bans
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_0345_competitions"
down_revision = "2026_11_22_0405_imported_bans"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; what is published is published in all of its competitions."""
    with op.batch_alter_table("submission_entries") as entries:
        entries.add_column(sa.Column("is_private", sa.Boolean(), nullable=False, server_default=sa.false()))
        entries.add_column(sa.Column("published_at", sa.DateTime(timezone=True), nullable=True))
    with op.batch_alter_table("submission_entries") as entries:
        entries.alter_column("is_private", server_default=None)
