"""Licence of a challenge's data.

Revision: 2026_11_28_0435_licence
Follows: 2026_11_28_0420_undelivered_mail
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_0435_licence"
down_revision = "2026_11_28_0420_undelivered_mail"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, empty for challenges that there are."""
    with op.batch_alter_table("challenges") as batch:
        batch.add_column(sa.Column("licence", sa.String(500), nullable=False, server_default=""))
    with op.batch_alter_table("challenges") as batch:
        batch.alter_column("licence", existing_type=sa.String(500), server_default=None)
