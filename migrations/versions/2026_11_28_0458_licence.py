"""Licence of a challenge's data.

Revision: 2026_11_28_0458_licence
Follows: 2026_11_28_0450_identities
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_0458_licence"
down_revision = "2026_11_28_0450_identities"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, empty for challenges that there are."""
    with op.batch_alter_table("challenges") as batch:
        batch.add_column(sa.Column("licence", sa.String(500), nullable=False, server_default=""))
    with op.batch_alter_table("challenges") as batch:
        batch.alter_column("licence", existing_type=sa.String(500), server_default=None)
