"""Let bans of imported challenges hold for an email address.

Revision: 2026_11_22_0405_imported_bans
Follows: 2026_11_22_0345_statistics
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_22_0405_imported_bans"
down_revision = "2026_11_22_0345_statistics"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bans so far are of accounts."""
    with op.batch_alter_table("bans") as bans:
        bans.add_column(sa.Column("email", sa.String(length=254), nullable=True))
