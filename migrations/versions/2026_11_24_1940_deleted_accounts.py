"""Accounts can be deleted: their rows stay, with a keyed hash of the mailbox.

Revision: 2026_11_24_1940_deleted_accounts
Follows: 2026_11_24_1930_teams
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_1940_deleted_accounts"
down_revision = "2026_11_24_1930_teams"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("users", sa.Column("mailbox_hash", sa.LargeBinary(length=32), nullable=True))
    op.create_index(op.f("ix_users_mailbox_hash"), "users", ["mailbox_hash"])
