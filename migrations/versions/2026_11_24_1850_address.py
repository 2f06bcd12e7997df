"""An account's email address can be changed, by a link that is sent to the new one.

Revision: 2026_11_24_1850_address
Follows: 2026_11_24_1640_showcase
"""

import sqlalchemy as sa
from alembic import op

revision = "2026_11_24_1850_address"
down_revision = "2026_11_24_1640_showcase"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("email_links", sa.Column("new_email", sa.String(length=254), nullable=True))
