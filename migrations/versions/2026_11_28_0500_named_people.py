"""Whom notifications name, so that they are deleted with that person's account.

Revision: 2026_11_28_0500_named_people
Follows: 2026_11_28_0458_licence
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_28_0500_named_people"
down_revision = "2026_11_28_0458_licence"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, empty for those that there are."""
    with op.batch_alter_table("notifications") as batch:
        batch.add_column(sa.Column("about_id", sa.Uuid(), nullable=True))
        batch.create_foreign_key("fk_notifications_about_id_users", "users", ["about_id"], ["id"], ondelete="CASCADE")
        batch.create_index("ix_notifications_about_id", ["about_id"])
